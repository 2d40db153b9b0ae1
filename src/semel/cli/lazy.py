"""A group whose commands are imported by name when they are called, never to list them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command is, as `module:name`, and its one line of help."""

    place: str
    promise: str


class LazyGroup(click.Group):
    """Lists its entries without importing them."""

    def __init__(self, *arguments: Any, entries: Mapping[str, Entry], **settings: Any) -> None:
        """Keep where the commands are."""
        super().__init__(*arguments, **settings)
        self.entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Answer the names of all commands, sorted."""
        return sorted({*self.entries, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command. None: there is no such command."""
        if cmd_name not in self.entries:
            return super().get_command(ctx, cmd_name)
        module, _, name = self.entries[cmd_name].place.partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's own signature
        """Write the list of commands for `--help` from what the entries promise."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.entries[name].promise) for name in sorted(self.entries)])
