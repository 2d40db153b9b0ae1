"""The storm: real processes that close, regenerate and pay at the same moments, and are killed while they do."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Self, TypeAlias

import sqlalchemy as sa
from sqlalchemy.orm import Session

from semel import Semel

from .database import open_sqlite
from .demo_actors import LEASE_SECONDS, Role, Side, run_actor
from .demo_damage import Damage, count_damage
from .demo_plan import PLACES, WEB_PLACES, WORKER_PLACES, Plan
from .models import ONE_LIVE_INVOICE, BillingPeriod, Invoice
from .stock import create_what_is_missing, today
from .working import LOOK_SECONDS

FOLDER = Path(".demo")

START_SECONDS = 60.0
"""How long the processes have to start, which is a second or two: where they need longer, nothing can be shown."""

RECOVERY_SECONDS = LEASE_SECONDS + LOOK_SECONDS + LEASE_SECONDS
"""How long a stranded row waits at most."""

SLACK_SECONDS = 5.0
"""What may be added for the worker to start, and for the courier, whose attempts have two leases."""

# A fork server has imported everything once, so a process that takes a dead one's place is there in a moment.
CAN_FORK = "forkserver" in multiprocessing.get_all_start_methods()
CONTEXT = multiprocessing.get_context("forkserver") if CAN_FORK else multiprocessing.get_context("spawn")

Watch: TypeAlias = Callable[[float], None]


@dataclass(frozen=True)
class Aftermath:
    """What a storm came to."""

    kills: int
    damage: Damage

    @property
    def is_right(self) -> bool:
        """Whether processes died, work was done, and nothing of it is wrong."""
        return self.kills > 0 and self.damage.did_something and self.damage.total == 0


def prepare_actors() -> None:
    """Let the fork server import everything while something else goes on."""
    if CAN_FORK:
        from multiprocessing import forkserver

        CONTEXT.set_forkserver_preload([run_actor.__module__])
        forkserver.ensure_running()


def run_storm(side: Side, plan: Plan, watch: Watch) -> Aftermath:
    """Let the storm rage over a new store, see to what is left of it, and count."""
    url = f"sqlite:///{(FOLDER / f'storm-{side}.db').absolute()}"
    with laid_out(side, url) as engine, Crowd(side, url, plan) as crowd:
        crowd.rage(watch)
        kills = crowd.kills
        if side == "semel":
            crowd.start(WORKER_PLACES[0])  # a worker; on the other side nobody comes to look
            wait_for_recovery(engine)
        return Aftermath(kills, count_damage(engine))


@contextmanager
def laid_out(side: Side, url: str) -> Iterator[sa.Engine]:
    """Lay out a new store. The index that would not let clones in is gone, on both sides: nothing is to help."""
    FOLDER.mkdir(exist_ok=True)
    for left in FOLDER.glob(f"storm-{side}.db*"):
        left.unlink()
    once = Semel(url)
    once.create_tables()
    once.close()
    engine = open_sqlite(url)
    try:
        with engine.connect() as connection:
            create_what_is_missing(connection)
        ONE_LIVE_INVOICE.drop(engine)
        with Session(engine.execution_options(writes=True)) as session, session.begin():
            bring_due(session)
        yield engine
    finally:
        engine.dispose()


def bring_due(session: Session) -> None:
    """Give the workers something to do: every fourth period is over, and its first invoice is overdue."""
    for period in session.scalars(sa.select(BillingPeriod).where(BillingPeriod.id % 4 == 0)):
        period.closes_on = today()
        first = Invoice.number == f"INV-{period.id}-1"
        for invoice in session.scalars(sa.select(Invoice).where(first)):
            invoice.due_on = today() - timedelta(days=1)


class Crowd:
    """The processes of one side."""

    def __init__(self, side: Side, url: str, plan: Plan) -> None:
        """Start nothing yet."""
        self.side = side
        self.url = url
        self.plan = plan
        self.began = 0.0
        self.kills = 0
        self.processes: dict[int, BaseProcess] = {}
        self.begins: dict[int, Connection] = {}

    def __enter__(self) -> Self:
        """Start everybody, and let the storm begin when all are ready."""
        self.start(*PLACES)
        for place in PLACES:
            if not self.begins[place].poll(START_SECONDS):
                raise TimeoutError(f"a process did not start within {START_SECONDS:g} s")
        self.began = time.monotonic()
        for place in PLACES:
            self.begins[place].send(self.began)
        return self

    def __exit__(self, *_: object) -> None:
        """End whoever is left."""
        self.end(*self.processes)

    def start(self, *places: int) -> None:
        """Start the processes of some places."""
        for place in places:
            role: Role = "web" if place in WEB_PLACES else "worker"
            self.begins[place], theirs = CONTEXT.Pipe()
            given = (self.side, role, self.url, self.plan, theirs)
            self.processes[place] = CONTEXT.Process(target=run_actor, args=given, daemon=True)
            self.processes[place].start()
            theirs.close()
            if self.began:
                self.begins[place].send(self.began)

    def end(self, *places: int) -> None:
        """End processes as a power cut would, all before any is waited for; one that has ended was not killed."""
        ending = [self.processes.pop(place) for place in places]
        for place in places:
            self.begins.pop(place).close()
        self.kills += sum(process.is_alive() for process in ending)
        for process in ending:
            process.kill()
        for process in ending:
            process.join()

    def rage(self, watch: Watch) -> None:
        """Kill processes and replace them, as planned; in the end all of them at once."""
        for cut in self.plan.cuts:
            wait_until(self.began + cut.at_seconds)
            self.end(*cut.places)
            self.start(*cut.places)
            watch(cut.at_seconds)
        wait_until(self.began + self.plan.end.at_seconds)
        self.end(*self.plan.end.places)
        watch(self.plan.seconds)


def wait_until(moment: float) -> None:
    """Wait for a moment of the monotonic clock."""
    threading.Event().wait(max(0.0, moment - time.monotonic()))


def wait_for_recovery(engine: sa.Engine) -> None:
    """Wait as long as a stranded row may, so that whatever is still to come has come; then for a slow machine."""
    recovered = time.monotonic() + RECOVERY_SECONDS
    wait_until(recovered)
    while time.monotonic() < recovered + SLACK_SECONDS and count_damage(engine).total:
        wait_until(time.monotonic() + LOOK_SECONDS / 4)
