"""A small application in the shell's folder, its rows, and processes of it that die or go on working."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from tests.databases import Database
from tests.e2e.cli.conftest import Run, Shell

METADATA = sa.MetaData()
ORDERS = sa.Table(
    "orders",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("status", sa.String(40), nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False, server_default="0"),
)

FLOW: dict[str, Any] = {
    "workflow": "orders",
    "owning_module": "shop",
    "entity_table": "orders",
    "status_types": ["pending", "paying", "packing", "checking", "paid", "sent", "cancelled"],
    "initial": "pending",
    "terminal": ["sent", "cancelled"],
    "steps": [
        {
            "step_id": 1, "step_key": "pay", "status": "pending",
            "successful_claim_state": ["paying", "pending"], "successful_state": "paid",
            "action": "Act", "success_after_effect": ["Mail"],
        },
        {
            "step_id": 2, "step_key": "send", "status": "paid",
            "successful_claim_state": ["packing", "paid"], "successful_state": "sent",
            "action": "Act", "recovery": "resume",
        },
        {
            "step_id": 3, "step_key": "check", "status": "paid",
            "successful_claim_state": ["checking", "paid"], "successful_state": "paid",
            "action": "Act", "recovery": "review",
        },
        {"step_id": 4, "step_key": "touch", "status": "pending", "successful_state": "pending", "success_after_effect": ["Mail"]},
        {"step_id": 5, "step_key": "cancel", "status": "pending", "successful_state": "cancelled"},
    ],
}  # fmt: skip

APP = """
import os, sys
from pathlib import Path
from semel import {kind}

once = {kind}("{url}", workflows="workflows", modules=["shop.cover"], lease_seconds={lease})
orders = once.table("orders")

@once.action("Act")
{word} act(step):
    end = (step.input or {{}}).get("end")
    if end == "die" and step.attempt == 0:
        os._exit(9)
    if end == "hold":
        print("held", flush=True)
        sys.stdin.readline()
    if step.attempt:
        print("resumed", flush=True)

@once.effect("Mail")
{word} mail(effect):
    if Path("no-mail").exists():
        raise RuntimeError("the mail server said no")
    print("mailed", flush=True)
"""

TAKE = """
import sys, json
from shop.app import once, orders
print(orders.advance({row}, "{step}", by="customer", input={{"end": "{end}"}}))
"""

TAKE_ASYNC = """
import asyncio
from shop.app import once, orders
async def take():
    async with once:
        print(await orders.advance({row}, "{step}", by="customer", input={{"end": "{end}"}}))
asyncio.run(take())
"""


@dataclass
class Stand:
    """The application, and the ways to make something happen in it."""

    shell: Shell
    database: Database
    kind: str = "Semel"

    def run(self, *words: str) -> Run:
        """Run a command about the application."""
        return self.shell.run(*words, "--app", "shop.app:once")

    def ask(self, *words: str) -> Any:
        """Run a command and answer its JSON document."""
        run = self.run(*words, "--json")
        assert run.out, run.err
        return run.json

    def add_orders(self, *ids: int, status: str = "pending") -> None:
        """Commit some orders."""
        with self.database.engine().begin() as connection:
            connection.execute(sa.insert(ORDERS), [{"id": each, "status": status} for each in ids])

    def see(self, row: int) -> tuple[str, int]:
        """Answer (status, version) of an order."""
        with self.database.engine().connect() as connection:
            found = connection.execute(sa.select(ORDERS.c.status, ORDERS.c.version).where(ORDERS.c.id == row)).one()
        return found.status, found.version

    def write(self, sql: str) -> None:
        """Run SQL that goes past Semel."""
        with self.database.engine().begin() as connection:
            connection.exec_driver_sql(sql)

    def read(self, sql: str) -> list[tuple[Any, ...]]:
        """Read with SQL."""
        with self.database.engine().connect() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(sql)]

    def take(self, row: int, step: str, end: str = "") -> Run:
        """Take a step in a process of its own, which may die in the action."""
        return self.shell.run_command([sys.executable, "-c", self.script(row, step, end)])

    def script(self, row: int, step: str, end: str) -> str:
        """Write the program that takes a step."""
        return (TAKE if self.kind == "Semel" else TAKE_ASYNC).format(row=row, step=step, end=end)

    @contextmanager
    def hold(self, row: int, step: str) -> Iterator[subprocess.Popen[str]]:
        """A process that is inside a step's action, and beats, until it is told to go on."""
        command = [sys.executable, "-c", self.script(row, step, "hold")]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, cwd=self.shell.folder, env=self.shell.env, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        ) as process:
            assert process.stdout is not None
            assert "held\n" in process.stdout, "it ended without having come so far"
            try:
                yield process
            finally:
                process.kill()

    def let_leases_end(self) -> None:
        """Let the lease of every claim be over."""
        self.write("UPDATE semel_claims SET next_look_us = next_look_us - 3600000000")

    def make_effects_late(self) -> None:
        """Let every after-effect have been due for an hour."""
        self.write("UPDATE semel_outbox SET next_look_us = next_look_us - 3600000000")

    def park_effects(self) -> None:
        """Let a courier have given up on every after-effect."""
        self.write(
            "UPDATE semel_outbox SET state = 'parked', attempts = 10, problem = 'RuntimeError: no' WHERE state = 'due'"
        )


def lay_stand(shell: Shell, database: Database, kind: str = "Semel", *, lease: float = 30.0) -> Stand:
    """Lay the application and its tables."""
    word = "def" if kind == "Semel" else "async def"
    shell.write("shop/__init__.py", "")
    shell.write("shop/app.py", APP.format(kind=kind, url=database.url, word=word, lease=lease))
    shell.write("shop/cover.py", "from shop.app import once\n\nonce.janitor('shop')\nprint('this module prints')\n")
    shell.write("workflows/orders.json", json.dumps(FLOW))
    METADATA.create_all(database.engine())
    stand = Stand(shell, database, kind)
    assert shell.run("schema", "apply", "--db", database.url).status == 0
    return stand
