"""Names and words of the user's inside SQL that is printed and never run: quoted by the dialect's own rules, or refused."""

from __future__ import annotations

from semel.errors import error
from semel.store.dialects import FAMILIES, Family, make_dialect

NAME_CHARACTERS = 63
"""How long a name may be in every database; MariaDB would take one more."""


def quote_name(name: str, family: Family) -> str:
    """Write a name, in quotes where the dialect needs them."""
    if not 0 < len(name) <= NAME_CHARACTERS:
        raise error("SEMEL-SQL-1", text=name, reason=f"a name has 1 to {NAME_CHARACTERS} characters")
    refuse_odd(name, "%")
    return make_dialect(FAMILIES[family].sync_driver).identifier_preparer.quote(name)


def quote_table(name: str, schema: str | None, family: Family) -> str:
    """Write a table's name, with its schema if it has one."""
    own = quote_name(name, family)
    return own if schema is None else f"{quote_name(schema, family)}.{own}"


def quote_word(word: str) -> str:
    """Write a word as a literal."""
    # What a backslash means inside quotes depends on the server's settings, and dollars may end a PostgreSQL function.
    refuse_odd(word, "\\", "$")
    return "'" + word.replace("'", "''") + "'"


def quote_words(words: tuple[str, ...]) -> str:
    """Write several words as literals, separated by commas."""
    return ", ".join(map(quote_word, words))


def refuse_odd(text: str, *signs: str) -> None:
    """Refuse what nobody sees, and signs that mean something else in some database."""
    if not text.isprintable() or any(sign in text for sign in signs):
        told = " or ".join(signs)
        raise error("SEMEL-SQL-1", text=text, reason=f"it holds {told} or an invisible character")
