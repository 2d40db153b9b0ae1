"""A transition happens once; the second try is told so."""

from shop import orders, place_order

order_id = place_order(total=999)

print(orders.transition(order_id, "pending", to="paid"))
print(orders.transition(order_id, "pending", to="paid"))
