"""Statements over the facts of this installation."""

from __future__ import annotations

from functools import cached_property

import sqlalchemy as sa

from semel.store.ground import Ground
from semel.store.statements import Statement, text_constant


class Meta:
    """Statements over Semel's table of facts."""

    def __init__(self, ground: Ground) -> None:
        """Build nothing yet."""
        self.ground = ground

    @cached_property
    def touch_installation(self) -> Statement:
        """Write the value that is there, to a row that exists: matched once, changed never."""
        return self._touch("touch_installation", "installation")

    @cached_property
    def touch_nobody(self) -> Statement:
        """Write to a row that does not exist."""
        return self._touch("touch_nobody", "nobody")

    def _touch(self, name: str, row: str) -> Statement:
        meta = self.ground.tables.meta
        return Statement(
            name, sa.update(meta).values(value=meta.c.value).where(meta.c.name == text_constant(row)), writes=True
        )
