"""The ledger: exact sums, caps that hold, and refusals that say what to do."""

from fractions import Fraction

import pytest

from discreet.core.loss import Approx, GaussianNoise, Pure, Repeated
from discreet.core.unit import Unit
from discreet.errors import BudgetError, InputError, LossError
from discreet.ledger.budget import Allotment, Budget, Charge
from discreet.ledger.ledger import Ledger
from discreet.ledger.window import newest


@pytest.fixture
def ledger(place):
    ledger = Ledger.open(place, create=True)
    ledger.create("visits", Budget(epsilon=1), who="ann")
    return ledger


def spend(ledger, loss, release, **values):
    return ledger.spend("visits", loss, release=release, who="ann", **({"digest": "d"} | values))


def test_ten_tenths_are_exactly_one(ledger):
    for index in range(10):
        charged = spend(ledger, Pure(0.1), f"r{index}")
    assert charged.left == Charge(Fraction(0))
    with pytest.raises(BudgetError):
        spend(ledger, Pure("1/1000000000000"), "one more")
    with pytest.raises(InputError, match="more than zero"):
        spend(ledger, Pure(0), "free")
    assert ledger.verify().ok


def test_a_budget_that_another_opened_meanwhile_is_charged_in_its_own_currency(place, monkeypatch):
    """A declared budget counts rho; before its first charge is written, another process opens one of epsilon."""
    slow, fast = Ledger.open(place, create=True), Ledger.open(place)
    slow.declare("visits", Budget(rho=1, delta="1e-6"), who="ann")
    write, late = Ledger._write, [fast]

    def after_the_other(self):
        if late and self is slow:
            late.pop().create("visits", Budget(epsilon=1), who="bob")
        return write(self)

    monkeypatch.setattr(Ledger, "_write", after_the_other)
    assert spend(slow, Pure(1), "r1").charge == Charge(Fraction(1))
    with pytest.raises(BudgetError):
        spend(fast, Pure("0.5"), "r2")
    assert fast.verify().ok


def test_a_refusal_says_what_was_asked_what_is_left_and_what_to_do(ledger):
    spend(ledger, Pure(0.75), "r1")
    before = ledger.head()
    with pytest.raises(BudgetError) as caught:
        spend(ledger, Pure(0.5), "r2")
    assert str(caught.value) == (
        "The budget of 'visits' does not cover this: it costs epsilon = 0.5; the allotment 'questions' has epsilon = "
        "0.25 left, of 1. Nothing was spent and no data was read. Ask for less, use another allotment, or let the "
        "custodian raise the budget."
    )
    assert (caught.value.asked, caught.value.left) == (Charge(Fraction(1, 2)), Charge(Fraction(1, 4)))
    assert caught.value.allotment == "questions"
    assert ledger.head() == before


def test_what_cannot_be_counted_is_refused_before_anything_is_spent(ledger):
    before = ledger.head()
    with pytest.raises(LossError):
        spend(ledger, GaussianNoise(sigma=10, shift=1), "r1")
    for wrong in ({"query": {"x": float("nan")}}, {"digest": ""}, {"delta": 1e-9}, {"allotment": "other"}):
        with pytest.raises(InputError):
            spend(ledger, Pure(0.1), "r1", **wrong)
    for name in ("", "a\nb", "x" * 201):
        with pytest.raises(InputError, match="release"):
            spend(ledger, Pure(0.1), name)
    with pytest.raises(InputError, match="budget"):
        ledger.spend("other", Pure(0.1), release="r", who="ann", digest="d")
    assert ledger.head() == before


def test_the_same_release_is_charged_once(ledger):
    first = spend(ledger, Pure(0.4), "r1")
    again = spend(ledger, Pure(0.4), "r1")
    assert not first.already_paid
    assert again.already_paid
    assert again.charge == first.charge
    assert ledger.remaining("visits") == Charge(Fraction(3, 5))


@pytest.mark.parametrize("other", [{"digest": "e"}, {"loss": Pure(0.5)}])
def test_a_release_id_cannot_pay_for_something_else(ledger, other):
    spend(ledger, Pure(0.4), "r1")
    with pytest.raises(InputError, match="paid for another question"):
        spend(ledger, other.get("loss", Pure(0.4)), "r1", digest=other.get("digest", "d"))
    assert ledger.remaining("visits") == Charge(Fraction(3, 5))


def test_a_budget_is_opened_once(ledger):
    ledger.create("visits", Budget(epsilon=1.0), who="bob")
    with pytest.raises(InputError, match="has already"):
        ledger.create("visits", Budget(epsilon=2), who="bob")
    with pytest.raises(InputError, match="has already"):
        ledger.create("visits", Budget(epsilon=1), unit=Unit("person"), who="bob")
    assert ledger.head().sequence == 2
    assert ledger.datasets() == ("visits",)
    assert ledger.account("visits").unit == str(Unit())


def test_a_budget_is_raised_on_record_and_never_lowered(ledger):
    spend(ledger, Pure(1), "r1")
    with pytest.raises(InputError, match="at least"):
        ledger.raise_budget("visits", Budget(epsilon=0.5), who="carla", why="oops")
    with pytest.raises(InputError, match="allotment"):
        ledger.raise_budget(
            "visits", Budget(epsilon=2, allotments=[Allotment("new", "pure", epsilon=2)]), who="carla", why="oops"
        )
    ledger.raise_budget("visits", Budget(epsilon=2), who="carla", why="the board agreed")
    assert spend(ledger, Pure(1), "r2").left == Charge(Fraction(0))
    assert [record.why for record in ledger.records() if record.kind == "open"] == ["", "the board agreed"]
    assert ledger.verify().ok


def test_allotments_are_counted_apart_each_in_its_own_way(place):
    ledger = Ledger.open(place, create=True)
    parts = [
        Allotment("counts", "zcdp", epsilon=2, delta=5e-7),
        Allotment("training", "plan", epsilon=0.5, delta=5e-7),
        Allotment("exact", "pure", epsilon=0.5),
    ]
    ledger.create("visits", Budget(epsilon=3, delta=1e-6, allotments=parts), who="ann")
    with pytest.raises(InputError, match="allotment"):
        spend(ledger, Pure(0.1), "r0")
    spend(ledger, GaussianNoise(sigma=100, shift=1), "r1", allotment="counts")
    spend(ledger, Approx(0.01, 1e-7), "r2", allotment="counts")
    spend(ledger, Repeated(GaussianNoise(sigma=100, shift=1), 4), "r3", allotment="training", delta=2e-7)
    spend(ledger, Pure(0.5), "r4", allotment="exact")
    counts, training, exact = ledger.standing("visits")
    assert counts.spent.amount > Fraction(1, 20000)
    assert counts.spent.delta == Fraction(1, 10**7)
    assert training.spent.delta == Fraction(2, 10**7)
    assert exact.left == Charge(Fraction(0))
    with pytest.raises(BudgetError, match="delta = 2e-7 in zCDP; the allotment 'counts' has rho"):
        spend(ledger, Approx(0.0001, 2e-7), "r5", allotment="counts")  # rho is there, delta is not
    with pytest.raises(BudgetError):
        spend(ledger, Pure(0.1), "r6", allotment="training", delta=4e-7)
    assert ledger.verify().ok


def test_sums_of_odd_fractions_stay_short_and_never_fall_below_the_truth(ledger):
    exact = Fraction(0)
    for index in range(60):
        price = Fraction(1, 10**40 + 2 * index + 1)
        exact += price
        spend(ledger, Pure(price), f"r{index}")
    spent = 1 - ledger.remaining("visits").amount
    assert exact <= spent < exact + Fraction(1, 10**28)
    assert spent.denominator.bit_length() < 2048
    assert ledger.verify().ok


def test_outcomes_are_first_come(ledger):
    spend(ledger, Pure(0.1), "r1")
    spend(ledger, Pure(0.1), "r2")
    assert ledger.find("r1").answer is None
    assert ledger.answer("r1", '{"n":1}', who="ann") == '{"n":1}'
    assert ledger.answer("r1", '{"n":2}', who="ann") == '{"n":1}'
    assert ledger.failed("r1", "late", who="ann").failure is None
    assert ledger.failed("r2", "broke", who="ann").failure == "broke"
    assert ledger.answer("r2", "{}", who="ann") == ""
    assert ledger.note("r2", "looked at it", who="carla").notes == 1
    with pytest.raises(InputError, match="paid for"):
        ledger.answer("r3", "{}", who="ann")
    assert ledger.find("r3") is None
    assert [(o.charged.release, o.answer, o.failure) for o in ledger.releases("visits")] == [
        ("r1", '{"n":1}', None),
        ("r2", None, "broke"),
    ]
    assert ledger.verify().ok


def test_the_latest_answer_to_a_plan_is_found_by_its_digest(ledger):
    for release, digest in (("r1", "d"), ("r2", "d"), ("r3", "other"), ("r4", "d"), ("r5", "x")):
        spend(ledger, Pure(0.1), release, digest=digest, query={"text": '"digest":"d"'})
    for release in ("r1", "r2", "r3", "r5"):
        ledger.answer(release, "{}", who="ann")
    assert ledger.answered("visits", "d").charged.release == "r2"  # of r4 there is none yet
    assert ledger.answered("visits", "nothing") is None
    assert ledger.answered("elsewhere", "d") is None
    ledger.answer("r4", "{}", who="ann")
    assert ledger.answered("visits", "d").charged.release == "r4"
    assert ledger.answered("visits", "%") is None  # no sign of a digest stands for others


def test_records_tell_who_why_what_and_when(ledger):
    spend(ledger, Pure(0.1), "r1", why="monthly report", query={"count": "*"}, mechanism="discrete Laplace, scale 10")
    record = list(ledger.records("visits"))[-1]
    assert (record.who, record.why, record.query) == ("ann", "monthly report", {"count": "*"})
    assert (record.mechanism, record.digest, record.allotment) == ("discrete Laplace, scale 10", "d", "questions")
    assert record.loss == {"loss": "pure", "epsilon": "1/10"}


def test_the_newest_records_are_read_without_the_others(place, monkeypatch):
    ledger = Ledger.open(place, create=True)
    ledger.create("visits", Budget(epsilon=100), who="ann")
    ledger.create("births", Budget(epsilon=100), who="ann")
    for number in range(6):
        ledger.spend(["visits", "births"][number % 2], Pure(1), release=f"r{number}", who="ann", digest="d")
    whole = list(ledger.records())
    assert newest(ledger, limit=3) == whole[-3:]
    assert newest(ledger, limit=3, before=whole[-1].sequence) == whole[-4:-1]
    assert newest(ledger, "births", limit=2) == [one for one in whole if one.dataset == "births"][-2:]
    assert newest(ledger, limit=100) == whole
    assert newest(ledger, "none", limit=3) == []
