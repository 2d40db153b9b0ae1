"""Names that say something."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tools.project import CODE_FOLDERS, Problem, Project, Source

# A module named like a drawer gets filled like one. `services` is not here: tools/services.py is about real ones.
DRAWERS = {
    "util",
    "utils",
    "helper",
    "helpers",
    "common",
    "manager",
    "managers",
    "service",
    "handler",
    "handlers",
    "misc",
}

# Few, and each with what to write instead. Our own word `handle` (what on= takes) is not among them, nor is the handler
# of a request, which is the user's.
EMPTY_PREFIXES = {
    "get_": "it hides whether something is read, found or made; begin with that verb, or name the thing",
    "do_": "every function does; begin with the verb itself",
}
EMPTY_WORDS = {
    "helper": "it says for whom, not what; name what it does",
    "helpers": "as helper",
    "manager": "it says that there is work, not which; name the duty",
    "managers": "as manager",
    "util": "it says nothing; name what it does",
    "utils": "as util",
}
# A class that inherits from these only borrows their shape; the names of its methods are still ours.
SHAPES = {"abc", "collections", "dataclasses", "enum", "semel", "typing"}


def find_drawers(project: Project) -> Iterator[Problem]:
    """Find modules and folders whose name fits anything."""
    for path in project.texts:
        folder, _, rest = path.partition("/")
        if folder in CODE_FOLDERS and path.endswith(".py"):
            for word in split_words(rest.removesuffix(".py")):
                if word in DRAWERS:
                    yield Problem(path, f"the name says `{word}`, which fits anything; name what is in it.")


def find_empty_names(project: Project) -> Iterator[Problem]:
    """Find names in the package that say nothing, except where another library dictates them."""
    for source in project.sources_in("src"):
        dictated = set(find_dictated(source))
        for name, node in find_definitions(source):
            if node not in dictated:
                yield from (source.at(node, f"the name `{name}`: {why}.") for why in list_faults(name, node))


def list_faults(name: str, node: ast.AST) -> Iterator[str]:
    """List what is empty about a name."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from (
            f"`{prefix}` {why}" for prefix, why in EMPTY_PREFIXES.items() if name.lstrip("_").startswith(prefix)
        )
    yield from (f"`{word}` {EMPTY_WORDS[word]}" for word in split_words(name) if word in EMPTY_WORDS)


def split_words(name: str) -> list[str]:
    """Split a name or a path into lower-case words."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def find_definitions(source: Source) -> Iterator[tuple[str, ast.AST]]:
    """Find every name that a file gives to something."""
    for node in source.nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name, node


def find_dictated(source: Source) -> Iterator[ast.AST]:
    """Find the methods of classes that inherit from another library: it chose what they are called."""
    bound = {name: full for name, full, _ in source.imports}
    for node in source.nodes:
        if isinstance(node, ast.ClassDef):
            roots = {bound.get(root, "") for base in node.bases if (root := read_root(base))}
            if any(root and root.partition(".")[0] not in SHAPES for root in roots):
                yield from node.body


def read_root(base: ast.expr) -> str:
    """Read the first name of a base class as it is written: `click` of `click.Group`."""
    while isinstance(base, ast.Attribute | ast.Subscript):
        base = base.value
    return base.id if isinstance(base, ast.Name) else ""
