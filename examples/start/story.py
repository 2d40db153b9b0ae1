"""The journal is a table: who moved which row, from where to where, when."""

from shop import engine, orders, place_order
from sqlalchemy import text

order_id = place_order(total=999)
orders.transition(order_id, "pending", to="paid", by="customer")
orders.transition(order_id, "pending", to="paid", by="customer")
orders.transition(order_id, "paid", to="cancelled", by="admin")

query = text("""
    SELECT version, from_status, to_status, requester FROM semel_journal
    WHERE entity = 'orders' AND row_id = :row ORDER BY version
""")
with engine.connect() as connection:
    for move in connection.execute(query, {"row": str(order_id)}):
        print(*move)
