"""`semel worker`: a process of keepers."""

from __future__ import annotations

import json
import logging
import sys
from functools import partial

import click

from semel.cli.answers import FOUND, MISUSED, Answer, print_answer, tell_problem
from semel.cli.naming import Named
from semel.cli.options import APP_HELP
from semel.errors import SemelError, StoreError


@click.command()
@click.option("--app", metavar="MODULE:NAME", help=APP_HELP)
@click.option(
    "--sweep-seconds",
    type=click.FloatRange(min=0.01, max=3600),
    default=5.0,
    show_default=True,
    help="How often each keeper looks.",
)
@click.option("--json", "as_json", is_flag=True, help="Say that it started, or why not, as one JSON document.")
def worker(app: str | None, sweep_seconds: float, *, as_json: bool) -> None:
    """Run the keepers of an application until SIGTERM or SIGINT.

    Any number of workers on any number of machines share one database. It prints one line once it has booted, and logs to
    standard error. Exit status 0: it was stopped, after every look had ended; 1: the database could not be reached at boot;
    2: the application refuses to boot.
    """
    from semel.cli.application import import_modules, need_once
    from semel.worker import work

    try:
        name, once = need_once(Named(None, app, None, None), "its keepers are to be run")
        import_modules(once._setup)  # noqa: SLF001 - the command line is a composition root too
        log_to_stderr()
        work(once, sweep_seconds=sweep_seconds, started=partial(tell_started, name, sweep_seconds, as_json=as_json))
    except SemelError as problem:
        refused = tell_problem(problem)
        if as_json:
            print_answer(refused, as_json=True)
        # What a database could not do now, it may do when the worker is started again; anything else stays wrong.
        raise click.exceptions.Exit(FOUND if isinstance(problem, StoreError) else MISUSED) from None


def tell_started(name: str, sweep_seconds: float, *, as_json: bool) -> None:
    """Say that the keepers run: whoever started the process waits for this line."""
    document = {"started": True, "app": name, "sweep_seconds": sweep_seconds}
    line = json.dumps(document) if as_json else f"started: the keepers of {name}, looking every {sweep_seconds:g} s"
    print_answer(Answer(document, line), as_json=False)
    sys.stdout.flush()


def log_to_stderr() -> None:
    """Log what keepers do, unless the application has set up logging of its own."""
    logger = logging.getLogger("semel")
    if not logger.hasHandlers():
        logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
        logger.setLevel(logging.INFO)
