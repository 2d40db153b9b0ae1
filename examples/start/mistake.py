"""Losing a race is a value. A mistake is an error, and it says what to do next."""

from shop import orders, place_order

from semel import UsageError

order_id = place_order(total=999)

for row, guard in ((order_id, {"totl": 999}), (1_000_000, {})):
    try:
        orders.transition(row, "pending", to="paid", where=guard)
    except UsageError as problem:
        print(problem)
