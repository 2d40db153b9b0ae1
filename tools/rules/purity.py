"""What keeps the safety argument in one place: protocols ask, and SQL lives in the store."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tools.project import Problem, Project
from tools.rooms import list_files, list_rooms

DECIDERS = ("src/semel/protocols", "src/semel/keepers")

# What the machine answers differently each time. `prove` can only replay a decision that asked for it.
READINGS = re.compile(
    r"""time\.(time|monotonic|perf_counter|process_time)(_ns)?
    | datetime\.(datetime|date)\.(now|utcnow|today)
    | (random|secrets)\.\w+
    | uuid\.(uuid1|uuid4|uuid6|uuid7)
    | os\.(urandom|getrandom)""",
    re.VERBOSE,
)
# A protocol that could reach these itself would hold a part of the world that `prove` cannot see.
OUTSIDE = (
    {"aiosqlite", "asyncmy", "asyncpg", "psycopg", "pymysql", "sqlalchemy", "sqlite3"}  # databases
    | {"http", "httpx", "httpx2", "requests", "socket", "subprocess", "urllib"}  # networks and programs
    | {"asyncio", "concurrent", "multiprocessing", "threading"}  # other flows of control
    | {"django", "fastapi", "starlette"}  # frameworks
)

# What touches rows or tables. The settings of a connection (SET SESSION …) belong to whoever opens it.
SQL = re.compile(
    r"""\s*(
        SELECT\s[\w{(*] | WITH\s.*\sAS\s*\(
        | INSERT\s+INTO\s | UPDATE\s.*\sSET\s | DELETE\s+FROM\s
        | MERGE\s+INTO\s | TRUNCATE\s | SET\s+STATEMENT\s | LOCK\s+TABLE
        | (CREATE|ALTER|DROP)\s+(OR\s|TEMP|UNIQUE\s|TABLE|INDEX|DATABASE|SCHEMA|TRIGGER|TYPE|VIEW|FUNCTION)
    )""",
    re.VERBOSE | re.DOTALL,
)


def find_readings(project: Project) -> Iterator[Problem]:
    """Find clocks and dice inside decisions."""
    for source in project.sources_in(*DECIDERS):
        for name, node in source.mentions:
            if READINGS.fullmatch(name):
                yield source.at(node, f"`{name}` is read here; ask for Now, Tick or Fresh instead.")
        for _, full, line in source.imports:
            if full.startswith("semel.clock"):
                yield source.at(line, "a decision holds a clock; ask for Now, Tick or Wait instead.")


def find_outside(project: Project) -> Iterator[Problem]:
    """Find protocols that could reach a database, a network or a framework by themselves."""
    for source in project.sources_in("src/semel/protocols"):
        for _, full, line in source.imports:
            if full.partition(".")[0] in OUTSIDE:
                yield source.at(line, f"a protocol imports `{full}`; it may only ask, and the performer answers.")


def find_unargued(project: Project) -> Iterator[Problem]:
    """Find protocols whose header does not say why dying between two asks is safe."""
    for source in project.sources_in("src/semel/protocols"):
        asks = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in source.nodes)
        if asks and "crash argument" not in (ast.get_docstring(source.tree) or ""):
            yield source.at(
                1, "the header has no crash argument; say for each gap between two asks why dying there is safe."
            )


def find_built_sql(project: Project) -> Iterator[Problem]:
    """Find SQL that is put together from pieces outside the store. What tests do to their own databases is no product."""
    for source in project.sources_in("src", "examples"):
        if not source.is_in("src/semel/store") and not source.is_in("src/semel/testing"):
            for node in source.nodes:
                if SQL.match(read_pieces(node)):
                    yield source.at(node, "SQL is put together here; build it once in the store, with parameters.")


def read_pieces(node: ast.AST) -> str:
    """Read what is fixed of a text that is put together, {} for the rest. An empty text: it is in one piece."""
    match node:
        case ast.JoinedStr(values=values) if any(isinstance(value, ast.FormattedValue) for value in values):
            return "".join(str(value.value) if isinstance(value, ast.Constant) else "{}" for value in values)
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            return text
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Add()):
            return text + "{}"
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            return text
    return ""


def find_finished_rooms(project: Project) -> Iterator[Problem]:
    """Find rooms that exist, although the layer contract does not insist on them yet."""
    for room in list_rooms(project):
        if room.awaited and list_files(project, room.name):
            yield Problem(
                "pyproject.toml", f"the room ({room.name}) exists now; take its parentheses out of the layer contract."
            )
