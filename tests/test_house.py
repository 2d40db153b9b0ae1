from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from functools import cache

import click
import pytest

from tools.house import RULES, Rule
from tools.project import Project


@cache
def read_project() -> Project:
    """The project as it is now, read once for all rules."""
    return Project.at()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_house_keeps_its_rule(rule: Rule) -> None:
    """No file of the project breaks this rule; the message lists every offence and why the rule is there."""
    problems = "\n".join(map(str, rule.check(read_project())))
    assert not problems, f"{rule.why}\n{problems}"


def test_every_command_is_documented() -> None:
    """Each command of the CLI stands in docs/ as a user types it."""
    docs = "\n".join(text for path, text in read_project().texts.items() if path.startswith("docs/"))
    words = " ".join(docs.split())
    missing = [command for command in list_all_commands() if command not in words]
    assert not missing, f"not in docs/: {', '.join(missing)}"


def list_all_commands() -> list[str]:
    """List every command as a user types it. An empty list: there is no CLI yet."""
    if importlib.util.find_spec("semel.cli") is None:
        return []
    root = find_root(vars(importlib.import_module("semel.cli")))
    return sorted(walk_commands(root, click.Context(root, info_name="semel")))


def find_root(names: dict[str, object]) -> click.Group:
    """Find the group that all commands hang from: `main`, or the one that `main` calls."""
    groups = [group for group in (names.get("main"), *names.values()) if isinstance(group, click.Group)]
    assert groups, "semel.cli names no click group, so its commands cannot be listed"
    return groups[0]


def walk_commands(group: click.Group, context: click.Context) -> Iterator[str]:
    """Walk down to the commands that do something, past those that are hidden."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from walk_commands(command, click.Context(command, info_name=name, parent=context))
        elif command is not None and not command.hidden:
            yield f"{context.command_path} {name}"
