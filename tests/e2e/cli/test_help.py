from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable

import click
import pytest

from semel.cli import COMMANDS, main
from tests.e2e.cli.conftest import Shell

HEAVY = {"sqlalchemy", "rich", "pydantic", "semel.app", "semel.store", "asyncio"}
"""What a command may need, and a list of commands does not."""

MODULES = "import sys; from semel.cli import main; main({words}, standalone_mode=False); print('\\n'.join(sys.modules))"


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["schema", "--help"], ["doctor", "--help"]])
def test_asking_for_help_imports_nothing_heavy(shell: Shell, words: list[str]) -> None:
    """SQLAlchemy, rich and pydantic wait until a command really runs, so help comes at once."""
    run = shell.run_command([sys.executable, "-c", MODULES.format(words=words)])
    assert run.status == 0, run.err
    loaded = set(run.out.splitlines())
    assert "click" in loaded
    assert not HEAVY & loaded


def test_the_commands_are_not_imported_to_be_listed(shell: Shell) -> None:
    """A list of commands costs the same however many there are."""
    run = shell.run_command([sys.executable, "-c", MODULES.format(words=["--help"])])
    assert "semel.cli.schema" not in run.out
    assert all(promise in " ".join(run.out.split()) for promise in (entry.promise for entry in COMMANDS.values()))


def test_how_long_help_takes_is_reported(shell: Shell, record_property: Callable[[str, object], None]) -> None:
    """The report says how many times longer `semel --help` takes than Python's own start with click; twice is the goal."""
    bare = [sys.executable, "-c", "import click"]
    helping = [sys.executable, "-m", "semel.cli", "--help"]
    # The fastest of five: what else the machine does only ever makes it slower.
    fastest = [min(measure_seconds(shell, command) for _ in range(5)) for command in (bare, helping)]
    record_property("seconds_of_python_with_click", round(fastest[0], 4))
    record_property("seconds_of_help", round(fastest[1], 4))
    record_property("help_ratio", round(fastest[1] / fastest[0], 2))


def measure_seconds(shell: Shell, command: list[str]) -> float:
    """Measure how long a program takes from start to end."""
    before = time.perf_counter()
    assert shell.run_command(command).status == 0
    return time.perf_counter() - before


def test_the_version_is_that_of_the_package(shell: Shell) -> None:
    """`semel --version` says the name and the version."""
    run = shell.run("--version")
    assert run.status == 0
    assert run.out == f"semel {importlib.metadata.version('semel')}\n"


def test_python_m_is_the_same_command(shell: Shell) -> None:
    """`python -m semel.cli` helps in the same words, under the same name."""
    run = shell.run_command([sys.executable, "-m", "semel.cli", "--help"])
    assert run.status == 0
    assert run.out == shell.run("--help").out
    assert run.out.startswith("Usage: semel ")


def test_every_entry_promises_what_its_command_says() -> None:
    """The one line in the list is the first line of the command's own help."""
    for name, entry in COMMANDS.items():
        command = main.get_command(click.Context(main), name)
        assert command is not None
        assert command.help is not None
        assert command.help.splitlines()[0] == entry.promise


def test_every_command_speaks_json() -> None:
    """No command is without --json."""
    for path, command in walk(main, "semel"):
        names = {option for parameter in command.params for option in parameter.opts}
        assert "--json" in names, path


def walk(group: click.Group, path: str) -> list[tuple[str, click.Command]]:
    """List every command below a group, with its path."""
    context = click.Context(group)
    found = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        is_group = isinstance(command, click.Group)
        found += walk(command, f"{path} {name}") if is_group else [(f"{path} {name}", command)]
    return found


def test_a_command_that_does_not_exist_is_misuse(shell: Shell) -> None:
    """A slip of the hand ends with status 2 and one sentence."""
    run = shell.run("shema")
    assert run.status == 2
    assert run.out == ""
    assert "No such command 'shema'" in run.err
