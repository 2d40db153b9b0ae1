"""The same verbs, awaited."""

import asyncio

from shop import Order, place_order

from semel import AsyncSemel


async def main() -> None:
    """Let twenty tasks pay one order."""
    order_id = place_order(total=999)
    async with AsyncSemel("sqlite:///shop.db") as once:
        orders = once.table(Order)
        outcomes = await asyncio.gather(*(orders.transition(order_id, "pending", to="paid") for _ in range(20)))
    print(sum(map(bool, outcomes)), "of", len(outcomes), "moved it")


asyncio.run(main())
