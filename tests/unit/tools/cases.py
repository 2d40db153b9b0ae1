"""One offence and one good text for each thing that a rule looks for.

An at sign inside a word keeps this file from being an offence itself; it is taken out before the text is written.
"""

from __future__ import annotations

from dataclasses import dataclass

CONTRACT = """[[tool.importlinter.contracts]]
type = "layers"
layers = ["(cli) | (worker)", "store"]
"""


@dataclass(frozen=True)
class Case:
    """A rule, files that break it, and files that come close but do not."""

    rule: str
    bad: dict[str, str]
    good: dict[str, str]


def one(rule: str, path: str, bad: str, good: str) -> Case:
    """Make a case of a single file."""
    return Case(rule, {path: bad.replace("@", "")}, {path: good.replace("@", "")})


def list_names(case: Case) -> str:
    """Name a case in the output of a run."""
    return f"{case.rule}-{next(iter(case.bad.values())).strip()[:30]!r}"


def write_protocol(header: str) -> str:
    """Write a small protocol under a header."""
    return f'"""{header}"""\n\ndef move():\n    yield 1\n'


def write_public(bound: str) -> dict[str, str]:
    """Write a package with one public name that is all a public name should be."""
    return {
        "src/semel/__init__.py": f"__all__ = ['Moved']\nfrom semel.outcomes import {bound} as Moved\n",
        "src/semel/outcomes.py": 'class Moved:\n    """It moved."""\n\nclass Bare:\n    pass\n',
        "docs/start.md": "A `Moved` is true.",
        "tests/typing/verbs.py": "from semel import Moved\n",
    }


def leave_out(files: dict[str, str], path: str) -> dict[str, str]:
    """Leave one file out."""
    return {each: text for each, text in files.items() if each != path}


SIZES = [
    one("files_parse", "src/a.py", "def f(:\n", "def f(): ...\n"),
    one("file_length", "src/a.py", "x = 1\n" * 401, "x = 1\n" * 400),
    one("file_length", "src/a.sql", "\n" * 401, "\n" * 400),
    Case(
        "file_length",
        {"bench/a.py": "\n" * 401},
        {"src/semel/console/vendored/a.js": "\n" * 401, "docs/a.md": "\n" * 401},
    ),
    one("function_length", "tools/a.py", "def f():\n" + "    x = 1\n" * 60, "def f():\n" + "    x = 1\n" * 59),
    one("function_length", "tests/a.py", "async def f():\n" + "    x = 1\n" * 60, "async def f():\n    ...\n"),
]

NAMES = [
    Case("module_names", {"src/semel/utils.py": ""}, {"src/semel/store.py": ""}),
    Case("module_names", {"tests/claim_helpers.py": ""}, {"tests/claims.py": ""}),
    Case("module_names", {"examples/common/a.py": ""}, {"docs/common/a.py": "", "examples/a/common.css": ""}),
    one("empty_names", "src/a.py", "def get_row(): ...\n", "def read_row(): ...\ndef getter(): ...\n"),
    one("empty_names", "src/a.py", "class A:\n    async def _do_it(self): ...\n", "def dock(): ...\n"),
    one("empty_names", "src/a.py", "class ClaimManager: ...\n", "from contextlib import contextmanager\n"),
    one("empty_names", "src/a.py", "def f(row_helper): ...\n", "def f(handle): ...\n"),
    one("empty_names", "src/a.py", "db_utils = 1\n", "print(db_utils)\n"),
    one(
        "empty_names",
        "src/a.py",
        "from typing import Protocol\nclass A(Protocol):\n    def get_command(self): ...\n",
        "import click\nclass A(click.Group):\n    def get_command(self): ...\n",
    ),
]

CALLS = [
    one("waits_are_asks", "src/a.py", "import time\ntime.sleep(1)\n", "import time\ntime.monotonic()\n"),
    one("waits_are_asks", "src/a.py", "from time import sleep as rest\nrest(1)\n", "clock.sleep(1)\n"),
    one("waits_are_asks", "bench/a.py", "import asyncio\nnap = asyncio.sleep\n", "import asyncio\nasyncio.run(f)\n"),
    Case(
        "waits_are_asks",
        {"src/semel/protocols/clock.py": "import time\ntime.sleep(1)\n"},
        {"src/semel/clock.py": "import time\ntime.sleep(1)\n"},
    ),
    one("no_skips", "tests/test_a.py", "import pytest\npytest.skip('no')\n", "import pytest\npytest.fail('no')\n"),
    Case(
        "no_skips",
        {"tests/a.py": "import pytest\n@pytest.mark.skipif(True, reason='')\ndef test_a(): ...\n"},
        {"tests/databases.py": "import pytest\npytest.skip('no server')\n"},
    ),
    one("hollow_asserts", "tests/a.py", "assert True\n", "assert f()\n"),
    one("hollow_asserts", "tests/a.py", "assert (f(), 'message')\n", "assert f(), 'message'\n"),
    one(
        "swallowed_errors",
        "src/a.py",
        "try:\n    f()\nexcept Exception:\n    pass\n",
        "try:\n    f()\nexcept KeyError:\n    pass\nexcept Exception:\n    raise\n",
    ),
    one("swallowed_errors", "src/a.py", "try:\n    f()\nexcept:\n    ...\n", "try:\n    f()\nfinally:\n    pass\n"),
    one(
        "swallowed_errors",
        "src/a.py",
        "from contextlib import suppress\nwith suppress(Exception):\n    f()\n",
        "from contextlib import suppress\nwith suppress(KeyError):\n    f()\n",
    ),
    one("bare_ignores", "src/a.py", "x = 1  # type: ignore\n", "x = 1  # type: ignore[arg-type]\n"),
    one("bare_ignores", "src/a.py", "x = 1  # noqa\n", "x = 1  # noqa: E501 - the address is one word\n"),
    one("bare_ignores", "src/a.py", "x = 1  # noqa: E501\n", "x = '# noqa: E501'\n"),
    one("bare_ignores", "src/a.py", "# mypy: ignore-errors\n", "# mypy is asked to look closer here\n"),
    one("data_as_code", "src/a.py", "import pickle\n", "import json\n"),
    one("data_as_code", "src/a.py", "from marshal import loads\n\nloads(b'')\n", "from marshmallow import loads\n"),
    one("data_as_code", "src/a.py", "x = eval('1')\n", "x = model.eval('1')\n"),
    one("data_as_code", "src/a.py", "import sqlalchemy as sa\nkind = sa.PickleType\n", "kind = sa.JSON\n"),
]

PROTOCOL = "src/semel/protocols/claim.py"
PURITY = [
    one("decisions_ask", PROTOCOL, "import time\nnow = time.time()\n", "now = yield_(Now())\n"),
    one(
        "decisions_ask",
        "src/semel/keepers/janitor.py",
        "from datetime import datetime as d\nnow = d.now()\n",
        "from datetime import timedelta\n",
    ),
    one(
        "decisions_ask",
        PROTOCOL,
        "from uuid import uuid4\nkey = uuid4()\n",
        "from uuid import UUID\nkey = UUID(text)\n",
    ),
    one("decisions_ask", PROTOCOL, "import random\nrandom.random()\n", "spread = operation.random\n"),
    one("decisions_ask", PROTOCOL, "from semel.clock import SYSTEM\n", "from semel.asks import Tick\n"),
    one("protocols_are_pure", PROTOCOL, "import sqlalchemy as sa\n", "from semel.store.journal import write_rows\n"),
    one("protocols_are_pure", PROTOCOL, "def f():\n    from asyncio import gather\n", "from collections import abc\n"),
    one(
        "crash_argument",
        PROTOCOL,
        write_protocol("A claim."),
        write_protocol("A claim.\n\nThe crash argument, gap by gap\n- All of it or nothing.\n"),
    ),
    one("sql_in_one_room", "src/a.py", "q = f'SELECT {c} FROM t'\n", "q = f'SELECT nothing'\n"),
    one("sql_in_one_room", "src/a.py", "q = 'UPDATE %s SET a = 1' % t\n", "q = 'UPDATE of %s' % t\n"),
    one("sql_in_one_room", "src/a.py", "q = 'DELETE FROM ' + t\n", "q = 'Delete from ' + t\n"),
    one("sql_in_one_room", "examples/a.py", "q = 'INSERT INTO {}'.format(t)\n", "q = 'INSERT INTO t VALUES (1)'\n"),
    Case(
        "sql_in_one_room",
        {"src/semel/app.py": "q = f'DROP TABLE {t}'\n"},
        {"src/semel/store/a.py": "q = f'DROP TABLE {t}'\n", "src/b.py": "q = f'SET SESSION wait = {n}'\n"},
    ),
    Case(
        "finished_rooms",
        {"pyproject.toml": CONTRACT, "src/semel/cli/__init__.py": ""},
        {"pyproject.toml": CONTRACT, "src/semel/store/__init__.py": "", "src/semel/cli_notes.py": ""},
    ),
]

TESTS = [
    one(
        "tests_speak",
        "tests/unit/test_a.py",
        "class TestA:\n    async def test_a(self): ...\n",
        'def test_a():\n    """Proves it."""\n\ndef make(): ...\n',
    ),
    one("tests_do_not_sleep", "tests/test_a.py", "import time\ntime.sleep(1)\n", "ready.wait()\n"),
    one("tests_do_not_sleep", "tests/a.py", "from asyncio import sleep\nsleep(2)\n", "query = 'SELECT pg_sleep(1)'\n"),
]

PUBLIC = [
    Case("public_names", write_public("Bare"), write_public("Moved")),
    Case("public_names", write_public("Gone"), {"src/semel/__init__.py": "__version__ = '1'\n"}),
    Case(
        "public_names",
        {"src/semel/__init__.py": "__all__ = ['Moved']\nfrom semel import Moved\n"},
        {"src/semel/__init__.py": "from semel import Moved\n"},
    ),
    Case("public_names", leave_out(write_public("Moved"), "docs/start.md"), {"src/semel/__init__.py": ""}),
    Case("public_names", leave_out(write_public("Moved"), "tests/typing/verbs.py"), {"docs/start.md": ""}),
    one(
        "public_names",
        "src/semel/__init__.py",
        f"__all__ = {[f'name{number}' for number in range(25)]!r}\n",
        "__all__ = ['__version__']\n",
    ),
]

WORDS = [
    one("own_words", "docs/a.md", "See /w@ork/main.\n", "See /w@orkflows/orders and /w@ork-queue.\n"),
    one("own_words", "Makefile", "cd '/r@oot'\n", "postgresql://r@oot@127.0.0.1/root_table\n"),
    one("own_words", "docs/a.md", "sqlite:////t@mp/a.db\n", "tmp_path / 'a.db'\n"),
    one("own_words", "docs/a.md", "/h@ome/ada/semel\n", "https://semel.example/home/page\n"),
    one("own_words", "pins.txt", "https://files.python@hosted.org/x\n", "pip install semel\n"),
    one("own_words", "docs/a.md", "http://wheels.example.co@rp/simple\n", "http://127.0.0.1/corp\n"),
    one("own_words", "docs/a.md", "Thanks to Cl@aude.\n", "Thanks to Claudia.\n"),
    one("own_words", "src/a.py", "# A@I-generated\n", "# said and generated\n"),
    one(
        "own_words",
        "src/a.py",
        "# the other ag@ent wrote this\n",
        "# the User-Ag@ent header; a support ag@ent's edit\n",
    ),
    one("own_words", "docs/a.md", "In an earlier s@ession we found\n", "The Session of the caller is joined.\n"),
    one("own_words", "src/a.py", "# as D@Q 21 says\n", "# as the operation id says\n"),
    one("own_words", "src/a.py", "# see iss@ue 12\n", "# the issue of the card\n"),
    one("nothing_postponed", "src/a.py", "# TO@DO: think\n", "# to do this, think\n"),
    one("nothing_postponed", "docs/a.md", "FIX@ME\n", "XX@XL shirts\n"),
    one("old_make", "Makefile", ".ONESHELL:\n", ".PHONY: a\n"),
    one("old_make", "Makefile", "A != ls\n", "A := $(shell test a != b)\n"),
    one("old_make", "Makefile", "A ::= b\n", "A ?= b\n"),
    one("old_make", "Makefile", "$(file >a,b)\n", "a: b\n\ttouch a\n"),
]

CASES = [*SIZES, *NAMES, *CALLS, *PURITY, *TESTS, *PUBLIC, *WORDS]
