from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest

from media_store import demo, demo_report, demo_sides, demo_storm_report
from media_store.demo_damage import Damage
from media_store.demo_payers import pay_by_read_then_write
from media_store.demo_plan import make_plan
from media_store.demo_race import Answers, race
from media_store.demo_sides import CALLERS, Side
from media_store.demo_storm import Aftermath
from tools.project import ROOT


def make_side(*, charges: int, **instead: object) -> Side:
    """Make a side on which everything agrees with one move, except for what is given."""
    told = instead.pop("told", (True, *[False] * (CALLERS - 1)))
    facts = {"charges": charges, "status": "paid", "version": 1, "journal_rows": 1} | instead
    return Side(Answers(told, seconds=0.1), **facts)


@pytest.fixture
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A demo whose storm has always ended well, for tests of the race."""
    monkeypatch.setattr(demo, "prepare_actors", lambda: None)
    monkeypatch.setattr(demo, "run_storm", lambda _side, _plan, _watch: make_aftermath())


def make_aftermath(kills: int = 9, **instead: int) -> Aftermath:
    """Make an aftermath in which all is well, except for what is given."""
    names = [field.name for field in dataclasses.fields(Damage)]
    done = {"closed": 3, "regenerated": 4, "payments": 5}
    return Aftermath(kills, Damage(**{**dict.fromkeys(names, 0), **done, **instead}))


def test_the_demo_runs_without_a_terminal(tmp_path: Path) -> None:
    """It ends well; the race and the storm each say their verdict first, then both sides in a table, and Semel is right."""
    command = [sys.executable, "-m", "media_store", "demo", "--seed", "5", "--seconds", "2"]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True, timeout=100)
    verdict, empty, *table = done.stdout.splitlines()
    assert re.fullmatch(r"200 callers paid one purchase: .+ Semel once\.|.+ both charged it once, .+", verdict)
    assert empty == ""
    ours = {line[:24].strip(): line.split()[-1] for line in table[1:9]}
    assert ours == {
        "callers": "200",
        "charges made": "1",
        "told: it is paid (moved)": "1",
        "told: too late (missed)": "199",
        "told: an error": "0",
        "final status": "paid",
        "version": "1",
        "journal rows": "1",
    }
    assert "\x1b" not in done.stdout
    assert done.stderr == ""
    begin = next(place for place, line in enumerate(table) if "processes were killed" in line)
    assert re.search(r"got \d+ things wrong, Semel none\.$|by luck", table[begin])
    ours = {line[:40].strip(): int(line.split()[-1]) for line in table[begin + 3 : begin + 14]}
    assert ours.pop("stranded rows, freed by the janitor") >= 0
    assert {name: ours[name] for name in ours if name.startswith("wrong")} == dict.fromkeys(list(ours)[5:], 0)
    assert len(list(ours)[5:]) == 5
    assert all(ours[name] for name in list(ours)[:5])
    assert "Seed 5 draws" in done.stdout


def test_the_readme_shows_what_the_demo_prints() -> None:
    """But for its numbers, each excerpt in the README is a piece of what the demo prints when naive code goes wrong."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    race, storm = re.findall(r"<!-- printed: make demo -->\n```text\n(.*?)```", text, re.DOTALL)
    report = demo_report.write_report(make_side(charges=30), make_side(charges=1))
    assert mask(race) in mask(report)
    report = demo_storm_report.write_storm_report(make_aftermath(clones=7), make_aftermath(), make_plan(1, 6.0))
    assert mask(storm) in mask(report)


def mask(text: str) -> str:
    """Write every number as 0 and every gap as one space."""
    return re.sub(r"[ ]+", " ", re.sub(r"[0-9]+(\.[0-9]+)?", "0", text)).strip()


@pytest.mark.usefixtures("calm")
def test_the_demo_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    """A file that an earlier run left behind, whatever is in it, is not in the way of the next one."""
    monkeypatch.chdir(tmp_path)
    demo_sides.FILE.parent.mkdir()
    demo_sides.FILE.write_bytes(b"this is no database")
    assert demo.run_demo(1, 1.0) == 0
    assert "Semel" in capsys.readouterr().out


@pytest.mark.usefixtures("calm")
def test_the_demo_fails_when_semels_side_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """With read-then-write code on Semel's side too, the demo answers 1 and says so in its first line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo_sides, "pay_once", lambda engine, _purchases, one: pay_by_read_then_write(engine, one))
    assert demo.run_demo(1, 1.0) == 1
    assert capsys.readouterr().out.startswith("Semel's side is wrong: ")


@pytest.mark.parametrize(
    "instead",
    [
        {"told": (True, True, *[False] * (CALLERS - 2))},
        {"told": (True, *[False] * (CALLERS - 2), OSError("gone"))},
        {"status": "pending"},
        {"version": 2},
        {"journal_rows": 0},
    ],
)
def test_one_fact_that_disagrees_is_enough(instead: dict[str, object]) -> None:
    """Charging once is not right while what callers were told, status, version or journal say something else."""
    assert make_side(charges=1).is_right
    assert not make_side(charges=1, **instead).is_right
    assert not make_side(charges=2).is_right


def test_luck_is_called_luck() -> None:
    """Where read-then-write code charged once, the verdict does not claim that it did not."""
    assert "by luck" in demo_report.write_verdict(make_side(charges=1, version=0), make_side(charges=1))
    assert "charged it 7 times, Semel once" in demo_report.write_verdict(make_side(charges=7), make_side(charges=1))


def test_an_error_is_counted_and_shown() -> None:
    """A caller that met an error is neither moved nor missed, and the report names the first one."""

    def call() -> bool:
        raise OSError("the disk is full")

    answers = race(call, 3, lambda _told: None)
    side = Side(answers, charges=0, status="pending", version=0, journal_rows=0)
    assert (side.moved, side.missed, len(side.problems)) == (0, 0, 3)
    assert "The first error: OSError: the disk is full" in demo_report.write_report(side, make_side(charges=1))
