"""Boot's own questions to the driver that verbs will use.

The crash argument: nothing here changes a row; the one UPDATE writes the value that is there.
"""

from __future__ import annotations

from semel.asks import Asking, Execute
from semel.errors import error
from semel.store.meta import Meta


def check_counting(meta: Meta, driver: str) -> Asking[None]:
    """Refuse a driver that does not count matched rows: every guard of Semel is a count of 0 or 1."""
    for statement, expected in ((meta.touch_installation, 1), (meta.touch_nobody, 0)):
        counted = yield Execute(statement, {})
        if counted != expected:
            raise error("SEMEL-DB-5", driver=driver, counted=counted, expected=expected)
