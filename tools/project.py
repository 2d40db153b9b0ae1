"""The project as the house tools see it: its files, read once, and what a Python file imports and mentions."""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CODE_FOLDERS = ("src", "tools", "tests", "examples", "bench")
# Where git cannot be asked (an unpacked archive), these are what .gitignore would have left out.
NEVER_OURS = re.compile(
    r"^(\..*_cache|\.git|\.venv.*|\.hypothesis|\.schemathesis|\.demo|__pycache__|build|dist|.*\.egg-info)$"
)
# Other people's files stay as they came, so no rule of ours applies to them.
VENDORED = "/vendored/"


@dataclass(frozen=True, slots=True)
class Problem:
    """One sentence about one place."""

    where: str
    text: str

    def __str__(self) -> str:
        """Write it so that an editor can jump to it."""
        return f"{self.where}: {self.text}"


@dataclass(frozen=True)
class Source:
    """One Python file that parses."""

    path: str
    text: str
    tree: ast.Module

    def at(self, node: ast.AST | int, text: str) -> Problem:
        """Make a problem of this file, at a node or a line."""
        line = node if isinstance(node, int) else getattr(node, "lineno", 1)
        return Problem(f"{self.path}:{line}", text)

    def is_in(self, *places: str) -> bool:
        """Answer whether this file is one of these files, or lies in one of these folders."""
        return any(self.path == place or self.path.startswith(place + "/") for place in places)

    @property
    def module(self) -> str:
        """The dotted name under which the file is imported."""
        name = self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return name.removeprefix("src.").removeprefix("examples.")

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the file."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def imports(self) -> tuple[tuple[str, str, int], ...]:
        """Every import, also those inside functions: the name it binds, what that is in full, and the line."""
        return tuple(found for node in self.nodes for found in self._read_import(node))

    @cached_property
    def comments(self) -> tuple[tuple[int, str], ...]:
        """Every comment with its line."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return tuple((token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT)

    @cached_property
    def mentions(self) -> tuple[tuple[str, ast.expr], ...]:
        """Every name and attribute in full: `sleep` after `from time import sleep` is `time.sleep`."""
        bound = {name: full for name, full, _ in self.imports}
        found = ((spell(node, bound), node) for node in self.nodes if isinstance(node, ast.Name | ast.Attribute))
        return tuple((name, node) for name, node in found if name)

    def _read_import(self, node: ast.AST) -> Iterator[tuple[str, str, int]]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                # `import a.b` binds a; `import a.b as c` binds a.b.
                bound = alias.asname or alias.name.partition(".")[0]
                yield bound, alias.name if alias.asname else bound, node.lineno
                if not alias.asname and "." in alias.name:
                    yield alias.name, alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            origin = self._find_origin(node)
            for alias in node.names:
                yield alias.asname or alias.name, f"{origin}.{alias.name}", node.lineno

    def _find_origin(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = self.module if self.path.endswith("__init__.py") else self.module.rpartition(".")[0]
        for _ in range(node.level - 1):
            package = package.rpartition(".")[0]
        return f"{package}.{node.module}" if node.module else package


@dataclass(frozen=True)
class Project:
    """A folder and the files in it that are ours."""

    root: Path
    files: tuple[str, ...]

    @classmethod
    def at(cls, root: Path = ROOT) -> Project:
        """Read the list of files: what git tracks or would track, or without git everything but known leftovers."""
        listed = ask_git(root) if (root / ".git").exists() else None
        return cls(root, tuple(sorted(listed if listed is not None else walk(root))))

    @cached_property
    def texts(self) -> dict[str, str]:
        """The content of every file that is text and ours to write."""
        return {
            path: text
            for path in self.files
            if VENDORED not in path and (text := read_text(self.root / path)) is not None
        }

    @cached_property
    def _parsed(self) -> tuple[tuple[Source, ...], tuple[Problem, ...]]:
        sources, broken = [], []
        for path, text in self.texts.items():
            if path.endswith(".py") and path.partition("/")[0] in CODE_FOLDERS:
                try:
                    sources.append(Source(path, text, ast.parse(text, path)))
                except SyntaxError as error:
                    broken.append(Problem(f"{path}:{error.lineno}", f"this is not Python: {error.msg}."))
        return tuple(sources), tuple(broken)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every Python file that parses."""
        return self._parsed[0]

    @property
    def broken(self) -> tuple[Problem, ...]:
        """What to say about the Python files that do not parse."""
        return self._parsed[1]

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What pyproject.toml says; empty without one."""
        return tomllib.loads(self.texts.get("pyproject.toml", ""))

    def sources_in(self, *places: str) -> Iterator[Source]:
        """Answer the Python files in these folders."""
        return (source for source in self.sources if source.is_in(*places))

    def find_source(self, module: str) -> Source | None:
        """Find the file of a module of ours. None: there is no such module."""
        return next((source for source in self.sources if source.module == module), None)


def ask_git(root: Path) -> list[str] | None:
    """Answer the files that git tracks, and the new ones that it would. None: git cannot be asked here."""
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    # A hook of git names its own repository there, and git would believe it more than the folder it is asked in.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        listed = subprocess.run(command, cwd=root, env=env, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return [path for path in listed.split("\0") if path and (root / path).is_file()]


def walk(root: Path) -> Iterator[str]:
    """Answer every file below a folder, except in folders that are never ours."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not NEVER_OURS.match(name)]
        yield from ((Path(folder) / name).relative_to(root).as_posix() for name in names)


def read_text(path: Path) -> str | None:
    """Read a file. None: it is not text, or went away in the meantime."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def spell(node: ast.expr, bound: dict[str, str]) -> str:
    """Spell a name or a chain of attributes in full. An empty text: it begins with something else."""
    if isinstance(node, ast.Name):
        return bound.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        start = spell(node.value, bound)
        return f"{start}.{node.attr}" if start else ""
    return ""


def report(problems: Iterable[object], fine: str) -> int:
    """Print every problem on a line of its own, or that all is well. Answer the exit status."""
    lines = [str(problem) for problem in problems]
    print("\n".join(lines) if lines else fine, file=sys.stderr if lines else sys.stdout)
    return 1 if lines else 0
