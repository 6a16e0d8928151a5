"""A price beside what is left: nothing is rounded to anyone's harm."""

from __future__ import annotations

from fractions import Fraction

from discreet.ledger.budget import Allotment, Charge
from discreet.ledger.quote import Quote, price_text

PURE = Allotment("questions", "pure", epsilon=1)
ZCDP = Allotment("questions", "zcdp", epsilon=1, delta="1e-6")


def test_a_price_is_rounded_up_and_what_is_left_down():
    third = Charge(Fraction(1, 3))
    assert price_text(PURE, third) == "epsilon = 0.33334"
    assert price_text(PURE, third, "down") == "epsilon = 0.33333"
    assert price_text(PURE, Charge(Fraction(1, 3), Fraction(1, 10**7))).endswith(", delta = 1e-7")


def test_a_quote_says_what_is_left_after_or_that_it_would_be_refused():
    fits = Quote(PURE, Charge(Fraction(1, 4)), Charge(Fraction(1)))
    assert fits.lines() == [
        "Cost: epsilon = 0.25 from allotment 'questions'.",
        "Left: epsilon = 1 now, epsilon = 0.75 after.",
    ]
    assert fits.to_dict()["exact_cost"] == "1/4"
    dear = Quote(PURE, Charge(Fraction(2)), Charge(Fraction(1)))
    assert not dear.fits
    assert dear.after == dear.left
    assert dear.lines()[-1] == "Left: epsilon = 1: not enough, this plan would be refused."


def test_a_price_in_numbers_names_epsilon_also_where_rho_is_counted():
    assert Quote(PURE, Charge(Fraction(1, 4)), PURE.cap).price == {"epsilon": 0.25}
    whole = Quote(ZCDP, ZCDP.cap, ZCDP.cap).price
    assert whole["rho"] == float(ZCDP.cap.amount)
    assert 0.99 < whole["epsilon"] <= 1  # all of the allotment is what it promises
    assert whole["delta"] == float(ZCDP.delta)
    bare = Allotment("questions", "zcdp", rho=1)
    assert Quote(bare, Charge(Fraction(1, 2)), bare.cap).price == {"rho": 0.5}


def test_where_rho_is_counted_the_pure_epsilon_of_that_charge_is_named():
    (cost, pure, _) = Quote(ZCDP, Charge(Fraction(1, 200)), ZCDP.cap).lines()
    assert cost.startswith("Cost: rho = 0.005 ")
    assert pure == "  As much as a release of pure epsilon = 0.1 costs here."
