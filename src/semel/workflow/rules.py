"""The rules of workflow files, as a table, and the check that answers all problems at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from semel.errors import SemelError, error
from semel.workflow import rules_of_claims as claims
from semel.workflow import rules_of_names as names
from semel.workflow import rules_of_statuses as statuses
from semel.workflow.load import Loaded
from semel.workflow.model import Workflow
from semel.workflow.problem import Problem
from semel.workflow.reading import CLAIM_KEY, Declared
from semel.workflow.rule import Registry, Rule

PROBLEMS_SHOWN_LIMIT = 20  # what fits on a screen of logs; `semel check` lists all of them

RULES: tuple[Rule, ...] = (
    Rule(
        "R1",
        "A claim is a pair of strings.",
        "A keeper must know where a claimed row is and where it goes back to.",
        find=claims.find_malformed_claims,
    ),
    Rule(
        "R2",
        "Every status named anywhere is in status_types.",
        "A misspelt status would be written into rows that no step finds again.",
        find=statuses.find_unknown_statuses,
        needs=frozenset({"status_types"}),
    ),
    Rule(
        "R3",
        "A claim does not go back to where it went.",
        "Claimed and free would be one status.",
        find=claims.find_claims_that_stay,
    ),
    Rule(
        "R4",
        "A claim does not go into the step's own status.",
        "The second caller would find the row as free as the first one did.",
        find=claims.find_claims_into_own_status,
    ),
    Rule(
        "R5",
        "A claim does not go into the step's successful state.",
        "A row whose owner died would look finished.",
        find=claims.find_claims_into_success,
    ),
    Rule(
        "R6",
        "Steps that claim into one status agree on where it goes back and how it recovers.",
        "A keeper that finds a stranded row could not tell which step it was in.",
        find=claims.find_shared_claims_that_differ,
        needs=frozenset({"recovery", "calls"}),
    ),
    Rule(
        "R7",
        "A step with calls does not recover by revert; one whose provider cannot deduplicate, only by review.",
        "A call whose answer never came may have happened; going back gives permission to make it again.",
        find=names.find_calls_that_revert,
        ask=names.ask_for_calls_that_repeat,
        needs=frozenset({"recovery"}),
    ),
    Rule(
        "R8",
        "Every named action, validator, effect, provider and probe exists.",
        "A missing one would be found only by the first row that needs it, halfway through its step.",
        ask=names.ask_for_missing_names,
    ),
    Rule(
        "R9",
        "Every status can be reached, and every status that is not terminal has a way out.",
        "A row in a status without a way out is stuck for ever.",
        find=statuses.find_dead_ends,
        needs=statuses.PICTURE,
    ),
    Rule(
        "R10",
        "No step leaves a terminal status.",
        "Terminal is what others rely on: money paid out stays paid out.",
        find=statuses.find_steps_from_terminal,
    ),
    Rule(
        "R11",
        "A step whose action is registered with idempotent=False claims for every requester that may take it.",
        "Without the claim, two callers run the action at once, and only one of them can finish.",
        ask=claims.ask_for_missing_claims,
        needs=frozenset({CLAIM_KEY}),
    ),
    Rule(
        "R12",
        "A claim status is only a claim status, and goes back to the step's status.",
        "A keeper would release rows that finished, or a step would take rows that somebody holds.",
        find=claims.find_claims_with_second_meaning,
    ),
    Rule(
        "R13",
        "A step with calls claims for every requester that may take it.",
        "Without the claim, two callers make the call at once, and one of them cannot record it.",
        find=claims.find_calls_without_claim,
        needs=frozenset({CLAIM_KEY}),
    ),
    Rule(
        "R14",
        "The pair of step_key and status is unique, and so is step_id.",
        "A step is chosen by key and status; two of a kind would be chosen by chance.",
        find=names.find_repeated_steps,
    ),
    Rule(
        "shape",
        "A requester is named only where successful_state names it too.",
        "A misspelt requester would take the step without its claim or its action.",
        find=names.find_unheard_requesters,
        needs=frozenset({"successful_state"}),
    ),
    Rule(
        "shape",
        "A step names each call once, and declares the payloads of all its calls or of none.",
        "Declared calls are made before the action, and nothing may be called after it has begun to write.",
        find=names.find_unclear_calls,
    ),
    Rule(
        "shape",
        "A lease is at least twice as long as the longest call of its providers.",
        "A call must be over before its claim can be taken for dead.",
        ask=names.ask_for_short_leases,
        needs=frozenset({"lease_seconds"}),
    ),
    Rule(
        "shape",
        "A status column belongs to one workflow, and a workflow's name to one file.",
        "Two workflows on one column would release each other's claims.",
        compare=names.compare_owners,
        needs=frozenset({"workflow", "entity_table", "status_column"}),
    ),
)


@dataclass(frozen=True)
class Report:
    """Every problem of every file. The workflows are there to be run only if there is none."""

    problems: tuple[Problem, ...]
    not_checked: tuple[str, ...]
    """The rules that need an application to be checked, and had none."""
    workflows: tuple[Workflow, ...]

    @property
    def ok(self) -> bool:
        """Answer whether no problem was found."""
        return not self.problems

    def as_json(self) -> dict[str, object]:
        """The report as `semel check --json` prints it."""
        return {
            "ok": self.ok,
            "problems": [asdict(problem) for problem in self.problems],
            "not_checked": list(self.not_checked),
        }

    def as_error(self) -> SemelError:
        """The error with which an application refuses to start."""
        lines = [f"  {problem}" for problem in self.problems[:PROBLEMS_SHOWN_LIMIT]]
        if len(self.problems) > len(lines):
            lines.append(f"  … and {len(self.problems) - len(lines)} more")
        return error("SEMEL-FLOW-1", count=len(self.problems), problems="\n".join(lines))


def check(loaded: Loaded, registry: Registry | None = None) -> Report:
    """Check every rule on everything that was loaded. Without a registry, some rules are listed as not checked."""
    found = [problem for rule in RULES for problem in find_problems(rule, loaded.declared, registry)]
    problems = (*loaded.problems, *found)
    return Report(problems, list_unchecked(registry), () if problems else loaded.workflows)


def find_problems(rule: Rule, everything: Sequence[Declared], registry: Registry | None) -> Iterator[Problem]:
    """Find what breaks one rule, in every file that could be read far enough for it."""
    readable = [declared for declared in everything if rule.needs.isdisjoint(declared.unread)]
    for declared in readable:
        if rule.find:
            yield from (declared.problem(rule.code, *finding) for finding in rule.find(declared))
        if rule.ask and registry is not None:
            yield from (declared.problem(rule.code, *finding) for finding in rule.ask(declared, registry))
    if rule.compare:
        yield from (declared.problem(rule.code, *finding) for declared, finding in rule.compare(readable))


def list_unchecked(registry: Registry | None) -> tuple[str, ...]:
    """List the rules of which nothing can be checked without a registry, if there is none."""
    checked = {rule.code for rule in RULES if rule.find or rule.compare}
    return tuple(rule.code for rule in RULES if rule.code not in checked) if registry is None else ()
