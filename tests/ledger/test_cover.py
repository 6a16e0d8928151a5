"""A step of cost zero is charged only where the release that paid for it is on the books."""

from dataclasses import dataclass, field, replace

import pytest

from discreet import Budget, Ledger, Pure, Unit
from discreet.core.loss import Approx, Composed, Loss
from discreet.core.plan import Cover, Covered
from discreet.errors import InputError, RunError
from discreet.ledger import ledger as ledger_module
from discreet.ledger.budget import Allotment
from discreet.ledger.door import release
from jobs import Broken, Data, Job

JOB = "the digest of a job"


@dataclass(frozen=True)
class Step:
    """Step `number` of a job; the first pays for all."""

    number: int
    job: str = JOB
    paid: str = "monthly/1"
    price: Loss | None = None
    dataset: str = "visits"
    broken: bool = False
    unit: Unit = field(default_factory=Unit)
    mechanism: str = "random bytes"
    query: dict = field(default_factory=dict)
    kind: str = "step"
    version: int = 1

    @property
    def cost(self):
        return self.price or (Pure(1) if self.number == 1 else Composed(()))

    @property
    def digest(self):
        return Cover.digest(self.job, self.number)

    @property
    def covered_by(self):
        return None if self.number == 1 else Cover(self.job, self.number, self.paid)

    def measure(self, data, bits):
        return (Broken if self.broken else Job)().measure(data, bits)

    def publish(self, measured):
        return measured


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    parts = [Allotment("a", "pure", epsilon=4), Allotment("b", "pure", epsilon=4)]
    ledger.create("visits", Budget(epsilon=8, allotments=parts), who="ann")
    ledger.create("others", Budget(epsilon=8, allotments=parts), who="ann")
    return ledger


def run(ledger, plan, id_, allotment="a"):
    data = Data()
    try:
        answer = release(plan, data, ledger, who="ann", release=id_, allotment=allotment)
    finally:
        opened.append(data.opened)
    return answer


opened: list[int] = []


def refused(ledger, plan, id_, match, allotment="a"):
    before = ledger.head()
    with pytest.raises(InputError, match=match):
        run(ledger, plan, id_, allotment)
    assert opened[-1] == 0
    assert ledger.head() == before


def test_later_steps_are_covered_by_the_first(ledger):
    assert isinstance(Step(2), Covered)
    run(ledger, Step(1), "monthly/1")
    run(ledger, Step(2), "monthly/2")
    run(ledger, Step(3), "monthly/3")
    assert ledger.remaining("visits", "a").amount == 3
    assert ledger.verify().ok


def test_a_later_step_is_refused_before_the_first_is_paid(ledger):
    refused(ledger, Step(2), "monthly/2", "never charged")


def test_a_loss_of_zero_without_a_cover_is_refused(ledger):
    for loss in (Composed(()), Pure(0)):
        refused(ledger, Job(cost=loss), "free", "more than zero")


def test_a_delta_does_not_buy_a_loss_of_nothing(tmp_path):
    ledger = Ledger.open(tmp_path / "plans.db", create=True)
    part = Allotment("jobs", "plan", epsilon=1, delta="1e-6")
    ledger.create("visits", Budget(epsilon=1, delta="1e-6", allotments=[part]), who="ann")
    with pytest.raises(InputError, match="more than zero"):
        ledger.spend("visits", Composed(()), release="r", who="ann", digest="d", delta="1e-7")
    ledger.spend("visits", Approx(0, "1e-7"), release="r", who="ann", digest="d", delta="1e-7")
    assert ledger.verify().ok


def test_what_covers_must_be_the_first_step_of_the_same_job_in_the_same_account(ledger):
    run(ledger, Step(1), "monthly/1")
    run(ledger, Job(cost=Pure(1)), "paid/1")
    refused(ledger, Step(2, job="another job"), "monthly/2", "not the first step of this job")
    refused(ledger, Step(2, paid="paid/1"), "paid/2", "not the first step of this job")
    refused(ledger, Step(2), "monthly/2", "another allotment", allotment="b")
    refused(ledger, Step(2, dataset="others"), "monthly/2", "another dataset")
    refused(ledger, Step(2, price=Pure(1)), "monthly/2", "a cost of its own")


def test_each_step_is_released_under_one_id(ledger):
    """Under two ids the same step would get noise twice, for one price."""
    run(ledger, Step(1), "monthly/1")
    run(ledger, Step(2), "monthly/2")
    for name in ("again/2", "monthly/02", "monthly/3", "monthly/2 "):
        refused(ledger, Step(2), name, "id of the first")
    assert run(ledger, Step(2), "monthly/2").replayed


def test_a_step_does_not_cover_itself_or_others(ledger):
    run(ledger, Step(1), "monthly/1")
    run(ledger, Step(2), "monthly/2")
    refused(ledger, Step(3, paid="monthly/2"), "monthly/3", "cost nothing itself")


def test_a_first_step_that_failed_covers_nothing(ledger):
    with pytest.raises(RunError, match="has no answer"):
        run(ledger, Step(1, broken=True), "monthly/1")
    refused(ledger, Step(2), "monthly/2", "did not fail")


def test_the_check_is_what_refuses(ledger, monkeypatch):
    """The bug of 0.1, planted: a free step without a paid one. `verify` names it."""
    with monkeypatch.context() as bug:
        bug.setattr(ledger_module, "check_cover", lambda *_: None)
        run(ledger, Step(2), "monthly/2")
        run(ledger, Job(cost=Composed(())), "free")
    found = " | ".join(ledger.verify().problems)
    assert "'monthly/1' was never charged" in found
    assert "costs nothing, and no paid release covers it" in found


def test_verify_computes_every_price_again(ledger, monkeypatch):
    """A charge that is lower than its loss costs: planted where the price is taken."""
    ledger.spend("visits", Pure(1), release="honest", who="ann", digest="d", allotment="a")
    assert ledger.verify().ok
    with monkeypatch.context() as bug:
        shorten = ledger_module.shorten
        bug.setattr(
            ledger_module, "shorten", lambda price, spent: shorten(replace(price, amount=price.amount / 2), spent)
        )
        ledger.spend("visits", Pure(1), release="cheap", who="eve", digest="d", allotment="a")
    (problem,) = ledger.verify().problems
    assert "charges less than its loss costs" in problem
