from __future__ import annotations

import json
from typing import Any

import pytest

from semel import Done
from tests.crash.recovery import OVER_A_LEASE, see
from tests.crash.stranding import Wreck
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.fixtures import OpenShop
from tests.shop.flow import make_flow
from tests.shop.process import Shop
from tests.shop.tables import count_entries, lay_orders, lay_tables, read_order


class Versions:
    """Processes of two versions of one workflow file, on one database."""

    def __init__(self, database: Database, clock: VirtualClock, old: Shop, new: Shop) -> None:
        self.database = database
        self.clock = clock
        self.old = old
        self.new = new

    def strand(self, row: int, step: str, by: Shop) -> None:
        """Let a process of one version die in the action of a claimed step."""
        lay_orders(self.database, [row])
        Wreck(by, self.database, self.clock).strand(row, step)

    def keep(self, *keepers: Shop, leases: int = 3) -> None:
        """Let keepers look, a lease apart."""
        for _ in range(leases):
            self.clock.move(self.database, OVER_A_LEASE)
            for keeper in keepers:
                keeper.look("janitor")
                keeper.look("resumer")

    def read(self, row: int) -> tuple[str, int]:
        """Answer where a row is."""
        return read_order(self.database, row)


@pytest.fixture
def versions(database: Database, open_shop: OpenShop, clock: VirtualClock, request: pytest.FixtureRequest) -> Versions:
    """Both versions, booted; a test names by what their files differ: changes of the old one, changes of the new one."""
    lay_tables(database)
    old, new = (open_shop(workflows=flow) for flow in request.param)
    old.create_tables()
    old.boot()
    new.boot()
    return Versions(database, clock, old, new)


def differ(old: dict[str, Any], new: dict[str, Any]) -> pytest.MarkDecorator:
    """Let a test run on two versions."""
    return pytest.mark.parametrize("versions", [(make_flow(**old), make_flow(**new))], indirect=True, ids=["versions"])


@differ({}, {"pay": {"recovery": "resume"}})
def test_a_claim_that_was_to_be_released_is_released_by_the_version_that_would_run_it_again(versions: Versions) -> None:
    """The claim row says how it is recovered; the file of the keeper says how its own claims will be."""
    versions.strand(1, "pay", by=versions.old)
    versions.keep(versions.new)
    assert versions.read(1) == ("pending", 2)
    assert versions.new.ran == []


@differ({}, {"pay": {"recovery": "resume"}})
def test_a_claim_that_is_to_be_run_again_is_run_again_by_the_version_that_would_release_it(versions: Versions) -> None:
    """The new version's claim may have made calls by the time it died: releasing it would forget them."""
    versions.strand(1, "pay", by=versions.new)
    versions.keep(versions.old)
    assert versions.read(1) == ("paid", 3)
    assert [run.attempt for run in versions.old.ran] == [1]


@differ({}, {"pay": {"recovery": "review"}})
def test_no_version_touches_what_is_for_a_person(versions: Versions) -> None:
    """Neither the old janitor nor the new one moves a claim that was taken for review."""
    versions.strand(1, "pay", by=versions.new)
    versions.keep(versions.old, versions.new)
    assert versions.read(1) == ("paying", 1)


@differ({}, {"pay": {"recovery": "resume"}, "deliver": {"recovery": "revert"}})
def test_both_versions_side_by_side_recover_everything_once(versions: Versions, database: Database) -> None:
    """A rolling deployment: claims of both, keepers of both, each claim recovered in its own way."""
    old, new = versions.old, versions.new
    versions.strand(1, "pay", by=old)
    versions.strand(2, "pay", by=new)
    versions.strand(3, "deliver", by=old)
    versions.strand(4, "deliver", by=new)
    versions.keep(old, new, new, old)
    assert [versions.read(row) for row in (1, 2, 3, 4)] == [
        ("pending", 2),
        ("paid", 3),
        ("delivered", 3),
        ("pending", 2),
    ]
    assert sorted(run.row for run in (*old.ran, *new.ran)) == [2, 3]
    see(new, database)


@differ({}, {"deliver": {"step_key": "ship"}})
def test_a_renamed_step_is_left_to_those_who_know_it(versions: Versions, database: Database) -> None:
    """Who does not know what to run again leaves the claim alone, says so, and moves nothing back."""
    versions.strand(1, "deliver", by=versions.old)
    versions.strand(2, "ship", by=versions.new)
    versions.keep(versions.new)
    assert (versions.read(1), versions.read(2)) == (("delivering", 1), ("delivered", 3))
    versions.keep(versions.old)
    assert versions.read(1) == ("delivered", 3)
    assert count_entries(database) == {1: 1, 2: 1}


@differ({}, {"pay": {"step_key": "settle"}})
def test_a_renamed_step_is_released_by_everybody(versions: Versions) -> None:
    """Moving a row back needs nothing but its claim row, so the old name strands nothing."""
    versions.strand(1, "pay", by=versions.old)
    versions.keep(versions.new)
    assert versions.read(1) == ("pending", 2)
    assert versions.new.advance(1, "settle") == Done("paid")


@differ(
    {"inspect": {"recovery": "revert"}},
    {"inspect": {"recovery": "revert", "status": "paid", "successful_claim_state": ["inspecting", "paid"]}},
)
def test_a_claim_goes_back_to_where_it_came_from(versions: Versions) -> None:
    """The new file takes the step from another status and would release to it; the claim row knows better."""
    versions.strand(1, "inspect", by=versions.old)
    versions.keep(versions.new)
    assert versions.read(1) == ("pending", 2)


CHARGING = json.loads(json.dumps(make_flow()).replace('"paying"', '"charging"'))


@pytest.mark.parametrize("versions", [(make_flow(), CHARGING)], indirect=True, ids=["versions"])
def test_a_claim_status_that_the_new_file_does_not_know_strands_nothing(versions: Versions) -> None:
    """Rows that are in the old claim status are released from it, whatever the new one is."""
    versions.strand(1, "pay", by=versions.old)
    versions.keep(versions.new)
    assert versions.read(1) == ("pending", 2)


@differ({}, {"pay": {"lease_seconds": 3600.0}})
def test_a_lease_is_as_long_as_its_claim_says(versions: Versions) -> None:
    """A keeper whose own file has longer leases does not make the old claim's rows wait for them."""
    versions.strand(1, "pay", by=versions.old)
    versions.keep(versions.new, leases=2)
    assert versions.read(1) == ("pending", 2)
    versions.strand(2, "pay", by=versions.new)
    versions.keep(versions.old, leases=5)
    assert versions.read(2) == ("paying", 1)
