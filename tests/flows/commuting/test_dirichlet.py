"""Draws follow the Dirichlet-multinomial law, and other laws are told apart."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from small_urns import mass, outcomes

from chance import fits
from discreet.errors import InputError
from discreet.flows.commuting.dirichlet import LARGEST, below_each, draw, subset
from discreet.flows.commuting.prior import prior_for, pure_prior
from discreet.noise.bits import SystemBits

# The law of the draws.


@pytest.mark.parametrize(("weights", "draws", "unit"), [([3, 1, 2], 4, 1), ([5, 70, 1], 5, 7), ([64, 0, 32, 1], 3, 64)])
def test_draws_follow_the_dirichlet_multinomial_law(weights, draws, unit):
    cases = list(outcomes(draws, len(weights)))
    exact = np.array([float(mass(case, [Fraction(w, unit) for w in weights])) for case in cases])
    assert exact.sum() == pytest.approx(1)
    place = {case: number for number, case in enumerate(cases)}
    seen = [place[tuple(draw(np.array(weights), draws, unit).tolist())] for _ in range(8000)]
    assert fits(seen, lambda number: exact[number])


def test_other_laws_are_told_apart():
    """The same test rejects the multinomial law, and a prior that is half off."""
    weights, draws = [3, 1, 2], 4
    cases = list(outcomes(draws, 3))
    place = {case: number for number, case in enumerate(cases)}
    seen = [place[tuple(draw(np.array(weights), draws).tolist())] for _ in range(8000)]
    plain = np.array([stats.multinomial.pmf(case, draws, np.array(weights) / 6) for case in cases])
    other = np.array([float(mass(case, [Fraction(3), Fraction(3, 2), Fraction(2)])) for case in cases])
    assert not fits(seen, lambda number: plain[number])
    assert not fits(seen, lambda number: other[number])


def test_many_draws_at_once_have_the_beta_binomial_law():
    """Long chains of copies: the first of two colours in 2,000 draws, in fifties, against the law of scipy."""
    seen = [int(draw(np.array([3, 5]), 2000, 2)[0]) // 50 for _ in range(4000)]

    def fifties(shape):
        masses = stats.betabinom.pmf(np.arange(2050), 2000, shape, 2.5).reshape(41, 50).sum(axis=1)
        return lambda x: np.where(x < 41, masses[np.minimum(x, 40)], 0)

    assert fits(seen, fifties(1.5))
    assert not fits(seen, fifties(2.5))


def test_bounds_of_their_own_are_even():
    drawn = below_each(np.tile(np.array([3, 5]), 30_000), SystemBits())
    assert fits(drawn[::2], lambda x: np.full(len(x), 1 / 3) * (x < 3))
    assert fits(drawn[1::2], lambda x: np.full(len(x), 1 / 5) * (x < 5))
    # Far above half of the 63 bits: a remainder without rejection would make small numbers twice as likely.
    large = below_each(np.full(20_000, 3 * 2**60), SystemBits()) >> 60
    assert fits(large, lambda x: np.full(len(x), 1 / 3) * (x < 3))


def test_a_subset_is_any_with_the_same_chance():
    seen = [int(subset(np.array([4, 3]), 3)[0]) for _ in range(8000)]
    assert fits(seen, lambda x: stats.hypergeom.pmf(x, 7, 4, 3))
    assert not fits(seen, lambda x: stats.binom.pmf(x, 3, 4 / 7))
    assert subset(np.array([4, 3]), 0).tolist() == [0, 0]
    assert subset(np.array([4, 3]), 7).tolist() == [4, 3]


@pytest.mark.parametrize(
    "work",
    [
        lambda: draw(np.array([-1, 2]), 3),
        lambda: draw(np.array([0, 0]), 3),
        lambda: draw(np.array([], dtype=int), 3),
        lambda: draw(np.array([0.5, 2]), 3),
        lambda: draw(np.array([1, 2]), -1),
        lambda: draw(np.array([1, 2]), 1, 0),
        lambda: draw(np.array([LARGEST]), 1),
        lambda: subset(np.array([1, 2]), 4),
        lambda: prior_for("wishful", 10, 3, Fraction(1), Fraction(1, 10)),
        lambda: pure_prior(10, Fraction(1, 10**60)),
    ],
)
def test_what_makes_no_urn_is_refused(work):
    with pytest.raises(InputError):
        work()
    assert draw(np.array([1, 2]), 0).tolist() == [0, 0]
