"""The command line: `semel`. Each group of commands is one file, imported when a command of it is called."""

from __future__ import annotations

import click

from semel.cli.lazy import Entry, LazyGroup

COMMANDS = {
    "doctor": Entry("semel.cli.doctor:doctor", "Look at drivers, server, tables and settings, and say what to do."),
    "schema": Entry("semel.cli.schema:schema", "Semel's own tables: print, apply, check."),
}
"""Every command by name, with what `semel --help` says about it: reading it there costs no import."""


@click.group(cls=LazyGroup, entries=COMMANDS, name="semel")
@click.version_option(package_name="semel", prog_name="semel", message="%(prog)s %(version)s")
def main() -> None:
    """State machines that move money over your own SQL tables: once, whatever dies.

    Exit status: 0 all is well; 1 a problem was found, or the database could not do it; 2 the command or the configuration
    is wrong. With --json there is one JSON document on standard output; messages for people go to standard error.
    """
