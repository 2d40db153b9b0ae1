"""What of the proxy can be driven by hand, without a server: the rest is proved in `tests/unit/test_proxy.py`."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from tests.proxy import Cut, Lose, Nth
from tests.proxy.faults import Plan
from tests.proxy.mariadb import MariadbConversation, hear_results


def test_a_queued_fault_counts_from_its_turn() -> None:
    """The second of two faults counts the requests after the first has fired."""
    plan = Plan()
    for fault in (faults := [Cut(Nth(2)), Lose(Nth(2))]):
        plan.add(fault)
    assert [plan.take_for(()) for _ in range(5)] == [None, faults[0], None, faults[1], None]


FINE, FINE_AND_MORE = b"\0\xfc\1\1\0\2\0\0\0", b"\0\1\0\x0a\0\0\0"
END, END_AND_MORE = b"\xfe\0\0\2\0", b"\xfe\0\0\x0a\0"
PREPARED_WITH_ONE_OF_EACH = b"\0" + struct.pack("<IHH", 7, 1, 1) + b"\0\0\0"


@pytest.mark.parametrize(
    ("answer", "packets"),
    [
        (hear_results(), [FINE_AND_MORE, b"\1", b"\3def", END, b"\xfe" + bytes(9), b"\1\x31", END_AND_MORE, FINE]),
        (hear_results(), [FINE_AND_MORE, b"\xff\x28\4#42000"]),
        (hear_results(), [b"\1", b"\3def", END, b"\1\x31", b"\xff\x28\4#42000"]),
        (MariadbConversation().hear_prepared(""), [PREPARED_WITH_ONE_OF_EACH, b"\3def", END, b"\3def", END]),
        (MariadbConversation().hear_prepared(""), [b"\xff\x28\4#42000"]),
    ],
)
def test_an_answer_of_mariadb_ends_with_its_last_packet(answer: Any, packets: list[bytes]) -> None:
    """Whatever else looks like an end or a beginning, only the last packet ends an answer."""
    next(answer)
    for packet in packets[:-1]:
        answer.send(packet)
    with pytest.raises(StopIteration):
        answer.send(packets[-1])
