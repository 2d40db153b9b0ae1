"""What the demo prints: one sentence, a table, and how it was done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .demo_sides import CALLERS, CONNECTIONS, FILE, Side

HEADS = ("", "read, then write", "Semel")


def write_report(naive: Side, ours: Side) -> str:
    """Write everything out."""
    table = write_table(list_facts(naive, ours))
    return "\n".join([write_verdict(naive, ours), "", *table, "", *write_method(naive, ours)])


def write_verdict(naive: Side, ours: Side) -> str:
    """Write the one sentence that matters."""
    if not ours.is_right:
        return f"Semel's side is wrong: it charged {count(ours.charges)}, and not everything in the table agrees."
    if naive.charges > 1:
        return (
            f"{CALLERS} callers paid one purchase: read-then-write code charged it {naive.charges} times, Semel once."
        )
    return f"{CALLERS} callers paid one purchase: both charged it once, read-then-write code by luck. Run it again."


def count(times: int) -> str:
    """Write how often."""
    return "once" if times == 1 else f"{times} times"


def write_table(facts: Iterable[tuple[str, object, object]]) -> Iterator[str]:
    """Write both sides beside each other, a fact a line."""
    lines = [HEADS, *((name, str(left), str(right)) for name, left, right in facts)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for name, left, right in lines:
        yield f"{name:<{widths[0]}}  {left:>{widths[1]}}  {right:>{widths[2]}}"


def list_facts(naive: Side, ours: Side) -> Iterator[tuple[str, object, object]]:
    """List what can be compared."""
    yield "callers", CALLERS, CALLERS
    yield "charges made", naive.charges, ours.charges
    yield "told: it is paid (moved)", naive.moved, ours.moved
    yield "told: too late (missed)", naive.missed, ours.missed
    yield "told: an error", len(naive.problems), len(ours.problems)
    yield "final status", naive.status, ours.status
    yield "version", naive.version, ours.version
    yield "journal rows", naive.journal_rows, ours.journal_rows
    yield "seconds", f"{naive.answers.seconds:.2f}", f"{ours.answers.seconds:.2f}"


def write_method(naive: Side, ours: Side) -> Iterator[str]:
    """Write how it was done, and what went wrong if something did."""
    yield f"Both sides really ran: {CALLERS} threads that begin together, {CONNECTIONS} open connections, one SQLite file"
    yield f"({FILE}). Nothing is slowed down between the read and the write. A charge is a row of a table here."
    for problem in [*naive.problems, *ours.problems][:1]:
        yield f"The first error: {type(problem).__name__}: {problem}"
