"""Reading the text of a CREATE TABLE as far as needed: where its CHECKs are, past quotes and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from semel.errors import error

# Quoted text in every form, comments, and single signs; what is none of the marked is passed over word by word.
TOKENS = re.compile(
    r"""(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
    | (?P<comment>--[^\n]*|/\*.*?\*/)
    | (?P<word>\w+)
    | (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
LITERALS = re.compile(r"'((?:[^']|'')*)'")


@dataclass(frozen=True)
class Check:
    """A CHECK in a text: what it demands, and where that stands, without its parentheses."""

    demand: str
    start: int
    end: int


def find_checks(text: str) -> Iterator[Check]:
    """Find every CHECK (…), with its parentheses balanced."""
    awaited, depth, start = False, 0, 0
    for token in TOKENS.finditer(text):
        found = token[0]
        if token.lastgroup == "comment" or found.isspace():
            continue
        if depth:
            depth += {"(": 1, ")": -1}.get(found, 0)
            if depth == 0:
                yield Check(text[start : token.start()], start, token.start())
        elif awaited and found == "(":
            depth, start = 1, token.end()
        awaited = token.lastgroup == "word" and found.upper() == "CHECK" and not depth


def names_column(demand: str, column: str) -> bool:
    """Whether a CHECK speaks of a column."""
    wanted = column.casefold()
    for token in TOKENS.finditer(demand):
        found = token[0]
        if token.lastgroup == "quoted" and not found.startswith("'"):
            found = found[1:-1].replace(found[-1] * 2, found[-1])
        if found.casefold() == wanted:
            return True
    return False


def list_literals(demand: str) -> tuple[str, ...]:
    """List the words that a CHECK names, in their order, each once."""
    return tuple(dict.fromkeys(word.replace("''", "'") for word in LITERALS.findall(demand)))


def lists_words(demand: str, column: str) -> bool:
    """Whether a CHECK says which words a column may hold."""
    return names_column(demand, column) and bool(list_literals(demand))


def relax_checks(text: str, column: str, allowed: str) -> str:
    """Let every CHECK that lists words for a column also hold where `allowed` does; whatever else it says is kept."""
    made, done = [], 0
    for check in find_checks(text):
        if lists_words(check.demand, column):
            made += [text[done : check.start], relax(check.demand, allowed)]
            done = check.end
    return "".join([*made, text[done:]])


def relax(demand: str, allowed: str) -> str:
    """Let a demand also hold where `allowed` does."""
    return f"({demand.strip()}) OR {allowed}"


TABLE_HEAD = re.compile(
    r"""\s*CREATE\s+TABLE\s+(?:"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[^\s(]+)""", re.IGNORECASE | re.VERBOSE
)


def rename_in(text: str, name: str) -> str:
    """Give a CREATE TABLE, as SQLite keeps it, another name, which is quoted already."""
    head = TABLE_HEAD.match(text)
    if head is None:
        raise error("SEMEL-SQL-1", text=text[:60], reason="it is not a CREATE TABLE that could be read")
    return f"CREATE TABLE {name}{text[head.end() :]}"
