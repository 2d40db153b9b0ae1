"""Times and ages as people and programs read them. Everything in the tables is microseconds since 1970, UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

MICROSECONDS = 1_000_000

UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def show_time(at_us: int) -> str:
    """Write a time so that it sorts as text: 2026-11-25T10:00:00.123456Z."""
    return (EPOCH + timedelta(microseconds=at_us)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def count_seconds(since_us: int, now_us: int) -> float:
    """Answer an age in seconds, as a program reads it."""
    return round((now_us - since_us) / MICROSECONDS, 3)


def show_age(since_us: int, now_us: int) -> str:
    """Write an age in its two largest units: 2 h 5 min."""
    return show_span((now_us - since_us) / MICROSECONDS)


def show_span(seconds: float) -> str:
    """Write a span of time in its two largest units; what is shorter than a second is 0 s."""
    left = max(0, int(seconds))
    words: list[tuple[int, str]] = []
    for size, unit in UNITS:
        count, left = divmod(left, size)
        if count or words:
            words.append((count, unit))
    return " ".join(f"{count} {unit}" for count, unit in words[:2] if count) or "0 s"
