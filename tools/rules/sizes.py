"""Files and functions that can be read in one sitting."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tools.project import CODE_FOLDERS, Problem, Project

FILE_LINES_LIMIT = 400  # about what a reader holds in mind at once; the houses we admire stay below it
FUNCTION_LINES_LIMIT = 60  # one screen
SIZED = (".py", ".pyi", ".sh", ".sql", ".html", ".css", ".js")


def find_long_files(project: Project) -> Iterator[Problem]:
    """Find files of code with more lines than a reader holds in mind."""
    for path, text in project.texts.items():
        lines = text.count("\n")
        if path.endswith(SIZED) and path.partition("/")[0] in CODE_FOLDERS and lines > FILE_LINES_LIMIT:
            yield Problem(path, f"{lines} lines, and {FILE_LINES_LIMIT} are the limit; split it by subject.")


def find_long_functions(project: Project) -> Iterator[Problem]:
    """Find functions that do not fit on a screen."""
    for source in project.sources:
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES_LIMIT:
                    yield source.at(
                        node,
                        f"{node.name} has {lines} lines, and {FUNCTION_LINES_LIMIT} are the limit; tell it in steps.",
                    )
