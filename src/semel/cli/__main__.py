"""`python -m semel.cli`: the same as `semel`."""

from semel.cli import main

if __name__ == "__main__":
    main(prog_name="semel")
