"""The command line: `semel`. Each group of commands is one file, imported when a command of it is called."""

from __future__ import annotations

import click

from semel.cli.lazy import Entry, LazyGroup

COMMANDS = {
    "adopt": Entry("semel.cli.adopt:adopt", "Read a table of yours and print what Semel needs of it."),
    "check": Entry("semel.cli.check:check", "Check workflow files: every rule, all problems at once."),
    "diagram": Entry("semel.cli.diagram:diagram", "Draw a workflow file as text, SVG or mermaid."),
    "doctor": Entry("semel.cli.doctor:doctor", "Look at drivers, server, tables and settings, and say what to do."),
    "drain": Entry(
        "semel.cli.drain:drain",
        "Say what is left of a table's work before it can be taken out.",
    ),
    "effects": Entry("semel.cli.effects:effects", "After-effects: list, retry."),
    "guard": Entry("semel.cli.guard:guard", "Print triggers that refuse or note moves which go past Semel."),
    "prove": Entry(
        "semel.cli.prove:prove",
        "Kill every actor at every boundary, in every order, and see that everything converges.",
    ),
    "release": Entry("semel.cli.release:release", "Move a row out of its claim by hand, and write down why."),
    "schema": Entry("semel.cli.schema:schema", "Semel's own tables and files: print, apply, check, config."),
    "stuck": Entry(
        "semel.cli.stuck:stuck",
        "List what waits, since when, and what to do.",
    ),
    "why": Entry(
        "semel.cli.why:why",
        "Tell one row's story: what moved it, when, for whom.",
    ),
    "worker": Entry("semel.cli.worker:worker", "Run the keepers of an application until SIGTERM or SIGINT."),
}
"""Every command by name, with what `semel --help` says about it: reading it there costs no import."""


@click.group(cls=LazyGroup, entries=COMMANDS, name="semel")
@click.version_option(package_name="semel", prog_name="semel", message="%(prog)s %(version)s")
def main() -> None:
    """State machines that move money over your own SQL tables: once, whatever dies.

    Exit status: 0 all is well; 1 a problem was found, or the database could not do it; 2 the command or the configuration
    is wrong. With --json there is one JSON document on standard output; messages for people go to standard error.
    """
