"""Bounded duties that see to it that nothing stays stranded: each finds, runs one protocol, and reports."""
