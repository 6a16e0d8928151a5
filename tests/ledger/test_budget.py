"""Budgets and their division: exact sums, caps that hold, bad divisions refused by name."""

from fractions import Fraction

import pytest

from discreet.accounting.convert import approx
from discreet.core.loss import ZCDP, Approx, GaussianNoise, LaplaceNoise, Pure, Repeated
from discreet.errors import InputError, LossError
from discreet.ledger.budget import Allotment, Budget, Charge


def test_each_kind_of_budget_has_a_default_division():
    (pure,) = Budget(epsilon=1).allotments
    assert (pure.name, pure.kind, pure.cap) == ("questions", "pure", Charge(Fraction(1)))
    (rho,) = Budget(rho=0.5).allotments
    assert (rho.kind, rho.cap) == ("zcdp", Charge(Fraction(1, 2)))
    (both,) = Budget(epsilon=3, delta=1e-6).allotments
    assert (both.kind, both.epsilon, both.delta) == ("zcdp", 3, Fraction(1, 10**6))
    assert both.cap.delta == Fraction(1, 2 * 10**6)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-9), (1, 1e-6), (3, 1e-5), (20, 0.1)])
@pytest.mark.parametrize("share", [0, 0.5, 0.9])
def test_the_cap_on_rho_is_the_largest_that_keeps_the_promise(epsilon, delta, share):
    part = Allotment("a", "zcdp", epsilon=epsilon, delta=delta, failure_share=share)
    kept = ZCDP(part.cap.amount, part.cap.delta)
    assert approx(kept, delta).epsilon <= part.epsilon
    assert part.cap.delta == Fraction(str(share)) * part.delta
    more = ZCDP(part.cap.amount + Fraction(1, 10**12))
    assert approx(more, part.delta - part.cap.delta).epsilon > part.epsilon  # the mutant: one step more


def test_prices_are_in_the_currency_of_the_allotment():
    noise = LaplaceNoise(scale=10, shift=1)
    assert Allotment("a", "pure", epsilon=1).price(noise) == Charge(Fraction(1, 10))
    zcdp = Allotment("a", "zcdp", rho=1)
    assert zcdp.price(GaussianNoise(sigma=10, shift=1)) == Charge(Fraction(1, 200))
    assert zcdp.price(Approx(0.1, 1e-9)).delta == Fraction(1, 10**9)
    plan = Allotment("a", "plan", epsilon=1, delta=1e-6)
    steps = Repeated(GaussianNoise(sigma=100, shift=1), 10)
    assert plan.price(steps, delta=1e-7) == Charge(approx(steps, 1e-7).epsilon, Fraction(1, 10**7))


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(LossError):
        Allotment("a", "pure", epsilon=1).price(GaussianNoise(sigma=10, shift=1))
    with pytest.raises(InputError, match="delta"):
        Allotment("a", "plan", epsilon=1, delta=1e-6).price(Pure(1))
    with pytest.raises(InputError, match="delta"):
        Allotment("a", "pure", epsilon=1).price(Pure(1), delta=1e-9)


def test_a_division_may_use_the_budget_to_the_last_bit_and_no_more():
    def divide(last):
        tenths = [Allotment(f"a{index}", "pure", epsilon=0.1) for index in range(9)]
        return Budget(epsilon=1, allotments=[*tenths, Allotment("last", "pure", epsilon=last)])

    divide(0.1)
    with pytest.raises(InputError, match=r"allotments\.epsilon"):
        divide("1/9")
    parts = [
        Allotment("questions", "zcdp", epsilon=2, delta=5e-7),
        Allotment("training", "plan", epsilon=0.5, delta=5e-7),
        Allotment("exact", "pure", epsilon=0.5),
    ]
    assert Budget(epsilon=3, delta=1e-6, allotments=parts).allotment("exact").cap == Charge(Fraction(1, 2))
    with pytest.raises(InputError, match=r"allotments\.delta"):
        Budget(epsilon=3, delta=9e-7, allotments=parts)


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("budget.epsilon", lambda: Budget()),
        ("budget.epsilon", lambda: Budget(epsilon=1, rho=1)),
        ("budget.epsilon", lambda: Budget(epsilon=0)),
        ("budget.rho", lambda: Budget(rho=-1)),
        ("budget.delta", lambda: Budget(epsilon=1, delta=1)),
        ("budget.epsilon", lambda: Budget(epsilon=float("nan"))),
        ("allotments", lambda: Budget(rho=1, allotments=[Allotment("a", "pure", epsilon=1)])),
        ("allotments", lambda: Budget(epsilon=1, delta=0.1, allotments=[Allotment("a", "zcdp", rho=1)])),
        ("allotments", lambda: Budget(epsilon=1, allotments=[Allotment("a", "pure", epsilon=0.1)] * 2)),
        ("allotments.rho", lambda: Budget(rho=1, allotments=[Allotment("a", "zcdp", rho=2)])),
        ("allotments.delta", lambda: Budget(epsilon=1, allotments=[Allotment("a", "plan", epsilon=1, delta=1e-9)])),
        ("allotment.name", lambda: Allotment("", "pure", epsilon=1)),
        ("allotment.name", lambda: Allotment("a\nb", "pure", epsilon=1)),
        ("allotment.kind", lambda: Allotment("a", "free", epsilon=1)),
        ("allotment.delta", lambda: Allotment("a", "pure", epsilon=1, delta=0.1)),
        ("allotment.delta", lambda: Allotment("a", "zcdp", epsilon=1)),
        ("allotment.rho", lambda: Allotment("a", "pure", rho=1)),
        ("allotment.epsilon", lambda: Allotment("a", "zcdp", epsilon=1, rho=1)),
        ("allotment.epsilon", lambda: Allotment("a", "zcdp", epsilon="1e-9", delta=1e-9)),
        ("allotment.failure_share", lambda: Allotment("a", "zcdp", epsilon=1, delta=0.1, failure_share=1)),
        ("allotment", lambda: Budget(epsilon=1).allotment("other")),
    ],
)
def test_bad_budgets_are_refused_by_the_name_of_the_field(field, make):
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.field == field


def test_budgets_come_back_from_json_with_the_caps_they_had():
    budget = Budget(epsilon=3, delta=1e-6)
    assert Budget.from_json(budget.to_json()) == budget
    kept = budget.to_json()
    kept["allotments"][0]["cap"]["amount"] = "1/8"  # as an older version may have computed it
    assert Budget.from_json(kept).allotments[0].cap.amount == Fraction(1, 8)


def test_both_caps_bind():
    cap = Charge(Fraction(1), Fraction(1, 100))
    assert Charge(Fraction(1), Fraction(1, 100)).within(cap)
    assert not Charge(Fraction(2), Fraction(0)).within(cap)
    assert not Charge(Fraction(0), Fraction(1, 50)).within(cap)
    assert Charge(Fraction(3), Fraction(1, 200)).left_of(cap) == Charge(Fraction(0), Fraction(1, 200))
