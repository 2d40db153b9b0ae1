"""`semel check`: workflow files, judged by the rules, and with an application by what it has registered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from semel.cli.answers import FINE, FOUND, Answer, answering
from semel.cli.naming import Named

if TYPE_CHECKING:
    from semel.app.registry import Registry
    from semel.app.setup import Setup
    from semel.workflow.load import Loaded
    from semel.workflow.model import Step, Workflow
    from semel.workflow.problem import Problem
    from semel.workflow.rules import Report

ENDS = {
    "revert": "is released within {wait:g} s",
    "resume": "is taken over and run again within {wait:g} s",
    "review": "is parked for a person within {wait:g} s",
}
"""What the keepers do with a stranded row, by the recovery of its claim."""


@click.command()
@click.argument("files", nargs=-1, metavar="[FILES]...")
# Only an app that is named here is asked: a file can be checked where the application cannot be imported.
@click.option("--app", metavar="MODULE:NAME", help="Your Semel: asks for its functions and janitors too.")
@answering
def check(files: tuple[str, ...], app: str | None) -> Answer:
    """Check workflow files: every rule, all problems at once.

    FILES are JSON or TOML files, or folders of them; without any, those that the app loads. Exit status 0: no problem was
    found; 1: some were; 2: the command is wrong. Rules that only an application can answer are listed as not checked.
    """
    from semel.workflow.load import load
    from semel.workflow.rules import check as check_rules

    setup = None if app is None else load_setup(app)
    sources: Any = list(files) or (setup.settings.workflows if setup is not None else None)
    if not sources:
        raise click.UsageError("Name the files to check, or an --app that loads some.")
    loaded = load(sources)
    registry = None if setup is None else setup.registry
    report = check_rules(loaded, registry)
    report = replace(report, problems=(*report.problems, *find_uncovered_claims(loaded, registry)))
    lease_seconds = None if setup is None else setup.settings.lease_seconds
    text = "\n".join(write_report(report, loaded, lease_seconds))
    return Answer(report.as_json(), text, FINE if report.ok else FOUND)


def load_setup(app: str) -> Setup:
    """Load an application, and import all that its boot would."""
    from semel.cli.application import import_modules, need_once

    _, once = need_once(Named(None, app, None, None), "it was named")
    setup: Setup = once._setup  # noqa: SLF001 - the command line is a composition root too
    import_modules(setup)
    return setup


def find_uncovered_claims(loaded: Loaded, registry: Registry | None) -> Iterator[Problem]:
    """Find claims that nobody looks after, as problems of their files. Without an application nobody can say."""
    from semel.workflow.coverage import Cover, find_uncovered
    from semel.workflow.problem import Problem

    if registry is None:
        return
    files = {workflow.name: workflow.file for workflow in loaded.workflows}
    covers = [Cover(module) for module in sorted(registry.janitors)]
    for uncovered in find_uncovered(loaded.workflows, covers):
        remedy = f"Add {uncovered.line} there, and name it in modules=[…] so that it is imported."
        yield Problem("coverage", files[uncovered.workflow], "$.owning_module", f"{uncovered} {remedy}")


def write_report(report: Report, loaded: Loaded, lease_seconds: float | None) -> Iterator[str]:
    """Write what was found for people: the problems, then how long a stranded row waits at worst."""
    yield from map(str, report.problems)
    if report.ok:
        yield from write_waits(loaded.workflows, lease_seconds)
    files = {declared.workflow.file for declared in loaded.declared} | {problem.file for problem in report.problems}
    yield f"{count_words(len(report.problems), 'problem')} in {count_words(len(files), 'file')}."
    if report.not_checked:
        yield f"Not checked without --app: {', '.join(report.not_checked)}."


def write_waits(workflows: Sequence[Workflow], lease_seconds: float | None) -> Iterator[str]:
    """Write for each claim what becomes of a row whose worker died, and when at the latest."""
    from semel.app.setup import LEASE_SECONDS
    from semel.keepers.rounds import SWEEP_SECONDS

    seen = set()
    for workflow in workflows:
        for step, status in list_claims(workflow):
            lease = step.lease_seconds or lease_seconds or LEASE_SECONDS
            # The lease must run out, a keeper must see it, and see the same heartbeat again a lease later.
            end = ENDS[step.recovery].format(wait=lease + SWEEP_SECONDS + lease)
            line = f"{workflow.name}: a row stranded in {status!r} {end} ({lease:g} + {SWEEP_SECONDS:g} + {lease:g})."
            if line not in seen:
                yield line
            seen.add(line)


def list_claims(workflow: Workflow) -> Iterator[tuple[Step, str]]:
    """List each step with each status that it claims into."""
    for step in workflow.steps:
        yield from ((step, status) for status in dict.fromkeys(claim.into for _, claim in step.claims))


def count_words(count: int, word: str) -> str:
    """Write a count with its word."""
    return f"{count or 'no'} {word}{'' if count == 1 else 's'}"
