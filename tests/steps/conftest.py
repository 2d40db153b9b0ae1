from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.conformance.faces import COLOURS, Colour, Stage, open_stage
from tests.databases import FAMILIES, Database
from tests.steps.workshop import STEPS, Workshop, lay_database, open_workshop


class Street:
    """The workshops that are open: two on each database that a test has asked for."""

    def __init__(self, request: pytest.FixtureRequest, folders: pytest.TempPathFactory, stage: Stage) -> None:
        self.request = request
        self.folders = folders
        self.stage = stage
        self.ends = ExitStack()
        self.open: dict[tuple[str, Colour], Workshop] = {}

    def find(self, family: str, colour: Colour) -> Workshop:
        """Answer a workshop, opening both of its database first."""
        if (family, colour) not in self.open:
            shelf: Any = self.request.getfixturevalue(f"{family}_shelf")
            database: Database = self.ends.enter_context(shelf.lend(self.folders.mktemp("steps")))
            ids = lay_database(database)
            for each in COLOURS:
                self.open[family, each] = open_workshop(database, each, self.stage, ids)
        return self.open[family, colour]

    def close(self) -> None:
        """Close every workshop, then every database."""
        for workshop in self.open.values():
            self.stage.wait(workshop.semel.close)
        self.ends.close()


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """Where calls run, for the whole run."""
    with open_stage() as stage:
        yield stage


@pytest.fixture(scope="session")
def street(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, stage: Stage) -> Iterator[Street]:
    """The workshops of the whole run."""
    street = Street(request, tmp_path_factory, stage)
    yield street
    street.close()


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
def workshop(street: Street, family: str, colour: Colour) -> Workshop:
    """A process on a database."""
    return street.find(family, colour)


@pytest.fixture(params=STEPS)
def step_key(request: pytest.FixtureRequest) -> str:
    """A step with a claim, and one without."""
    found: str = request.param
    return found
