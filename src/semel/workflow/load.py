"""Loading workflows from JSON and TOML files, folders of them, or dicts.

Nothing that a file says makes this raise: what cannot be read is a problem with the rule `shape`, and the rest is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from semel.workflow.documents import DEPTH_LIMIT, Copying, Unreadable, parse_json, parse_toml
from semel.workflow.model import Workflow
from semel.workflow.problem import Problem, path_of, show
from semel.workflow.reading import Declared, read_document

Source: TypeAlias = str | os.PathLike[str] | Mapping[str, Any]

FILE_BYTES_LIMIT = 1_000_000  # a thousand steps with every key filled in take about half of it
PARSERS = {".json": parse_json, ".toml": parse_toml}
SCHEMA_ENDING = ".schema.json"  # the schema that editors use may lie beside the files it describes


@dataclass(frozen=True)
class Loaded:
    """What was read from all sources, and what could not be."""

    declared: tuple[Declared, ...]
    problems: tuple[Problem, ...]

    @property
    def workflows(self) -> tuple[Workflow, ...]:
        """The workflows that were read whole; run them only once the rules have been checked too."""
        return tuple(declared.workflow for declared in self.declared if declared.whole)


@dataclass
class Shelf:
    """What has been loaded so far."""

    declared: list[Declared] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    files: set[Path] = field(default_factory=set)

    def note(self, file: str, message: str, path: str = "$") -> None:
        """Write down a problem of a whole file."""
        self.problems.append(Problem("shape", file, path, message))


def load(sources: Source | Iterable[Source]) -> Loaded:
    """Load one source or several: a file, a folder of files, or a dict. Problems are answered, never raised."""
    shelf = Shelf()
    for source in [sources] if isinstance(sources, str | os.PathLike | Mapping) else sources:
        if isinstance(source, Mapping):
            load_document(source, f"(dict {show(source.get('workflow'))})", shelf)
        else:
            load_path(Path(source), shelf)
    return Loaded(tuple(shelf.declared), tuple(shelf.problems))


def load_path(path: Path, shelf: Shelf) -> None:
    """Load a file, or every workflow file that lies directly in a folder."""
    if not path.is_dir():
        load_file(path, shelf)
        return
    try:
        files = sorted(
            file for file in path.iterdir() if file.suffix in PARSERS and not file.name.endswith(SCHEMA_ENDING)
        )
    except OSError as error:
        shelf.note(str(path), f"the folder cannot be read ({error.strerror}); correct its path or its permissions.")
        return
    for file in files:
        load_file(file, shelf)
    if not files:
        shelf.note(str(path), "the folder holds no workflow file; add a .json or .toml file, or correct the path.")


def load_file(path: Path, shelf: Shelf) -> None:
    """Load one file, once, even if it is named twice."""
    try:
        resolved = path.resolve()
        if resolved in shelf.files:
            return
        shelf.files.add(resolved)
        document = read_file(path)
    except OSError as error:
        shelf.note(str(path), f"the file cannot be read ({error.strerror}); correct its path or its permissions.")
    except RecursionError:
        shelf.note(str(path), f"it is nested deeper than {DEPTH_LIMIT} levels; a workflow file never is.")
    except ValueError as error:
        shelf.note(str(path), f"it cannot be read: {error}. Correct it there.")
    else:
        load_document(document, str(path), shelf)


def read_file(path: Path) -> object:
    """Read and parse one file. A ValueError: it is too large, not UTF-8, or not what its ending says."""
    parse = PARSERS.get(path.suffix)
    if parse is None:
        raise ValueError(f"its name must end in {' or '.join(PARSERS)}")
    with path.open("rb") as file:
        content = file.read(FILE_BYTES_LIMIT + 1)
    if len(content) > FILE_BYTES_LIMIT:
        raise ValueError(f"it is larger than {FILE_BYTES_LIMIT:,} bytes")
    return parse(content.decode("utf-8-sig"))  # some editors begin a file with a byte order mark


def load_document(given: object, file: str, shelf: Shelf) -> None:
    """Load one parsed document."""
    if not isinstance(given, Mapping):
        shelf.note(
            file, f"it holds {show(given)}; a workflow is an object with the keys workflow, entity_table, steps, …."
        )
        return
    copying = Copying()
    try:
        document = copying.copy_object(given, ())
    except Unreadable as error:
        shelf.note(file, str(error), path_of(given, error.place))
        return
    declared, problems = read_document(document, file, copying.repeated)
    shelf.declared.append(declared)
    shelf.problems.extend(problems)
