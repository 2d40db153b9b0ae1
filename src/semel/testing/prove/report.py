"""The report: what was explored, what was seen, and the story of what went wrong, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from semel.testing.prove.proving import Killing, Proof

TIER = 1


def proof_as_json(proof: Proof) -> dict[str, Any]:
    """Answer what a search came to, for programs."""
    tally = proof.tally
    return {
        "name": proof.scenario,
        "tier": TIER,
        "actors": len(proof.actors),
        "boundaries": dict(zip(proof.actors, tally.longest.values(), strict=False)),
        "states": tally.states,
        "transitions": tally.transitions,
        "carried_out": tally.carried,
        "schedules": tally.schedules,
        "seconds": round(tally.seconds, 3),
        "budgets": list(proof.budgets.left),
        "complete": proof.is_proven,
        "violations": [] if proof.story is None else [story_as_json(proof)],
        "never_seen": list(proof.never_seen),
    }


def story_as_json(proof: Proof) -> dict[str, Any]:
    """Answer a story for programs."""
    story = proof.story
    assert story is not None, "only a violation has a story"
    lines = [
        {"who": line.who, "what": line.what, "change": line.change, "matters": line.matters} for line in story.lines
    ]
    return {"invariant": story.invariant, "words": story.words, "trace_steps": story.steps, "story": lines}


def killing_as_json(killing: Killing) -> dict[str, Any]:
    """Answer what became of a mutant, for programs."""
    story = killing.proof.story
    return {
        "name": killing.mutant.name,
        "protocol": killing.mutant.protocol,
        "scenario": killing.proof.scenario,
        "killed": killing.is_killed,
        "tier": killing.mutant.tier,
        "trace_steps": None if story is None else story.steps,
        "invariant": None if story is None else story.invariant,
        "seconds": round(killing.proof.tally.seconds, 3),
        "equivalent_because": killing.mutant.equivalent_because,
    }


def write_proof(proof: Proof) -> Iterator[str]:
    """Write what a search came to, for people."""
    tally = proof.tally
    rate = tally.transitions / tally.seconds if tally.seconds else 0
    verdict = "proven" if proof.is_proven else "VIOLATED" if proof.story else "not complete"
    yield f"{proof.scenario}: {verdict}"
    passed = ", ".join(f"{name} {count}" for name, count in zip(proof.actors, tally.longest.values(), strict=False))
    yield f"  actors and the boundaries each passes: {passed}"
    yield (
        f"  {tally.states:,} states, {tally.transitions:,} transitions ({tally.carried:,} carried out, the others known"
        f" from them), {tally.schedules:,} schedules, {tally.seconds:.1f} s, {rate:,.0f} transitions/s"
    )
    crashes, unknown, clock, late = proof.budgets.left
    yield f"  every history with up to {crashes} crashes, {unknown} unknown outcomes, {clock} clock jumps, {late} late arrivals"
    yield from write_boundaries(proof)
    if proof.story is not None:
        yield ""
        yield proof.story.text()
    elif proof.never_seen:
        yield f"  never seen: {', '.join(proof.never_seen)}"


def write_boundaries(proof: Proof) -> Iterator[str]:
    """Write what befell whom where."""
    for (who, boundary), kinds in sorted(proof.tally.boundaries.items()):
        faults = ", ".join(sorted(kinds - {"step"}))
        yield f"    {proof.actors[who]}: {boundary.replace('_', ' ')}: {faults or 'no fault'}"


def write_killing(killing: Killing) -> Iterator[str]:
    """Write what became of a mutant, for people."""
    mutant, story = killing.mutant, killing.proof.story
    if story is not None:
        yield f"killed  {mutant.name} ({mutant.protocol}): {story.invariant}, {story.steps} steps"
        yield from (f"    {line}" for line in story.text().splitlines())
    elif mutant.equivalent_because is not None:
        yield f"equal   {mutant.name} ({mutant.protocol}): {mutant.equivalent_because}"
    else:
        yield f"ALIVE   {mutant.name} ({mutant.protocol}): {killing.proof.scenario} did not notice"


def as_json(proofs: Sequence[Proof], killings: Sequence[Killing]) -> dict[str, Any]:
    """Answer everything for programs."""
    return {
        "scenarios": [proof_as_json(proof) for proof in proofs],
        "mutants": [killing_as_json(killing) for killing in killings],
    }
