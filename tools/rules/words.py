"""The project speaks of the project alone: what may not stand in any of its files.

The patterns hide one letter in brackets, so that this file does not find itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.project import Problem, Project

# Where a path ends: `/[w]ork` is a folder of a machine, `/[w]orkflows` is a page.
END = r"(?=[/\s'\"`),:;]|$)"
FOREIGN = {
    rf"(?<![\w./])/([w]ork|[r]oot){END}": "a folder of one machine",
    r"(?<![\w.])/[t]mp/|(?<![\w/])/[o]pt/\w": "a folder of one machine",
    r"(?<![\w/])/([h]ome|[U]sers)/\w|\b[C]:\\[U]sers": "a folder of one person",
    r"[f]iles\.pythonhosted\.org|[p]ypi\.org/simple|[r]egistry\.(npmjs|yarnpkg)": "the address of a registry",
    r"https?://[^/\s]+\.(corp|lan|intra)\b": "an address inside one company",
    r"(?i)\b([C]laude|[A]nthropic|[C]hatGPT|[O]penAI|[C]opilot|LL[M]s?)\b": "a tool, not the project",
    r"(?i)\b[A]I[- ](generated|assisted|written|assistant|session)|\b[l]anguage model": "how a text came about",
    r"(?i)(?<!user[- ])(?<!support )\b(sub)?[a]gents?\b|\b[c]o-authored-by:": "who wrote it",
    r"(?i)\b(previous|earlier|working) [s]essions?\b|\b[s]ession of (the|this) (project|work)\b": "when it was written",
    r"\bD[Q] ?\d|(?i:\b([i]ssue|[t]icket) #?\d+)": "a paper that readers do not have",
    r"[s]hared/[A-Z]+\.md|\b(DESIG[N]|STYL[E]|STOR[E])\.md": "a paper that readers do not have",
}
LATER = re.compile(r"\b(TO[D]O|FI[X]ME|XX[X])\b")
# The words of a licence are its own.
NOT_OURS = {"LICENSE"}


def find_foreign_words(project: Project) -> Iterator[Problem]:
    """Find words that are about a machine, a tool or a person instead of the project."""
    patterns = [(re.compile(pattern), what) for pattern, what in FOREIGN.items()]
    for path, line, text in read_lines(project):
        for pattern, what in patterns:
            if found := pattern.search(text):
                yield Problem(f"{path}:{line}", f"`{found[0].strip()}` names {what}; say it without.")


def find_postponed(project: Project) -> Iterator[Problem]:
    """Find work that was left for later in a comment, where nobody looks."""
    for path, line, text in read_lines(project):
        if found := LATER.search(text):
            yield Problem(f"{path}:{line}", f"`{found[0]}`; do it, or open an issue and take the mark out.")


def read_lines(project: Project) -> Iterator[tuple[str, int, str]]:
    """Read every line that we wrote: its file, its number, its text."""
    for path, text in project.texts.items():
        if path not in NOT_OURS:
            yield from ((path, number, line) for number, line in enumerate(text.splitlines(), start=1))
