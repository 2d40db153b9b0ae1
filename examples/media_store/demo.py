"""The demo: a race for one purchase, and a storm over billing; each with code that looks and then writes, and with Semel."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from .demo_plan import make_plan
from .demo_report import write_report
from .demo_sides import CALLERS, run_both_sides
from .demo_storm import prepare_actors, run_storm
from .demo_storm_report import write_storm_report

Bar: TypeAlias = Callable[[str, float], Callable[[float], None]]


def run_demo(seed: int, seconds: float) -> int:
    """Run everything and print what came of it. Answer 1 when Semel's side is not as it promises."""
    prepare_actors()
    with show_progress() as bar:
        naive, ours = run_both_sides(bar("race: read, then write", CALLERS), bar("race: Semel", CALLERS))
    print(write_report(naive, ours))
    plan = make_plan(seed, seconds)
    with show_progress() as bar:
        stormed = run_storm("naive", plan, bar("storm: read, then write", seconds))
        survived = run_storm("semel", plan, bar("storm: Semel", seconds))
    print()
    print(write_storm_report(stormed, survived, plan))
    return 0 if ours.is_right and survived.is_right else 1


@contextmanager
def show_progress() -> Iterator[Bar]:
    """Show bars on a terminal; elsewhere show nothing."""
    if not sys.stdout.isatty():
        yield lambda _name, _total: lambda _done: None
        return
    from rich.progress import BarColumn, Progress, TextColumn

    with Progress(TextColumn("{task.description}"), BarColumn(), transient=True) as progress:

        def add_bar(name: str, total: float) -> Callable[[float], None]:
            task = progress.add_task(name, total=total)
            return lambda done: progress.update(task, completed=done)

        yield add_bar
