"""How a command answers: with a value, which is printed here, for people or as one JSON document.

Messages go to standard error, so that what a program reads on standard output is the answer and nothing else. Whatever
is printed, the passwords of URLs are taken out of it first.
"""

from __future__ import annotations

import functools
import io
import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import click

from semel.cli.tables import Table, draw_table
from semel.errors import SemelError

Command: TypeAlias = Callable[..., "Answer"]

FINE, FOUND, MISUSED = 0, 1, 2
"""The exit statuses: all is well; a problem was found; the command or the configuration is wrong."""

TOLD_BY_THE_DATABASE = re.compile(r"SEMEL-(SCHEMA-\d+|STORE-\d+|DB-[345])\Z")
"""The errors that were found by looking; every other one is about how the command was called."""

PASSWORD = re.compile(r"""(?P<before>://[^\s:/?#]*:)\S*(?P<after>@)|(?P<key>\b\w*pass\w*\s*=\s*['"]?)[^\s&'"]+""")


@dataclass(frozen=True)
class Answer:
    """What a command found or did: a JSON document, the same for people, and the exit status."""

    document: Mapping[str, Any]
    text: str | Table
    status: int = FINE


def answering(function: Command) -> Callable[..., None]:
    """Give a command `--json`, print what it answers or the error of Semel that it met, and end with its status."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
    @functools.wraps(function)
    def answer(*arguments: Any, as_json: bool, **named: Any) -> None:
        try:
            found = function(*arguments, **named)
        except SemelError as problem:
            found = tell_problem(problem)
            if not as_json:
                raise click.exceptions.Exit(found.status) from None
        print_answer(found, as_json=as_json)
        raise click.exceptions.Exit(found.status)

    return answer


def tell_problem(problem: SemelError) -> Answer:
    """Print an error of Semel for people, and answer it for programs."""
    click.echo(hide_passwords(str(problem)), err=True)
    parts = {"code": problem.code, "happened": problem.happened, "remedy": problem.remedy}
    return Answer({"error": parts}, "", exit_status(problem))


def exit_status(problem: SemelError) -> int:
    """Answer 1 for what a database told, 2 for what is wrong with the command."""
    return FOUND if TOLD_BY_THE_DATABASE.match(problem.code) else MISUSED


def print_answer(answer: Answer, *, as_json: bool) -> None:
    """Print an answer in the form that was asked for, also where standard output cannot carry every letter."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if as_json:
        click.echo(json.dumps(hide_inside(answer.document), indent=2))
    elif isinstance(answer.text, str):
        click.echo(hide_passwords(answer.text))
    else:
        draw_table(answer.text.map(hide_passwords), sys.stdout)


def hide_passwords(text: str) -> str:
    """Answer the text without the passwords of the URLs and connection strings in it."""
    return PASSWORD.sub(lambda found: f"{found['before'] or ''}{found['key'] or ''}***{found['after'] or ''}", text)


def hide_inside(value: Any) -> Any:
    """Answer a JSON document without the passwords in its texts."""
    match value:
        case str():
            return hide_passwords(value)
        case Mapping():
            return {name: hide_inside(each) for name, each in value.items()}
        case list() | tuple():
            return [hide_inside(each) for each in value]
        case _:
            return value
