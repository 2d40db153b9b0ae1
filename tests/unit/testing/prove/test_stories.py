"""Stories: what a person reads, what a program reads, and a file that tells it again."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from semel.testing.prove.budgets import Budgets
from semel.testing.prove.proving import prove
from semel.testing.prove.replaying import write_story_file

SCENARIO = '''
from semel.testing.prove.shipped.shop import CLAIM, Shop, make_workflow, pay
from semel.testing.prove.scenario import actor


class Unguarded(Shop):
    """Nobody looks after the claim."""

    workflows = (make_workflow(**CLAIM, recovery="revert"),)
    keepers = {keepers}

    @actor()
    def customer(self, once):
        """Pay."""
        return pay(once)
'''


def write_scenario(folder: Path, *, keepers: str) -> Path:
    """Write a scenario as a user would."""
    file = folder / "unguarded.py"
    file.write_text(SCENARIO.format(keepers=keepers), encoding="utf-8")
    return file


def test_a_story_names_who_and_what_and_marks_what_matters(tmp_path: Path) -> None:
    """A newcomer reads the row, the claim and the death, in that order."""
    from semel.testing.prove.loading import find_scenarios

    (kind,) = find_scenarios(f"{write_scenario(tmp_path, keepers='()')}:Unguarded")
    story = prove(kind(), Budgets(1, 0, 0, 0)).story
    assert story is not None
    lines = story.text().splitlines()
    assert lines[0] == "unguarded: nothing is stranded does not hold: orders 1 is stranded in 'charging'"
    assert "customer  takes the claim" in lines[1]
    assert lines[2].split() == ["►", "2", "customer", "dies"]
    assert story.steps == 1


def test_a_saved_story_tells_itself_again_until_it_is_mended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file ends with 1 while the story is true, and with 0 once a janitor looks after the claim."""
    from semel.testing.prove.loading import find_scenarios

    place = f"{write_scenario(tmp_path, keepers='()')}:Unguarded"
    (kind,) = find_scenarios(place)
    file = tmp_path / "story.py"
    file.write_text(write_story_file(place, prove(kind(), Budgets(1, 0, 0, 0))), encoding="utf-8")
    with pytest.raises(SystemExit, match="1"):
        runpy.run_path(str(file), run_name="__main__")
    assert "orders 1 is stranded" in capsys.readouterr().out
    write_scenario(tmp_path, keepers="('janitor',)")
    with pytest.raises(SystemExit, match="0"):
        runpy.run_path(str(file), run_name="__main__")
    assert "not so any more" in capsys.readouterr().out
