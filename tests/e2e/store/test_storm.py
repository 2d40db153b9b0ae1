from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from media_store import demo, demo_actors, demo_storm
from media_store.demo_damage import Damage, count_damage
from media_store.demo_plan import PLACES, WEB_PLACES, make_plan
from media_store.demo_storm import Aftermath, laid_out
from media_store.demo_storm_report import write_verdict
from media_store.models import BillingPeriod, Invoice, Mail, Payment
from tests.e2e.store.test_demo import make_aftermath


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Engine]:
    """A store as a storm finds it."""
    monkeypatch.chdir(tmp_path)
    with laid_out("semel", f"sqlite:///{tmp_path}/.demo/storm-semel.db") as engine:
        yield engine


def find(session: Session, number: str) -> Invoice:
    """Find an invoice."""
    return session.scalars(sa.select(Invoice).where(Invoice.number == number)).one()


def clone(session: Session) -> None:
    """Make a second live invoice of a number."""
    old = find(session, "INV-1-1")
    kept = {name: getattr(old, name) for name in ("billing_period_id", "user_id", "amount_minor", "currency", "due_on")}
    session.add(Invoice(number=old.number, status="sent", **kept))


def pay_twice(session: Session) -> None:
    """Take an amount twice."""
    invoice = find(session, "INV-1-1")
    session.add_all([Payment(invoice_id=invoice.id, amount_minor=invoice.amount_minor) for _ in range(2)])


def send(session: Session, *places: int) -> None:
    """Send invoices of the first period."""
    session.add_all(
        Mail(effect_id=f"effect-{count}", recipient=f"user-{place}", about=f"INV-1-{place}", subject="")
        for count, place in enumerate(places)
    )


def move(session: Session, status: str) -> None:
    """Write a status into the first period."""
    session.get_one(BillingPeriod, 1).status = status


def close_and_send(session: Session, *places: int) -> None:
    """Close the first period and send some of its invoices."""
    move(session, "closed")
    send(session, *places)


DAMAGES: dict[str, tuple[Callable[[Session], None], dict[str, int]]] = {
    "nothing": (lambda _: None, {}),
    "a clone": (clone, {"clones": 1}),
    "a double credit": (pay_twice, {"double_credits": 1, "payments": 2}),
    "closed and sent": (lambda session: close_and_send(session, 1, 2, 3), {"closed": 1}),
    "one missing": (lambda session: close_and_send(session, 1, 3), {"closed": 1, "mails_missing": 1}),
    "one sent twice": (lambda session: close_and_send(session, 1, 2, 2, 3), {"closed": 1, "mails_twice": 1}),
    "sent although open": (lambda session: send(session, 2), {"mails_twice": 1}),
    "stuck": (lambda session: move(session, "closing"), {"stuck": 1, "mails_missing": 3}),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_counted(engine: sa.Engine, name: str) -> None:
    """Each kind of damage is seen where it was done, and none where nothing was."""
    harm, expected = DAMAGES[name]
    with Session(engine.execution_options(writes=True)) as session, session.begin():
        harm(session)
    counted = count_damage(engine)
    found = {field: getattr(counted, field) for field in Damage.__dataclass_fields__ if getattr(counted, field)}
    assert found == expected


def test_a_seed_draws_one_storm() -> None:
    """The same seed draws the same presses and cuts, another seed others; both are bounded by what was asked for."""
    plan = make_plan(4, 3.0)
    assert plan == make_plan(4, 3.0)
    assert (plan.presses, plan.cuts) != (make_plan(5, 3.0).presses, make_plan(5, 3.0).cuts)
    assert len(plan.presses) == 60
    assert {press.kind for press in plan.presses} == {"close", "regenerate", "pay"}
    assert [cut.at_seconds for cut in plan.cuts] == sorted(cut.at_seconds for cut in plan.cuts)
    assert all(0 <= press.at_seconds <= 3 for press in plan.presses)
    assert any(cut.places == WEB_PLACES for cut in plan.cuts)
    assert all(set(cut.places) <= set(PLACES) for cut in plan.cuts)


@pytest.mark.parametrize(
    ("aftermath", "is_right"),
    [
        (make_aftermath(), True),
        (make_aftermath(released=3), True),
        (make_aftermath(kills=0), False),
        (make_aftermath(closed=0), False),
        (make_aftermath(payments=0), False),
        (make_aftermath(clones=1), False),
        (make_aftermath(double_credits=1), False),
        (make_aftermath(mails_missing=1), False),
        (make_aftermath(mails_twice=1), False),
        (make_aftermath(stuck=1), False),
    ],
)
def test_one_wrong_thing_is_enough(aftermath: Aftermath, *, is_right: bool) -> None:
    """A side is right when processes died, all kinds of work were done, and nothing of it is wrong."""
    assert aftermath.is_right is is_right


def test_the_verdict_claims_no_more_than_was_seen() -> None:
    """Where naive code was lucky it says so, and where Semel's side is wrong or did nothing it says that first."""
    wrong, right = make_aftermath(clones=2, stuck=1), make_aftermath()
    assert write_verdict(wrong, right).endswith("read-then-write code got 3 things wrong, Semel none.")
    assert "by luck" in write_verdict(right, right)
    assert write_verdict(right, wrong).startswith("Semel's side is wrong: ")
    assert write_verdict(wrong, make_aftermath(closed=0)).startswith("Semel's side shows nothing: ")


def test_the_demo_fails_when_semels_storm_is_wrong(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    """One wrong thing on Semel's side makes the whole demo answer 1."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "prepare_actors", lambda: None)
    monkeypatch.setattr(demo, "run_storm", lambda _side, _plan, _watch: make_aftermath(stuck=1))
    assert demo.run_demo(1, 1.0) == 1
    assert "Semel's side is wrong: 9 processes" in capsys.readouterr().out


def test_naive_code_alone_does_its_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without rivals and deaths the naive side is right: what goes wrong in a storm is not put into it."""
    monkeypatch.chdir(tmp_path)
    plan = make_plan(1, 3.0)
    with demo_storm.laid_out("naive", f"sqlite:///{tmp_path}/store.db") as engine:
        demo_actors.look_naively(engine)
        for press in plan.presses:
            demo_actors.press_naively(engine, press)
        counted = count_damage(engine)
    assert counted.total == 0
    assert counted.did_something
