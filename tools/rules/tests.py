"""Tests that say what they prove, and never wait for time to pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from tools.project import Problem, Project, Source


def find_silent_tests(project: Project) -> Iterator[Problem]:
    """Find tests that do not say what they prove."""
    for source in project.sources_in("tests"):
        for node in find_tests(source):
            if not ast.get_docstring(node):
                yield source.at(node, f"{node.name} has no docstring; say in one line what it proves.")


def find_waiting_tests(project: Project) -> Iterator[Problem]:
    """Find tests that sleep: too short on a slow machine, and too long on every other."""
    for source in project.sources_in("tests"):
        for node in source.nodes:
            if isinstance(node, ast.Call) and read_last_name(node.func) == "sleep" and not lets_others_run(node):
                yield source.at(node, "a test sleeps; wait for a signal, or move the clock it was given.")


def lets_others_run(call: ast.Call) -> bool:
    """Answer whether a sleep takes no time: `await asyncio.sleep(0)` is how a task lets the others run."""
    return any(isinstance(argument, ast.Constant) and argument.value == 0 for argument in call.args)


def find_tests(source: Source) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Find the functions that pytest would run."""
    name = PurePosixPath(source.path).name
    if name.startswith("test_") or name.endswith("_test.py"):
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                yield node


def read_last_name(node: ast.expr) -> str:
    """Read the last name of what is called: `sleep` of `asyncio.sleep`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
