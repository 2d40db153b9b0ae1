"""The page of errors, drawn from the table `semel.errors.TEXTS`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from string import Formatter

from semel.errors import TEXTS, SemelError, Text
from tools.pages._markdown import quote, write_table

INTRODUCTION = """# Errors

Every error that Semel raises has a stable code, one sentence on what happened, and what to do next. The error carries
them as `code`, `happened` and `remedy`. Losing a race is never an error: it is a value that the verb returns.

Words in *italics* stand for what the error names when it is raised.
"""


def render() -> str:
    """Draw the page: one chapter for each whose fault it can be, one row for each code."""
    chapters = (chapter for kind in SemelError.__subclasses__() for chapter in draw_chapter(kind))
    return "\n".join([INTRODUCTION, *chapters])


def draw_chapter(fault: type[SemelError]) -> Iterator[str]:
    """Draw the chapter of one fault; nothing, while no error is of that kind."""
    texts = {code: text for code, text in TEXTS.items() if issubclass(text.kind, fault)}
    if texts:
        yield f"## {fault.__name__}"
        yield ""
        yield read_promise(fault)
        yield ""
        yield from draw_kinds(fault, texts)
        yield from write_table(("code", "class", "what happened", "what to do"), map(draw_row, texts.items()))
        yield ""


def draw_kinds(fault: type[SemelError], texts: dict[str, Text]) -> Iterator[str]:
    """List the narrower classes of a fault, which a caller may want to catch."""
    kinds = list(dict.fromkeys(text.kind for text in texts.values() if text.kind is not fault))
    for kind in kinds:
        above = kind.__mro__[1].__name__
        yield f"- `{kind.__name__}` (a `{above}`): {read_promise(kind)}"
    if kinds:
        yield ""


def draw_row(item: tuple[str, Text]) -> tuple[str, str, str, str]:
    """Draw the row of one code, to which a link can point."""
    code, text = item
    return f'<a id="{code.lower()}"></a>`{code}`', f"`{text.kind.__name__}`", show(text.happened), show(text.remedy)


def show(template: str) -> str:
    """Show a text with the names of its facts in italics."""
    parts = list(Formatter().parse(template))
    if len(parts) == 1 and not parts[0][0]:
        return "It depends, and the error says it."
    return "".join(quote(words) + (f"*{quote(fact)}*" if fact else "") for words, fact, _, _ in parts)


def read_promise(kind: type[SemelError]) -> str:
    """Read the first paragraph of a class's docstring as one line."""
    paragraph = (inspect.getdoc(kind) or "").partition("\n\n")[0]
    return " ".join(paragraph.split())
