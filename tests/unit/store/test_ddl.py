from __future__ import annotations

import pytest

from semel.errors import UsageError
from semel.store.ddl import find_checks, list_literals, lists_words, relax, relax_checks, rename_in
from semel.store.dialects import Family

TABLE = """CREATE TABLE "t" (
    a text DEFAULT 'CHECK (no)' CHECK (a IN ('x', 'it''s ) here')), -- CHECK (neither)
    "check" text /* CHECK (nor this) */ CHECK
    (length("check") > (1 + 1)), `b` text, [c d] int CHECK(b<>'x')
)"""


def test_checks_are_found_past_quotes_and_comments() -> None:
    """Parentheses are balanced, whatever stands in quotes; a column called check is no CHECK."""
    demands = [check.demand for check in find_checks(TABLE, "sqlite")]
    assert demands == ["a IN ('x', 'it''s ) here')", 'length("check") > (1 + 1)', "b<>'x'"]
    assert all(TABLE[check.start : check.end] == check.demand for check in find_checks(TABLE, "sqlite"))


def test_a_backslash_means_something_to_mariadb_only() -> None:
    """What stands in quotes ends elsewhere there."""
    line = r"`a` text CHECK (`a` in ('it\'s ) over','b')) COMMENT 'x'"
    (check,) = find_checks(line, "mariadb")
    assert check.demand == r"`a` in ('it\'s ) over','b')"
    assert list_literals(check.demand, "mariadb") == ("it's ) over", "b")
    assert list_literals(r"a = 'c:\' OR a = ''''", "sqlite") == ("c:\\", "'")


LISTING: dict[str, Family] = {
    "status IN ('a', 'b')": "sqlite",
    "\"status\" = 'a' OR status = 'b'": "sqlite",
    "`status` in ('a','b')": "mariadb",
    "STATUS in ('a')": "mariadb",
    "status = ANY (ARRAY['a'::text, 'b'::text])": "postgresql",
    "((status)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))": "postgresql",
    "(status)::character varying(10) = 'a'": "postgresql",
}
OTHERS = (
    "status <> 'a'",
    "status NOT IN ('a')",
    "length(status) > 0",
    "status <> ALL (ARRAY['a'::text])",
    "substatus IN ('a')",
    "other = 'status'",
    "status = upper(status)",
)


@pytest.mark.parametrize("demand", LISTING)
def test_a_list_of_words_is_recognised(demand: str) -> None:
    """In the form in which each database shows a CHECK; the list then has one word more, and only once."""
    family = LISTING[demand]
    assert lists_words(demand, "status", family)
    relaxed = relax(demand, "status", ("a", "new"), family)
    assert relaxed == f"({demand}) OR status IN ('new')"
    assert relax(relaxed, "status", ("a", "new"), family) == relaxed


@pytest.mark.parametrize("demand", OTHERS)
def test_what_is_no_list_is_left_alone(demand: str) -> None:
    """It demands something else, and a new status does not break it."""
    assert relax(demand, "status", ("new",), "postgresql") == demand


def test_only_the_columns_own_checks_are_relaxed() -> None:
    """The rest of the text stays as it is, letter by letter."""
    relaxed = relax_checks(TABLE, "a", ("y",), "sqlite")
    assert relaxed == TABLE.replace("a IN ('x', 'it''s ) here')", "(a IN ('x', 'it''s ) here')) OR a IN ('y')")


@pytest.mark.parametrize("name", ["t", '"t"', "[t]", "`t`", '"a ""b"""'])
def test_a_table_is_given_another_name(name: str) -> None:
    """However its own is written; what is no CREATE TABLE is refused."""
    assert rename_in(f"CREATE  TABLE {name}(a int)", '"new"') == 'CREATE TABLE "new"(a int)'
    with pytest.raises(UsageError, match="SEMEL-SQL-1"):
        rename_in("CREATE VIEW v AS SELECT 1", "x")
