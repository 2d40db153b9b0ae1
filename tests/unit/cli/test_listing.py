from __future__ import annotations

import pytest

from semel.cli.listing import Line, Listing, write_plain, write_rich
from semel.cli.times import count_seconds, show_age, show_span, show_time

ID = "01a1f5f99b27499fe9f48ef2694c2780"
LISTING = Listing(
    "Things", ("id", "why"), (Line((ID, "[b]it[/b] broke"), "Mend it."), Line(("2", ""))), "There are more."
)


def test_a_log_reads_aligned_lines() -> None:
    """Cells stand under their columns, advice below its line, the note at the end; nothing trails."""
    assert write_plain(LISTING) == (
        f"Things\n  id{' ' * 30}  why\n  {ID}  [b]it[/b] broke\n  -> Mend it.\n  2\nThere are more."
    )


def test_a_narrow_terminal_cuts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too long is folded, an id too, and what a row says is not taken for markup."""
    monkeypatch.setenv("COLUMNS", "40")
    drawn = "".join(sign for sign in write_rich(LISTING) if sign.isalnum() or sign in "[]/.")
    assert "…" not in write_rich(LISTING)
    assert "[b]" in drawn
    for part in (ID[:8], ID[-4:], "Mend"):
        assert part in drawn


def test_a_listing_without_lines_is_its_title() -> None:
    """A terminal gets no empty frame."""
    empty = Listing("Things", ("id",), (), "None are known.")
    assert write_plain(empty) == "Things\nNone are known."
    assert "Things" in write_rich(empty)


SPANS = {
    0: "0 s",
    0.9: "0 s",
    -5: "0 s",
    59: "59 s",
    60: "1 min",
    3_725: "1 h 2 min",
    86_400 * 3 + 5: "3 d",
    90_000: "1 d 1 h",
}


@pytest.mark.parametrize("seconds", SPANS)
def test_a_span_is_told_in_its_two_largest_units(seconds: float) -> None:
    """What is smaller is not worth reading, and a clock that ran back tells nothing."""
    assert show_span(seconds) == SPANS[seconds]


def test_times_are_utc_and_sort_as_text() -> None:
    """Microseconds since 1970, written out; an age for people and for programs."""
    assert show_time(1_795_000_000_000_001) == "2026-11-18T11:06:40.000001Z"
    assert show_age(0, 61_000_000) == "1 min 1 s"
    assert count_seconds(1, 1_500_001) == 1.5
