"""The scenarios that ship with Semel: its own protocols, in small worlds."""
