"""`semel prove`: kill it everywhere, in every order, and see it converge."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from semel.cli.answers import FINE, FOUND, Answer, answering

if TYPE_CHECKING:
    from semel.testing.prove.budgets import Budgets
    from semel.testing.prove.proving import Killing, Proof
    from semel.testing.prove.scenario import Scenario
    from semel.testing.prove.search import Tally

UNREPEATABLE = 3
"""The exit status for an actor that cannot be repeated, so cannot be proven."""


@click.command()
@click.argument("place", required=False, metavar="[PATH[:SCENARIO]]")
@click.option("--crashes", type=click.IntRange(0, 4), default=2, show_default=True, help="Deaths in one history.")
@click.option("--unknown", type=click.IntRange(0, 3), default=1, show_default=True, help="Answers lost in one history.")
@click.option("--clock", type=click.IntRange(0, 3), default=1, show_default=True, help="Jumps of the database's clock.")
@click.option("--late", type=click.IntRange(0, 3), default=1, show_default=True, help="Lost commits that arrive late.")
@click.option("--mutants", is_flag=True, help="Break the protocols on purpose, and see each be noticed.")
@click.option("--certificate", type=click.Path(dir_okay=False, path_type=Path), help="Write what was proven to a file.")
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Write the story as a file that runs it.")
@answering
def prove(place: str | None, *, mutants: bool, certificate: Path | None, save: Path | None, **budgets: int) -> Answer:
    """Kill every actor at every boundary, in every order, and see that everything converges.

    PATH is a file with scenarios, and SCENARIO one of them; without either, those that ship with Semel. Exit status 0: all
    of it is proven; 1: there is a story that must not be, or not everything was seen; 2: the command is wrong; 3: an actor
    does something else each time, so that nothing can be proven about it.
    """
    from semel.testing.prove.budgets import Budgets
    from semel.testing.prove.positions import NondeterminismError
    from semel.testing.prove.report import as_json

    proofs: list[Proof] = []
    killings: list[Killing] = []
    try:
        if mutants:
            killings = kill_mutants(place)
        else:
            proofs = prove_scenarios(place, Budgets(**budgets))
    except NondeterminismError as problem:
        click.echo(str(problem), err=True)
        return Answer({"nondeterminism": str(problem), "actor": problem.actor}, "", UNREPEATABLE)
    document = as_json(proofs, killings)
    if certificate is not None:
        write_certificate(certificate, document)
    if save is not None:
        save_stories(save, place, proofs)
    is_fine = all(proof.is_proven for proof in proofs) and all(killing.is_well for killing in killings)
    return Answer(document, "\n".join(write_all(proofs, killings)), FINE if is_fine else FOUND)


def prove_scenarios(place: str | None, budgets: Budgets) -> list[Proof]:
    """Prove every scenario that was named."""
    from semel.testing.prove.loading import find_scenarios
    from semel.testing.prove.proving import prove as prove_one

    proofs = []
    for each in find_scenarios(place):
        scenario: Scenario = each()
        with showing_progress(scenario.name) as progress:
            proofs.append(prove_one(scenario, budgets, progress))
    return proofs


def kill_mutants(place: str | None) -> list[Killing]:
    """Let every mutant be noticed, or those of one name."""
    from semel.testing.prove.mutants import MUTANTS
    from semel.testing.prove.proving import kill

    wanted = (place or "").removeprefix(":")
    chosen = [mutant for mutant in MUTANTS if wanted in mutant.name]
    if not chosen:
        raise click.UsageError(f"There is no mutant with {wanted!r} in its name.")
    killings = []
    for mutant in chosen:
        with showing_progress(mutant.name) as progress:
            killings.append(kill(mutant, progress))
    return killings


def write_all(proofs: list[Proof], killings: list[Killing]) -> Iterator[str]:
    """Write everything for people."""
    from semel.testing.prove.report import write_killing, write_proof

    for proof in proofs:
        yield from write_proof(proof)
    for killing in killings:
        yield from write_killing(killing)
    if proofs:
        yield f"{sum(proof.is_proven for proof in proofs)} of {len(proofs)} scenarios are proven."
    if killings:
        yield f"{sum(killing.is_well for killing in killings)} of {len(killings)} mutants were noticed."


def write_certificate(file: Path, document: dict[str, Any]) -> None:
    """Write what was proven, by which version."""
    from importlib.metadata import version

    facts = {"semel": version("semel"), "python": sys.version.split()[0], **document}
    file.write_text(json.dumps(facts, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def save_stories(file: Path, place: str | None, proofs: list[Proof]) -> None:
    """Write the first story as a file that runs it again."""
    from semel.testing.prove.replaying import write_story_file

    told = next((proof for proof in proofs if proof.story is not None), None)
    if told is not None:
        file.write_text(write_story_file(place, told), encoding="utf-8")


@contextmanager
def showing_progress(name: str) -> Iterator[Callable[[Tally], None] | None]:
    """Show on a terminal how far a search is."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name)

        def show(tally: Tally) -> None:
            words = f"{name}: {tally.states:,} states, {tally.transitions:,} transitions, {tally.endings:,} endings"
            bar.update(task, description=words)

        yield show
