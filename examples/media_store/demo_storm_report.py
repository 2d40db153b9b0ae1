"""What the demo prints about the storm: one sentence, a table, and how it was done."""

from __future__ import annotations

from collections.abc import Iterator

from .demo_plan import Plan
from .demo_report import write_table
from .demo_storm import FOLDER, Aftermath

METHOD = (
    "Both sides really ran: 4 web processes in which each button is pressed at the same moment, 2 workers, SIGKILL for any",
    f"of them, and a new process in its place; one SQLite file a side ({FOLDER}/storm-*.db). The index that allows one live",
    "invoice of a number was dropped on both. Seed {seed} draws presses and kills: python -m media_store demo --seed 2",
)


def write_storm_report(naive: Aftermath, ours: Aftermath, plan: Plan) -> str:
    """Write everything out."""
    table = write_table(list_facts(naive, ours, plan))
    method = (line.format(seed=plan.seed) for line in METHOD)
    return "\n".join([write_verdict(naive, ours), "", *table, "", *method])


def write_verdict(naive: Aftermath, ours: Aftermath) -> str:
    """Write the one sentence that matters."""
    killed = f"{ours.kills} processes were killed while they closed, regenerated and took payments"
    if ours.damage.total:
        return f"Semel's side is wrong: {killed}, and {ours.damage.total} things are wrong after it."
    if not ours.is_right:
        return f"Semel's side shows nothing: {killed}, and not everything was done once. Let it last longer: --seconds."
    if naive.damage.total:
        return f"{killed}: read-then-write code got {naive.damage.total} things wrong, Semel none."
    return f"{killed}: nothing is wrong on either side, read-then-write code by luck. Try another --seed."


def list_facts(naive: Aftermath, ours: Aftermath, plan: Plan) -> Iterator[tuple[str, object, object]]:
    """List what was done, then what was done wrong."""
    left, right = naive.damage, ours.damage
    yield "buttons pressed, by 4 people each", len(plan.presses), len(plan.presses)
    yield "processes killed", naive.kills, ours.kills
    yield "periods closed", left.closed, right.closed
    yield "invoices regenerated", left.regenerated, right.regenerated
    yield "payments taken", left.payments, right.payments
    yield "stranded rows, freed by the janitor", "-", right.released
    yield "wrong: clones of an invoice", left.clones, right.clones
    yield "wrong: invoices paid too much for", left.double_credits, right.double_credits
    yield "wrong: e-mails missing", left.mails_missing, right.mails_missing
    yield "wrong: e-mails sent again", left.mails_twice, right.mails_twice
    yield "wrong: rows stuck for ever", left.stuck, right.stuck
