"""Fifty callers, one order: one of them moves it."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from shop import orders, place_order

order_id = place_order(total=999)


def pay(_caller: int) -> str:
    """Try to pay; answer what this caller is told."""
    moved = orders.transition(order_id, "pending", to="paid", by="customer")
    return "paid" if moved else f"too late, it is {moved.now}"


with ThreadPoolExecutor(max_workers=50) as callers:
    told = Counter(callers.map(pay, range(50)))

for answer, count in told.most_common():
    print(count, answer)
