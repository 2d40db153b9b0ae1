"""The public names: few, explained in the code, shown in the docs, and typed as users write them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tools.project import Problem, Project

PUBLIC_LIMIT = 24  # a reader learns two dozen names; the next one must replace another
HOME = "src/semel/__init__.py"
HOPS_LIMIT = 5  # a re-export of a re-export of a re-export is lost anyway


def find_hidden_names(project: Project) -> Iterator[Problem]:
    """Find public names that are one too many, unexplained, undocumented, or in no typing test."""
    names = list_public_names(project)
    if len(names) > PUBLIC_LIMIT:
        yield Problem(HOME, f"{len(names)} public names, and {PUBLIC_LIMIT} are the limit; take one away first.")
    for name in names:
        if not is_explained(project, "semel", name):
            yield Problem(HOME, f"the public name {name} has no docstring; say what it promises.")
        if not is_mentioned(project, name, "docs/", ".md"):
            yield Problem(HOME, f"the public name {name} is not mentioned in docs/; show how it is used.")
        if not is_mentioned(project, name, "tests/typing/", ".py"):
            yield Problem(HOME, f"the public name {name} is not in tests/typing; write it there as a user would.")


def list_public_names(project: Project) -> list[str]:
    """List what `semel.__all__` names, without `__version__` and the like. An empty list: nothing is public yet."""
    home = project.find_source("semel")
    for node in home.tree.body if home else ():
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List() | ast.Tuple() as value)
                | ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.List() | ast.Tuple() as value)
            ):
                names = [element.value for element in value.elts if isinstance(element, ast.Constant)]
                return [name for name in names if isinstance(name, str) and not name.startswith("__")]
    return []


def is_explained(project: Project, module: str, name: str, hops: int = HOPS_LIMIT) -> bool:
    """Answer whether a name has a docstring where it is made; re-exports are followed there."""
    source = project.find_source(module)
    if source is None or hops == 0:
        return False
    body = source.tree.body
    for node, following in zip(body, [*body[1:], None], strict=True):
        match node:
            case ast.ClassDef(name=found) | ast.FunctionDef(name=found) | ast.AsyncFunctionDef(name=found) if (
                found == name
            ):
                return bool(ast.get_docstring(node))
            case ast.Assign(targets=[ast.Name(id=found)]) | ast.AnnAssign(target=ast.Name(id=found)) if found == name:
                return isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
    origins = (full.rpartition(".") for bound, full, _ in source.imports if bound == name)
    return any(is_explained(project, origin, original, hops - 1) for origin, _, original in origins)


def is_mentioned(project: Project, name: str, folder: str, ending: str) -> bool:
    """Answer whether a name stands as a word in some file."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    return any(
        word.search(text) for path, text in project.texts.items() if path.startswith(folder) and path.endswith(ending)
    )
