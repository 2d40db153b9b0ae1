"""Check the rules of this house, and print every offence at once: python -m tools.house."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from tools.project import Problem, Project, report
from tools.rules import calls, make, names, public, purity, sizes, tests, words

Check: TypeAlias = Callable[[Project], Iterable[Problem]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its name, why we have it, and how a machine sees an offence."""

    name: str
    why: str
    check: Check


RULES = (
    Rule("files_parse", "What does not parse is not checked by any other rule.", lambda project: project.broken),
    Rule("file_length", "A file is read in one sitting.", sizes.find_long_files),
    Rule("function_length", "A function is seen on one screen.", sizes.find_long_functions),
    Rule("module_names", "A module named like a drawer gets filled like one.", names.find_drawers),
    Rule("empty_names", "A name that fits anything must be looked up each time.", names.find_empty_names),
    Rule("waits_are_asks", "A test cannot move a real wait, nor a stop interrupt it.", calls.find_sleeps),
    Rule("no_skips", "A skipped test looks green; where services were promised it must fail.", calls.find_skips),
    Rule("hollow_asserts", "An assertion that cannot fail proves nothing.", calls.find_hollow_asserts),
    Rule("swallowed_errors", "What disappears here comes back as money that does not add up.", calls.find_swallowed),
    Rule("bare_ignores", "A check switched off without a reason stays off.", calls.find_bare_ignores),
    Rule("data_as_code", "Stored data must not be able to run.", calls.find_unsafe),
    Rule("decisions_ask", "A decision that reads a clock or draws a number cannot be replayed.", purity.find_readings),
    Rule("protocols_are_pure", "What a protocol reaches by itself, `prove` cannot kill there.", purity.find_outside),
    Rule("crash_argument", "Who changes a protocol must see which deaths it survives.", purity.find_unargued),
    Rule(
        "sql_in_one_room", "Money code is reviewed by reading its SQL, whole and in one place.", purity.find_built_sql
    ),
    Rule("finished_rooms", "A room whose parentheses stay may vanish unnoticed.", purity.find_finished_rooms),
    Rule("tests_speak", "The docstring decides whether a test still proves what it should.", tests.find_silent_tests),
    Rule("tests_do_not_sleep", "A sleep is too short on a slow machine, too long elsewhere.", tests.find_waiting_tests),
    Rule("public_names", "A name to import is a promise, and promises are few and shown.", public.find_hidden_names),
    Rule("own_words", "A reader has the project and nothing else.", words.find_foreign_words),
    Rule("nothing_postponed", "A comment is where work goes to be forgotten.", words.find_postponed),
    Rule("old_make", "The two commands work on a machine that was never upgraded.", make.find_new_make),
)


def main() -> int:
    """Check every rule. Answer 1 when one is broken."""
    project = Project.at()
    problems = [f"{problem} [{rule.name}]" for rule in RULES for problem in rule.check(project)]
    return report(problems, f"The house is in order: {len(RULES)} rules, {len(project.sources)} Python files.")


if __name__ == "__main__":
    sys.exit(main())
