from __future__ import annotations

import pytest

from tests.unit.tools.cases import CASES, Case, list_names
from tools.house import RULES

CHECKS = {rule.name: rule.check for rule in RULES}


@pytest.mark.parametrize("case", CASES, ids=list_names)
def test_a_rule_sees_its_offence(build, case: Case) -> None:
    """The bad text is reported, at the file it is in, in one sentence."""
    problems = list(CHECKS[case.rule](build(case.bad)))
    assert problems
    assert {problem.where.partition(":")[0] for problem in problems} <= case.bad.keys()
    assert all(problem.text.endswith(".") for problem in problems)


@pytest.mark.parametrize("case", CASES, ids=list_names)
def test_a_rule_leaves_good_work_alone(build, case: Case) -> None:
    """The nearest good text is not reported."""
    assert not list(CHECKS[case.rule](build(case.good)))


def test_every_rule_has_its_cases() -> None:
    """No rule is in the table without an offence that it was seen to find."""
    assert {case.rule for case in CASES} == set(CHECKS)
