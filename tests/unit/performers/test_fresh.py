from __future__ import annotations

import string

from semel.performers.fresh import fresh_id


def test_ids_are_new_short_and_roughly_ordered() -> None:
    """Thirty-two hexadecimal digits, the first twelve of them the time, so that an index grows at its end."""
    ids = [fresh_id() for _ in range(10_000)]
    assert len(set(ids)) == len(ids)
    assert all(len(each) == 32 and set(each) <= set(string.hexdigits.lower()) for each in ids)
    times = [int(each[:12], 16) for each in ids]
    assert times[0] <= times[-1]
    assert 1_700_000_000_000 < times[0] < 4_000_000_000_000
