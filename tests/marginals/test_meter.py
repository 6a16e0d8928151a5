"""The meter: what it gives out, what it costs, what it refuses."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from chance import fits, gaussian_pmf, laplace_pmf
from discreet.core.sensitivity import Sensitivity
from discreet.data.column import Category
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.marginals import meter as module
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Meter
from discreet.mechanisms import TopK

DOMAIN = Domain.of(
    Schema(
        "t",
        {
            "a": Category(["x", "y"], nullable=False),
            "b": Category(["p", "q", "r"], nullable=False),
            "c": Category(["0", "1"], nullable=False),
        },
    )
)
ROWS = np.array(list(itertools.product(range(2), range(3), range(2))) * 3 + [[0, 0, 0]] * 5)


def meter(currency="rho", price=1, rows=ROWS, moved=None) -> Meter:
    return Meter(ArrayCounts(DOMAIN, rows), moved or Sensitivity(1), currency, Fraction(price))


def nothing(columns):
    return np.zeros(tuple(DOMAIN.sizes[column] for column in columns))


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_a_price_is_spent_to_the_last_bit_and_no_further(currency):
    one = meter(currency, Fraction(1, 3))
    one.measure((0,), Fraction(1, 9))
    one.choose([(0, 1), (1, 2)], nothing, Fraction(1, 9))
    assert one.left == Fraction(1, 9)
    with pytest.raises(InputError, match="amount"):
        one.measure((1,), Fraction(1, 9) + Fraction(1, 10**30))
    assert one.left == Fraction(1, 9)
    one.measure((1,), one.left)
    assert one.left == 0
    for ask in (lambda: one.measure((1,), Fraction(1, 10**9)), lambda: one.choose([(0,)], nothing, Fraction(1))):
        with pytest.raises(InputError):
            ask()
    with pytest.raises(InputError):
        meter().measure((0,), Fraction(0))


def test_merged_codes_are_paid_from_the_same_purse():
    one = meter(price=1)
    merged = one.merged([[0, 0], [0, 1, 1], [0, 1]])
    merged.measure((1,), Fraction(3, 4))
    assert one.left == merged.left == Fraction(1, 4)
    with pytest.raises(InputError):
        one.measure((1,), Fraction(1, 2))


@pytest.mark.parametrize("columns", [(1, 0), (0, 0), (3,), (-1, 1)])
def test_columns_out_of_order_are_refused_before_spending(columns):
    one = meter()
    with pytest.raises(InputError, match="rising"):
        one.measure(columns, Fraction(1))
    with pytest.raises(InputError, match="rising"):
        one.choose([(0, 1), columns], nothing, Fraction(1))
    assert one.left == 1


@pytest.mark.statistical
@pytest.mark.parametrize(("currency", "moved"), [("epsilon", Sensitivity(2)), ("rho", Sensitivity(1, 2))])
def test_noise_is_of_the_law_the_price_buys(currency, moved):
    one = meter(currency, 4000, moved=moved)
    amount = Fraction(1, 2)
    draws = np.concatenate([(one.measure((0, 1), amount).values - exact(0, 1)).ravel() for _ in range(4000)])
    law, wrong = (laplace_pmf(4), laplace_pmf(2)) if currency == "epsilon" else (gaussian_pmf(2**0.5), gaussian_pmf(1))
    assert fits(draws, law)
    assert not fits(draws, wrong)  # half the noise, or none for the second output


def exact(*columns):
    return ArrayCounts(DOMAIN, ROWS).marginal(columns)


def scores(rows, candidates, guesses, weights, penalties, monkeypatch):
    """What a choice would be made by, and the mechanism it would be made with."""
    seen = {}

    class Caught(TopK):
        def release(self, values, *, bits=None):
            seen["scores"], seen["mechanism"] = np.array(values), self
            return [0]

    monkeypatch.setattr(module, "TopK", Caught)
    one = meter("epsilon", 1, rows)
    one.choose(candidates, lambda c: guesses[c], Fraction(1), weights=weights, penalties=penalties)
    return seen["scores"], seen["mechanism"]


def test_no_row_moves_a_score_further_than_the_mechanism_is_told(monkeypatch):
    rng = np.random.default_rng(4)
    candidates = [(0, 1), (1, 2), (0, 2), (1,)]
    worst = 0.0
    for _ in range(40):
        guesses = {c: rng.normal(3, 3, exact(*c).shape) for c in candidates}
        weights, penalties = rng.uniform(0.01, 4, 4), rng.uniform(0, 9, 4)
        rows = ROWS[rng.random(len(ROWS)) < 0.7]
        less = np.delete(rows, rng.integers(len(rows)), axis=0)
        one, mechanism = scores(rows, candidates, guesses, weights, penalties, monkeypatch)
        other, again = scores(less, candidates, guesses, weights, penalties, monkeypatch)
        assert mechanism.sensitivity == again.sensitivity
        assert not mechanism.monotone
        moved = np.abs(one - other).max()
        assert moved <= mechanism.sensitivity
        worst = max(worst, moved / mechanism.sensitivity)
        # The mutants: weights left out of the sensitivity, or half of it, do not bound what happened here.
        assert moved > mechanism.sensitivity / 2
    assert worst > 0.99


def test_choices_cost_what_they_are_charged():
    one = meter("rho", 1)
    for k in (1, 3):
        mechanism = one._choice(Fraction(1, 7), k, 5)
        assert mechanism.k == k
        each = mechanism.epsilon / k
        assert k * each * each / 8 <= Fraction(1, 7)
        assert k * each * each / 8 > Fraction(1, 7) * Fraction(999, 1000)
    assert meter("epsilon")._choice(Fraction(1, 7), 3, 5).epsilon == Fraction(1, 7)


def test_the_farthest_is_chosen_where_the_price_lets_one_see():
    one = meter("rho", 10**6)
    guesses = {c: exact(*c) for c in ((0, 1), (1, 2))} | {(0, 2): exact(0, 2) + 9}
    assert one.choose([(0, 1), (1, 2), (0, 2)], lambda c: guesses[c], Fraction(10**5)) == [2]
    assert sorted(one.choose([(0, 1), (1, 2)], lambda c: guesses[c], Fraction(1), k=5)) == [0, 1]
    for weights in ([0, 1], [np.nan, 1], [2**30, 1]):
        with pytest.raises(InputError, match="weights"):
            one.choose([(0, 1), (1, 2)], lambda c: guesses[c], Fraction(1), weights=weights)
    with pytest.raises(InputError, match="candidates"):
        one.choose([], nothing, Fraction(1))
