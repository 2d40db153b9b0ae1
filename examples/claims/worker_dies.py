"""A worker is killed in the middle of its action; a keeper frees the row, and the next try closes the period."""

import subprocess
import sys
from threading import Event

from billing import BillingPeriod, engine, once, open_period, periods, show
from sqlalchemy import text

from semel import Busy, Step

IS_WORKER = len(sys.argv) > 1


@once.action("CloseBilling")
def close_billing(step: Step[BillingPeriod]) -> None:
    """Write a total. The worker comes no further than that."""
    step.session.get_one(BillingPeriod, step.id).total_minor = 1498
    step.session.flush()
    if IS_WORKER:
        print("written, not finished", flush=True)
        sys.stdin.read()  # until it is killed


def let_a_worker_die(period_id: int) -> None:
    """Start a process that takes the step, and kill it while its action runs."""
    command = [sys.executable, __file__, str(period_id)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:  # noqa: S603 - this file
        assert worker.stdout, "it was asked for"
        print("worker:", worker.stdout.readline().strip())
        worker.kill()


def tell_story(period_id: int) -> None:
    """Print who moved the row."""
    query = text("SELECT version, kind, to_status, requester FROM semel_journal WHERE row_id = :row ORDER BY version")
    with engine.connect() as connection:
        for move in connection.execute(query, {"row": str(period_id)}):
            print(*move)


if IS_WORKER:
    periods.advance(int(sys.argv[1]), "close", by="admin")

period_id = open_period(999, 499)
let_a_worker_die(period_id)
print("killed:", show(period_id))
print("at once:", periods.advance(period_id, "close", by="admin"))

keepers = once.rounds(sweep_seconds=0.2)
keepers.start()
while isinstance(outcome := periods.advance(period_id, "close", by="admin"), Busy):
    Event().wait(0.1)
keepers.stop()
print("later:", outcome)
tell_story(period_id)
