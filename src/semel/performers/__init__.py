"""The performers: they answer the asks of a protocol for real."""
