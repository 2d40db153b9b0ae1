"""The rooms of the house: what the layer contract promises, and what the files really import."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tools.project import Project, Source


@dataclass(frozen=True, slots=True)
class Room:
    """One room of the layer contract. An awaited room stands in parentheses there: it need not exist yet."""

    name: str
    awaited: bool


def read_layers(project: Project) -> list[list[Room]]:
    """Read the layers of the contract, the highest first. An empty list: there is no layer contract."""
    contracts = project.settings.get("tool", {}).get("importlinter", {}).get("contracts", [])
    none: list[str] = []
    layers = next((contract["layers"] for contract in contracts if contract.get("type") == "layers"), none)
    return [[read_room(part.strip()) for part in layer.split("|")] for layer in layers]


def read_room(text: str) -> Room:
    """Read one room as the contract writes it."""
    return Room(text.strip("()"), awaited=text.startswith("("))


def list_rooms(project: Project) -> list[Room]:
    """List the rooms, the highest first."""
    return [room for layer in read_layers(project) for room in layer]


def list_files(project: Project, room: str) -> list[Source]:
    """List the Python files of a room. An empty list: it is not built yet."""
    return list(project.sources_in(f"src/semel/{room}.py", f"src/semel/{room}"))


def read_promise(project: Project, room: str) -> str:
    """Read the first line of a room's docstring. An empty text: it has none."""
    source = project.find_source(f"semel.{room}")
    docstring = ast.get_docstring(source.tree) if source else None
    return (docstring or "").partition("\n")[0]


def find_calls(project: Project, room: str) -> set[str]:
    """Find the other rooms whose modules this room imports."""
    known = {each.name for each in list_rooms(project)}
    called = {name for source in list_files(project, room) for name in find_imported_rooms(source)}
    return (called & known) - {room}


def find_imported_rooms(source: Source) -> Iterator[str]:
    """Find the rooms, or what stands in their place, that one file imports."""
    for _, full, _ in source.imports:
        package, _, rest = full.partition(".")
        if package == "semel":
            yield rest.partition(".")[0]
