from __future__ import annotations

from tests.shop.fixtures import clock, colour, open_shop, shop, stage

__all__ = ["clock", "colour", "open_shop", "shop", "stage"]
