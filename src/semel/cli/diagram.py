"""`semel diagram`: a workflow, drawn from its own file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from semel.cli.answers import FOUND, Answer, answering
from semel.errors import error

if TYPE_CHECKING:
    from semel.workflow.load import Loaded


@click.command()
@click.argument("file")
@click.option(
    "--format",
    "form",
    type=click.Choice(["svg", "mermaid", "text"]),
    default="text",
    show_default=True,
    help="As what.",
)
@click.option("-o", "--output", metavar="OUT", help="Write it to this file instead of printing it.")
@answering
def diagram(file: str, form: str, output: str | None) -> Answer:
    """Draw a workflow file as text, SVG or mermaid.

    Claims are dashed, terminal statuses doubled. A file whose rules are broken is drawn too, so that a mistake can be seen;
    one that cannot be read is not (exit status 1).
    """
    from semel.workflow.draw import draw
    from semel.workflow.load import load

    loaded = load(file)
    if loaded.problems or len(loaded.declared) != 1:
        return refuse(loaded, file)
    workflow = loaded.declared[0].workflow
    drawn = draw(workflow, form)
    document = {"workflow": workflow.name, "format": form}
    if output is None:
        return Answer({**document, "drawing": drawn}, drawn.rstrip("\n"))
    write_file(output, drawn)
    return Answer({**document, "file": output}, f"Wrote {output}.")


def refuse(loaded: Loaded, file: str) -> Answer:
    """Say why there is nothing to draw."""
    from dataclasses import asdict

    if not loaded.problems:
        raise click.UsageError(f"{file} holds {len(loaded.declared)} workflows; name one file.")
    problems = [asdict(problem) for problem in loaded.problems]
    return Answer({"ok": False, "problems": problems}, "\n".join(map(str, loaded.problems)), FOUND)


def write_file(name: str, text: str) -> None:
    """Write a file, or say why it cannot be written."""
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise error("SEMEL-CLI-5", file=name, reason=problem.strerror or type(problem).__name__) from None
