"""The demo: 200 callers pay one purchase at once, first with code that reads and then writes, then with Semel."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .demo_race import Watch
from .demo_report import write_report
from .demo_sides import CALLERS, run_both_sides


def run_demo() -> int:
    """Run both sides and print what came of them. Answer 1 when Semel's is not as it promises."""
    with show_progress() as (watch_naive, watch_ours):
        naive, ours = run_both_sides(watch_naive, watch_ours)
    print(write_report(naive, ours))
    return 0 if ours.is_right else 1


@contextmanager
def show_progress() -> Iterator[tuple[Watch, Watch]]:
    """Show on a terminal how many callers have their answer; elsewhere show nothing."""
    if not sys.stdout.isatty():
        yield (lambda _told: None), (lambda _told: None)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), transient=True) as progress:
        naive = progress.add_task("read, then write", total=CALLERS)
        ours = progress.add_task("Semel", total=CALLERS)
        yield (
            lambda told: progress.update(naive, completed=told),
            lambda told: progress.update(ours, completed=told),
        )
