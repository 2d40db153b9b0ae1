from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from semel.store import dialects
from tests.conformance.faces import COLOURS, Colour, Stage, open_stage
from tests.databases import FAMILIES
from tests.steps.workshop import STEPS, Workshop, Workshops, open_workshops


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """Where calls run, for the whole run."""
    with open_stage() as stage:
        yield stage


@pytest.fixture(scope="session")
def sqlite_workshops(sqlite_shelf: Any, tmp_path_factory: pytest.TempPathFactory, stage: Stage) -> Iterator[Workshops]:
    """Both workshops on SQLite."""
    with sqlite_shelf.lend(tmp_path_factory.mktemp("steps")) as database, open_workshops(database, stage) as both:
        yield both


@pytest.fixture(scope="session")
def postgresql_workshops(
    postgresql_shelf: Any, tmp_path_factory: pytest.TempPathFactory, stage: Stage
) -> Iterator[Workshops]:
    """Both workshops on PostgreSQL."""
    with postgresql_shelf.lend(tmp_path_factory.mktemp("steps")) as database, open_workshops(database, stage) as both:
        yield both


@pytest.fixture(scope="session")
def mariadb_workshops(
    mariadb_shelf: Any, tmp_path_factory: pytest.TempPathFactory, stage: Stage
) -> Iterator[Workshops]:
    """Both workshops on MariaDB."""
    with mariadb_shelf.lend(tmp_path_factory.mktemp("steps")) as database, open_workshops(database, stage) as both:
        yield both


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    """Which database a test is about."""
    found: str = request.param
    return found


@pytest.fixture(params=COLOURS)
def colour(request: pytest.FixtureRequest) -> Colour:
    """Whether a test runs on `Semel` or on `AsyncSemel`."""
    found: Colour = request.param
    return found


@pytest.fixture
def workshop(request: pytest.FixtureRequest, family: str, colour: Colour) -> Workshop:
    """A process on a database."""
    both: Workshops = request.getfixturevalue(f"{family}_workshops")
    return both[colour]


@pytest.fixture(params=STEPS)
def step_key(request: pytest.FixtureRequest) -> str:
    """A step with a claim, and one without."""
    found: str = request.param
    return found


@pytest.fixture
def short_lock_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a Semel that is made afterwards wait one second for a row: MariaDB counts in whole ones."""
    monkeypatch.setattr(dialects, "LOCK_WAIT_SECONDS", 1)
