"""Reading the text of a CREATE TABLE as far as needed: where its CHECKs are, past quotes and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from semel.errors import error
from semel.store.dialects import Family
from semel.store.quoted import quote_name, quote_words

PIECES = r"""(?P<quoted>{text}|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
    | (?P<comment>--[^\n]*|/\*.*?\*/)
    | (?P<word>\w+)
    | (?P<sign>.)"""
"""Quoted text in every form, comments, words, and single signs."""


@dataclass(frozen=True)
class Tongue:
    """How a database writes text inside quotes: MariaDB puts a backslash before a quote, the others a second quote."""

    tokens: re.Pattern[str]
    literals: re.Pattern[str]
    escaped: re.Pattern[str]


def read_tongue(text: str, escaped: str) -> Tongue:
    """Make the patterns from what stands between quotes, and from what there stands for one sign."""
    tokens = re.compile(PIECES.format(text=f"'(?:{text})*'"), re.VERBOSE | re.DOTALL)
    return Tongue(tokens, re.compile(f"'((?:{text})*)'", re.DOTALL), re.compile(escaped, re.DOTALL))


DOUBLING = read_tongue("[^']|''", "'(')")
ESCAPING = read_tongue(r"[^'\\]|\\.|''", r"'(')|\\(.)")

TONGUES: Mapping[Family, Tongue] = {"postgresql": DOUBLING, "sqlite": DOUBLING, "mariadb": ESCAPING}

# After the name of a column: what PostgreSQL casts it to, closing parentheses, then what it is compared by.
COMPARED = re.compile(r"[\s)]*(?:::[\w\s]+(?:\(\d+\))?[\s)]*)?(?:=|IN\b)", re.IGNORECASE)


@dataclass(frozen=True)
class Check:
    """A CHECK in a text: what it demands, and where that stands, without its parentheses."""

    demand: str
    start: int
    end: int


def find_checks(text: str, family: Family) -> Iterator[Check]:
    """Find every CHECK (…), with its parentheses balanced."""
    awaited, depth, start = False, 0, 0
    for token in TONGUES[family].tokens.finditer(text):
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


def lists_words(demand: str, column: str, family: Family) -> bool:
    """Whether a CHECK says which words a column may hold: it compares the column with some, and not by `<>`."""
    wanted = column.casefold()
    for token in TONGUES[family].tokens.finditer(demand):
        found = token[0]
        if token.lastgroup == "quoted" and not found.startswith("'"):
            found = found[1:-1].replace(found[-1] * 2, found[-1])
        if found.casefold() == wanted and COMPARED.match(demand, token.end()):
            return bool(list_literals(demand, family))
    return False


def list_literals(demand: str, family: Family) -> tuple[str, ...]:
    """List the words that a CHECK names, in their order, each once."""
    tongue = TONGUES[family]
    words = (
        tongue.escaped.sub(lambda found: found[found.lastindex or 0], word) for word in tongue.literals.findall(demand)
    )
    return tuple(dict.fromkeys(words))


def relax_checks(text: str, column: str, words: tuple[str, ...], family: Family) -> str:
    """Let every CHECK that lists words for a column list these as well; whatever else it says is kept."""
    made, done = [], 0
    for check in find_checks(text, family):
        made += [text[done : check.start], relax(check.demand, column, words, family)]
        done = check.end
    return "".join([*made, text[done:]])


def relax(demand: str, column: str, words: tuple[str, ...], family: Family) -> str:
    """Let a demand also hold where a column holds one of these words, unless it knows them or is about something else."""
    missing = tuple(word for word in words if word not in list_literals(demand, family))
    if not missing or not lists_words(demand, column, family):
        return demand
    return f"({demand.strip()}) OR {quote_name(column, family)} IN ({quote_words(missing)})"


TABLE_HEAD = re.compile(
    r"""\s*CREATE\s+TABLE\s+(?:"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[^\s(]+)""", re.IGNORECASE | re.VERBOSE
)


def rename_in(text: str, name: str) -> str:
    """Give a CREATE TABLE, as SQLite keeps it, another name, which is quoted already."""
    head = TABLE_HEAD.match(text)
    if head is None:
        raise error("SEMEL-SQL-1", text=text[:60], reason="it is not a CREATE TABLE that could be read")
    return f"CREATE TABLE {name}{text[head.end() :]}"
