"""The two commands run where nothing was upgraded for years."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.project import Problem, Project

# What GNU make learned after 3.81. An old make does not refuse these: it reads something else.
NEWER = {
    r"^\s*\.ONESHELL": ".ONESHELL (3.82)",
    r"^\s*\.RECIPEPREFIX": ".RECIPEPREFIX (3.82)",
    r"^\s*\.EXTRA_PREREQS": ".EXTRA_PREREQS (4.3)",
    r"^(private|undefine)\s": "private and undefine (3.82)",
    r"^[\w.-]+\s*!=": "!= (4.0)",
    r"^[\w.-]+\s*:::?=": "::= (4.0)",
    r"\$[({](file|guile|let|intcmp)\s": "$(file), $(guile), $(let), $(intcmp) (4.0 and later)",
    r"^[^\t#=]*\s&:": "grouped targets (4.3)",
    r"^-?load\s": "load (4.0)",
}


def find_new_make(project: Project) -> Iterator[Problem]:
    """Find what GNU make 3.81 does not know."""
    patterns = [(re.compile(pattern), what) for pattern, what in NEWER.items()]
    for number, line in enumerate(project.texts.get("Makefile", "").splitlines(), start=1):
        for pattern, what in patterns:
            if pattern.search(line):
                yield Problem(f"Makefile:{number}", f"GNU make 3.81 does not know {what}.")
