"""Conditions beside the status: several sources, columns of the row, many rows at once."""

from shop import orders, place_order

order_id = place_order(total=999)

print(orders.transition(order_id, "pending", to="paid", total=500))
print(orders.transition(order_id, ["pending", "paid"], to="cancelled", by="admin", total=999))

ids = [place_order(total=100), order_id, place_order(total=200)]
print([bool(each) for each in orders.transition_many(ids, "pending", to="cancelled").values()])
