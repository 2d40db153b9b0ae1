"""Calls and comments that quietly give something up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tools.project import Problem, Project, Source

SLEEPS = {"time.sleep", "asyncio.sleep", "anyio.sleep", "trio.sleep", "gevent.sleep"}
# Where a wait may be a real one, and why. Elsewhere it is an ask, so that tests and `prove` move time instead.
MAY_SLEEP = {
    "src/semel/clock.py": "the performers' own clock, which everything else is handed",
    "src/semel/testing/clock.py": "a wait of a virtual clock lets the other tasks run, and takes no time",
}
SKIPS = {
    "pytest.skip",
    "pytest.importorskip",
    "pytest.mark.skip",
    "pytest.mark.skipif",
    "unittest.skip",
    "unittest.SkipTest",
}
MAY_SKIP = "tests/databases.py"
# Writing with marshal is a fast way to bytes that are hashed; reading them back is what is dangerous.
UNSAFE_CALLS = {"eval", "exec", "builtins.eval", "builtins.exec", "marshal.load", "marshal.loads"}
UNSAFE_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve"}
UNSAFE_TYPES = {"PickleType", "MutablePickleType"}
BROAD = {"Exception", "BaseException"}

# A type checker wants the code in brackets; ruff wants codes, then a dash and the reason.
NAMED_IGNORE = re.compile(r"#\s*(type|pyright):\s*ignore\[[\w\-, ]+\]")
ANY_IGNORE = re.compile(r"#\s*(type|pyright):\s*ignore\b")
REASONED_NOQA = re.compile(r"#\s*noqa:\s*[A-Z]+\d+(,\s*[A-Z]+\d+)*\s+- \S")
ANY_NOQA = re.compile(r"#\s*noqa\b", re.IGNORECASE)
WHOLE_FILE = re.compile(r"#\s*(ruff:\s*noqa\s*$|flake8:\s*noqa|mypy:\s*ignore-errors|pyright:\s*basic)")


def find_sleeps(project: Project) -> Iterator[Problem]:
    """Find real waits outside the places that may wait."""
    for source in project.sources_in("src", "tools", "examples", "bench"):
        if source.path not in MAY_SLEEP:
            for name, node in source.mentions:
                if name in SLEEPS:
                    yield source.at(
                        node, f"`{name}` waits for real; ask for a Wait, or declare the place in tools/rules/calls.py."
                    )


def find_skips(project: Project) -> Iterator[Problem]:
    """Find tests that excuse themselves."""
    for source in project.sources_in("tests"):
        if source.path != MAY_SKIP:
            for name, node in source.mentions:
                if name in SKIPS:
                    yield source.at(node, f"`{name}`; a missing service goes through refuse_or_skip of {MAY_SKIP}.")


def find_hollow_asserts(project: Project) -> Iterator[Problem]:
    """Find assertions that hold whatever happens."""
    for source in project.sources:
        for node in source.nodes:
            match node:
                case ast.Assert(test=ast.Constant(value=value)) if value:
                    yield source.at(node, "this assertion always holds; assert what must be true, or take it out.")
                case ast.Assert(test=ast.Tuple(elts=[_, *_])):
                    yield source.at(node, "a tuple is always true; assert its parts one by one.")


def find_swallowed(project: Project) -> Iterator[Problem]:
    """Find places where any exception disappears. Tests and examples show what user code does that should not."""
    for source in project.sources_in("src", "tools", "bench"):
        for node in source.nodes:
            if isinstance(node, ast.ExceptHandler) and is_broad(node.type) and is_empty(node.body):
                yield source.at(node, "any exception disappears here; name the one you expect, and say why it may go.")
        for name, node in source.mentions:
            if name == "contextlib.suppress":
                yield from find_broad_suppress(source, node)


def find_broad_suppress(source: Source, suppress: ast.expr) -> Iterator[Problem]:
    """Find `suppress(Exception)`."""
    for node in source.nodes:
        if isinstance(node, ast.Call) and node.func is suppress and any(is_broad(argument) for argument in node.args):
            yield source.at(node, "any exception disappears here; name the one you expect.")


def is_broad(kind: ast.expr | None) -> bool:
    """Answer whether an except clause catches everything."""
    if isinstance(kind, ast.Tuple):
        return any(is_broad(each) for each in kind.elts)
    return kind is None or (isinstance(kind, ast.Name) and kind.id in BROAD)


def is_empty(body: list[ast.stmt]) -> bool:
    """Answer whether a block does nothing at all."""
    return all(
        isinstance(step, ast.Pass | ast.Continue)
        or (isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant))
        for step in body
    )


def find_bare_ignores(project: Project) -> Iterator[Problem]:
    """Find checks that are switched off without saying which, or why."""
    for source in project.sources:
        for line, comment in source.comments:
            if WHOLE_FILE.search(comment):
                yield source.at(line, "a whole file is excused; excuse one line, with its code and the reason.")
            elif ANY_IGNORE.search(comment) and not NAMED_IGNORE.search(comment):
                yield source.at(line, "an ignore without its code; write `[code]` behind it.")
            elif ANY_NOQA.search(comment) and not REASONED_NOQA.search(comment):
                yield source.at(line, "a noqa without code or reason; write `CODE - reason` behind it.")


def find_unsafe(project: Project) -> Iterator[Problem]:
    """Find what runs code that came as data."""
    for source in project.sources:
        for _, full, line in source.imports:
            if full.partition(".")[0] in UNSAFE_MODULES:
                yield source.at(line, f"`{full}` runs code that came as data; store JSON.")
        for name, node in source.mentions:
            if name in UNSAFE_CALLS or name.rpartition(".")[2] in UNSAFE_TYPES:
                yield source.at(node, f"`{name}` runs code that came as data; name what may be asked for in a table.")
