from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from semel import Done, NotAllowed
from semel.keepers.duty import SWEEP_LIMIT
from semel.keepers.resumer import LONGEST_PAUSE_SECONDS, RESUMES_LIMIT
from tests.crash.life import DEAD, Life
from tests.crash.recovery import OVER_A_LEASE, recover, see
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.fixtures import OpenShop
from tests.shop.gate import Gate
from tests.shop.process import LEASE_SECONDS, Shop
from tests.shop.tables import Order, lay_orders, read_order


@pytest.fixture
def keeper(shop: Shop, open_shop: OpenShop) -> Shop:
    """A process whose keepers look when a test tells them to."""
    return open_shop(like=shop)


def strand(shop: Shop, row: int, step: str, told: dict[str, Any] | None = None) -> None:
    """Let a process die in the action of a claimed step."""
    doomed = Shop(shop.colour, shop.semel._setup.settings.url.render_as_string(hide_password=False), shop.stage, CLOCK)
    doomed.boot_like(shop)
    assert Life(doomed, place="begun").live(lambda: doomed.orders.advance(row, step, input=told or {})) is DEAD
