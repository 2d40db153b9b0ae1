"""The page of SQL: every statement as each database receives it, and the scripts that make Semel's tables."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator

from semel.performers.wires import pymysql, sqlite
from semel.store.dialects import DIALECTS, Family
from semel.store.scripts import write_scripts
from semel.store.statements import Rendered, Statement
from semel.store.tables import OwnTables
from tools.pages._markdown import quote
from tools.pages._statements import Shown, list_statements, make_rooms

INTRODUCTION = """# SQL

Every statement that Semel's verbs and keepers send, as each database receives it. Code that moves money is reviewed by
reading its SQL. Not shown are BEGIN, COMMIT and ROLLBACK, and what is asked only at boot and while tables are made: what
SQLAlchemy asks about tables, the server's role, and the lock that lets one process at a time make tables.

Your table is `orders(id BIGINT, status TEXT, version BIGINT, total INTEGER)` here, and the transition is
`orders.transition(id, "pending", to="paid", total=999)`. A statement for several rows is shown for one. Parameters stand
in their order below a statement; MariaDB's driver writes them into the text before it is sent. Names and limits of
Semel's own are part of the text, what comes from you is always a parameter.
"""

TITLES: dict[Family, tuple[str, str]] = {
    "postgresql": ("PostgreSQL", "asyncpg"),
    "mariadb": ("MariaDB", "pymysql"),
    "sqlite": ("SQLite", "sqlite3"),
}
"""The chapters, and the driver whose form of parameters each shows."""

SESSIONS: dict[Family, tuple[str, ...]] = {
    "postgresql": (),
    "mariadb": pymysql.write_settings(),
    "sqlite": sqlite.PRAGMAS,
}
"""What a connection of Semel's own begins with."""

LINE_CHARACTERS = 110  # what a page shows without scrolling sideways


def render() -> str:
    """Draw the page: one chapter for each database."""
    return "\n".join([INTRODUCTION, *(line for family in TITLES for line in draw_chapter(family))])


def draw_chapter(family: Family) -> Iterator[str]:
    """Draw the chapter of one database: its sessions, its statements by what they are about, its schema."""
    title, _ = TITLES[family]
    yield f"## {title}"
    yield ""
    if SESSIONS[family]:
        yield "Every connection of Semel's own begins with:"
        yield ""
        yield from draw_sql(";\n".join(SESSIONS[family]) + ";")
    seen: set[tuple[str, str]] = set()
    for room in make_rooms(family):
        shown = {read_key(family, each): each for each in reversed(list(list_statements(family, room)))}
        fresh = [shown[key] for key in reversed(shown) if key not in seen]
        if fresh:
            yield f"### {title}: {read_promise(room)}"
            yield ""
            for each in fresh:
                yield from draw_statement(family, each)
        seen |= shown.keys()
    yield f"### {title}: the schema"
    yield ""
    yield from draw_schema(family)


def read_key(family: Family, shown: Shown) -> tuple[str, str]:
    """Answer what makes a statement the same as another one: its name and its text."""
    return shown.statement.name, render_statement(family, shown.statement).text


def draw_statement(family: Family, shown: Shown) -> Iterator[str]:
    """Draw one statement: its name, why, its text, its parameters."""
    yield f"#### `{shown.statement.name}`" + (f" ({shown.switches})" if shown.switches else "")
    yield ""
    if shown.why:
        yield quote(shown.why)
        yield ""
    rendered = render_statement(family, shown.statement)
    yield from draw_sql(rendered.text)
    if rendered.slots:
        is_numbered = "$1" in rendered.text
        names = [
            f"`${number}` {given}" if is_numbered else given for number, (_, given, _) in enumerate(rendered.slots, 1)
        ]
        yield "Parameters: " + ", ".join(names).replace("_", "\\_") + "."
        yield ""


def render_statement(family: Family, statement: Statement) -> Rendered:
    """Render a statement for the driver that the chapter shows."""
    _, dialect = DIALECTS[TITLES[family][1]]()
    return statement.render(dialect)


def draw_sql(text: str) -> Iterator[str]:
    """Draw SQL, its long lines broken between words."""
    yield "```sql"
    for line in text.splitlines():
        yield from textwrap.wrap(line, LINE_CHARACTERS, subsequent_indent="    ", break_on_hyphens=False) or [""]
    yield "```"
    yield ""


def draw_schema(family: Family) -> Iterator[str]:
    """Draw every script that makes or upgrades Semel's tables."""
    for script in write_scripts(family, OwnTables()):
        yield f"Part *{script.part}*, version {script.version}, half *{script.half}*:"
        yield ""
        yield "```sql"
        yield "\n\n".join(f"{statement};" for statement in script.statements)
        yield "```"
        yield ""


def read_promise(room: object) -> str:
    """Read the first line of the docstring of a room, as the title of its statements."""
    first = (inspect.getdoc(type(room)) or "").partition("\n")[0]
    return first.removesuffix(".").removeprefix("Statements over ").removeprefix("The statements of ")
