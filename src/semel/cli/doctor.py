"""`semel doctor`: look at everything that Semel relies on, and say what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import click

from semel.cli.answers import FINE, FOUND, Answer, answering
from semel.cli.findings import Facts, Finding, fine, refused
from semel.cli.judging import CHECKS
from semel.cli.naming import Named, naming_options
from semel.cli.tables import Row, Table
from semel.errors import SemelError

if TYPE_CHECKING:
    from semel.cli.target import Target

DRIVERS = ("psycopg", "asyncpg", "PyMySQL", "asyncmy", "aiosqlite")
"""The packages that Semel can speak to a database through; SQLite's own driver comes with Python."""


@click.command()
@naming_options
@answering
def doctor(named: Named) -> Answer:
    """Look at drivers, server, tables and settings, and say what to do.

    Each line is ok, warn (safe, but not as good as it could be) or problem (not safe for money). Exit status 1: there is a
    problem. No row is changed.
    """
    from semel.cli.target import find_target

    target = find_target(named)
    return report(target, dict(examine_all(target)))


def examine_all(target: Target) -> Iterator[tuple[str, Finding]]:
    """Find out about everything, as far as the database can be reached."""
    from semel.cli.gathering import gather

    yield "versions", fine(list_versions(("semel", "SQLAlchemy")))
    yield "drivers", fine(list_versions(DRIVERS))
    try:
        facts = gather(target)
    except SemelError as problem:
        yield "connection", judge_connection(problem)
        return
    yield "connection", fine(target.url.drivername)
    yield from judge_all(facts)


def judge_connection(problem: SemelError) -> Finding:
    """Tell why nothing could be asked. A lost connection sends people here, so here it says where to look."""
    finding = refused(problem)
    if problem.code == "SEMEL-STORE-4":
        advice = (
            "Does the server run, can it be reached from here, and are user, password and database of the URL right?"
        )
        return replace(finding, advice=advice)
    return finding


def judge_all(facts: Facts) -> Iterator[tuple[str, Finding]]:
    """Judge the facts, check by check."""
    for check in CHECKS:
        if check.family in (None, facts.family):
            yield check.subject, check.judge(facts)


def list_versions(packages: tuple[str, ...]) -> str:
    """List the versions of packages that are installed."""
    return ", ".join(f"{package} {read_version(package)}" for package in packages)


def read_version(package: str) -> str:
    """Read the version of a package, without importing it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def report(target: Target, findings: dict[str, Finding]) -> Answer:
    """Answer the findings, for programs and for people."""
    counts = {verdict: sum(each.verdict == verdict for each in findings.values()) for verdict in ("problem", "warn")}
    summary = f"{count_words(counts['problem'], 'problem')}, {count_words(counts['warn'], 'warning')}."
    rows = tuple(Row(each.verdict, subject, each.value, each.advice) for subject, each in findings.items())
    document = {
        "database": target.shown,
        "ok": counts["problem"] == 0,
        "findings": [
            {"check": subject, "verdict": each.verdict, "value": each.value, "advice": each.advice}
            for subject, each in findings.items()
        ],
    }
    return Answer(document, Table(target.shown, rows, summary), FOUND if counts["problem"] else FINE)


def count_words(count: int, word: str) -> str:
    """Write a count with its word."""
    return f"{count or 'no'} {word}{'' if count == 1 else 's'}"
