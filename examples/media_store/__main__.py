"""The store's commands: `python -m media_store serve | worker | demo`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import click

from .settings import LEASE_SECONDS, Settings

PORT = 8000

SEED = 1

STORM_SECONDS = 6.0
"""How long the demo's storm lasts on each side: a few dozen deaths, and nobody gets up meanwhile."""

TEXTS = {
    "gateway": "Stripe, or the simulator. Not asked yet: nothing is charged outside so far.",
    "artifacts": "Where artifacts are kept. Not used yet: nothing is rendered so far.",
    "lease": "How long a claim lives without a heartbeat, for every step.",
}


@click.group()
def main() -> None:
    """The digital media store that every protocol of Semel is shown in."""


def with_settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that the server and the worker share."""
    options = (
        click.option("--db", required=True, metavar="URL", help="sqlite:///…, postgresql://… or mariadb://…"),
        click.option("--gateway", metavar="URL", help=TEXTS["gateway"]),
        click.option("--artifacts", metavar="URL", help=TEXTS["artifacts"]),
        click.option("--lease-seconds", default=LEASE_SECONDS, type=click.FloatRange(min=0.1), help=TEXTS["lease"]),
    )
    for option in reversed(options):
        command = option(command)
    return command


@main.command()
@with_settings
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=PORT, show_default=True, type=click.IntRange(0, 65535), help="0: any free one.")
def serve(host: str, port: int, **given: Any) -> None:
    """Answer HTTP. Creates what is missing; any number may run on one database, and each may be killed at any time."""
    import uvicorn

    from .app import make_app

    uvicorn.run(make_app(Settings(**given)), host=host, port=port)


@main.command()
@with_settings
def worker(**given: Any) -> None:
    """Run keepers, and what is due, until SIGTERM. Creates what is missing; any number may run, and each may be killed."""
    import logging

    from .working import run_worker

    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
    asyncio.run(run_worker(Settings(**given)))


@main.command()
@click.option("--seed", default=SEED, show_default=True, help="Draws the storm; the same seed draws the same one.")
@click.option(
    "--seconds", default=STORM_SECONDS, show_default=True, type=click.FloatRange(1, 600), help="Of each storm."
)
def demo(seed: int, seconds: float) -> None:
    """Let 200 callers pay one purchase, then kill processes while they bill: with naive code, and with Semel."""
    from .demo import run_demo

    sys.exit(run_demo(seed, seconds))


if __name__ == "__main__":
    main(prog_name=f"python -m {__package__}")
