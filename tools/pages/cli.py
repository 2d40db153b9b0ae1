"""The page of the command line, drawn from the commands themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from semel.cli import main
from semel.cli.judging import CHECKS
from tools.pages._markdown import quote, write_table

INTRODUCTION = """# Command line

`semel` finds your database by `--db URL`, or by `--app module:name` of the module that makes your `Semel` or `AsyncSemel`;
without either it looks at the variable `SEMEL_APP`, then at the nearest `pyproject.toml`:

```toml
[tool.semel]
app = "shop.app:once"
```

A URL that names an async driver (`postgresql+asyncpg://…`) is spoken to by that driver. Passwords are never printed; one
given with `--db` can be seen in the list of processes, so name the app where others can look.

With `--json` there is exactly one JSON document on standard output; an error is `{"error": {"code", "happened", "remedy"}}`
there too. Messages for people go to standard error. The exit status is

| status | meaning |
|---|---|
| 0 | all is well |
| 1 | a problem was found, or the database could not do it |
| 2 | the command or the configuration is wrong |
"""

DOCTOR = """## What the doctor looks at

Each line of `semel doctor` is **ok**, **warn** (safe, but not as good as it could be) or **problem** (not safe for money),
with the value that was seen and what to do. It asks over the same driver and with the same settings as the application's
own connections, and changes no row.
"""

FAMILIES = {None: "all", "postgresql": "PostgreSQL", "mariadb": "MariaDB", "sqlite": "SQLite"}


def render() -> str:
    """Draw the page: one chapter for each command, and the table of the doctor's checks."""
    chapters = (line for path, command in walk(main, "semel") for line in draw_command(path, command))
    return "\n".join([INTRODUCTION, *chapters, DOCTOR, *draw_checks()])


def walk(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    """Walk to every command that does something, past the hidden ones."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from walk(command, f"{path} {name}")
        elif command is not None and not command.hidden:
            yield f"{path} {name}", command


def draw_command(path: str, command: click.Command) -> Iterator[str]:
    """Draw the chapter of one command: its usage, its help, its options."""
    context = click.Context(command, info_name=path)
    yield f"## `{path}`"
    yield ""
    yield "```sh"
    yield " ".join([path, *command.collect_usage_pieces(context)])
    yield "```"
    yield ""
    yield quote(inspect.cleandoc(command.help or ""))
    yield ""
    records = [record for parameter in command.params if (record := parameter.get_help_record(context))]
    yield from write_table(("option", "what it does"), [(f"`{names}`", quote(words)) for names, words in records])
    yield ""


def draw_checks() -> Iterator[str]:
    """Draw the table of the doctor's checks."""
    rows = [(quote(check.subject), FAMILIES[check.family], quote(check.why)) for check in CHECKS]
    yield from write_table(("check", "database", "why"), rows)
