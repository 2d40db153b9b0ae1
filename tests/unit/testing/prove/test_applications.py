"""A user's own application, with mapped classes and plain functions, is proven or told a story about."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from semel.cli import main
from semel.testing.prove.budgets import Budgets
from semel.testing.prove.loading import find_scenarios
from semel.testing.prove.positions import NondeterminismError
from semel.testing.prove.proving import Proof, prove

EXAMPLES = Path(__file__).parents[4] / "examples" / "prove"

BROKEN = {
    "broken_random_key": "charge was done 2 times",
    "broken_apart": "2 receipts",
    "broken_swallowed": "the order is paid, and nothing was charged",
}


@pytest.fixture(autouse=True)
def _forget_examples() -> Iterator[None]:
    """The examples are imported by their short names, which other tests may want for something else."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if str(EXAMPLES) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def prove_example(name: str, budgets: Budgets) -> Proof:
    """Prove the scenario of one example file."""
    (kind,) = find_scenarios(str(EXAMPLES / f"{name}.py"))
    return prove(kind(), budgets)


def test_an_action_that_does_it_right_is_proven() -> None:
    """Mapped classes, a session and a call outside survive a crash and a lost answer anywhere."""
    proof = prove_example("charge_once", Budgets(1, 1, 0, 0))
    assert proof.story is None, proof.story.text()
    assert proof.is_proven


@pytest.mark.parametrize(("name", "words"), BROKEN.items(), ids=BROKEN)
def test_a_broken_action_gets_a_story(name: str, words: str) -> None:
    """One fault is enough, and the sentence says what is wrong in the words of the shop."""
    story = prove_example(name, Budgets(1, 1, 0, 0)).story
    assert story is not None
    assert words in story.words
    assert sum(line.is_fault for line in story.lines) == 1


def test_an_application_is_whole_again_afterwards() -> None:
    """What was replaced for the search is put back: the application still has its own setup and functions."""
    (kind,) = find_scenarios(str(EXAMPLES / "charge_once.py"))
    once, shop = sys.modules["charge_once"].once, sys.modules["shop"]
    before = dict(vars(once)), shop.charge_card, shop.engine
    prove(kind(), Budgets(0, 0, 0, 0))
    assert (dict(vars(once)), shop.charge_card, shop.engine) == before


def test_an_action_that_asks_the_time_is_refused_by_name(tmp_path: Path) -> None:
    """The refusal says that the time decides, and in which line it is asked."""
    text = (EXAMPLES / "broken_random_key.py").read_text(encoding="utf-8")
    text = text.replace("import uuid", "import time").replace("str(uuid.uuid4())", "str(time.time_ns())")
    (tmp_path / "timed.py").write_text(text.replace("broken_random_key", "timed"), encoding="utf-8")
    sys.path.insert(0, str(EXAMPLES))
    (kind,) = [each for each in find_scenarios(str(tmp_path / "timed.py")) if each.__name__ == "RandomKey"]
    with pytest.raises(NondeterminismError, match=r"the time \(time\.time_ns\) in .*timed\.py"):
        prove(kind(), Budgets(1, 0, 0, 0))


def test_json_is_one_document_and_nothing_else() -> None:
    """A program that reads standard output reads the whole report, with every key that was promised."""
    place = str(EXAMPLES / "broken_swallowed.py")
    result = CliRunner().invoke(main, ["prove", place, "--json", "--clock", "0", "--late", "0"])
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    (scenario,) = document["scenarios"]
    promised = {"name", "tier", "actors", "boundaries", "states", "transitions", "schedules", "seconds", "complete"}
    assert promised | {"violations", "never_seen"} <= set(scenario)
    assert not scenario["complete"]
    assert document["mutants"] == []
