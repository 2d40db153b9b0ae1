"""One file per driver: how a statement's text travels, and what the driver knows about its connection."""
