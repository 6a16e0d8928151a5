"""Two counts tell one person's secret, or as little as epsilon allows."""

import math

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk.difference import difference_means, differencing, draw_salaries
from seam import Tape


def test_differences_tell_everything_or_as_little_as_epsilon_allows():
    secret = np.arange(4000) % 2 == 0
    found = differencing(secret[::-1].copy(), epsilon=0.5)
    assert found.right_exact == 1
    assert found.right_noisy < found.best + 0.05  # 6.5 deviations: once in 10^10
    assert found.best == pytest.approx(math.exp(0.5) / (1 + math.exp(0.5)))
    assert found.error == 12  # two counts share the budget: Laplace of scale 4
    assert found.picture().to_svg().startswith("<svg")
    assert differencing(secret, epsilon=20).right_noisy > 0.99  # a large epsilon hides nobody
    for bad in ({"epsilon": 0}, {"targets": 9999}):
        with pytest.raises(InputError, match=next(iter(bad))):
            differencing(secret, **{"epsilon": 1, **bad})


def test_two_averages_tell_a_salary_and_not_under_a_budget():
    """The average is a million with the one, and 0.999 million without."""
    pay = np.full(1000, 999_000)
    pay[7] = 1_999_000
    found = difference_means(pay, 1, bound=2_000_000, target=7, bits=Tape("pay"))
    assert (found.mean, found.mean_without) == (1_000_000, 999_000)
    assert round(found.exact) == found.salary == 1_999_000
    assert found.miss > 1_000_000
    assert found.error == pytest.approx(2 * 2_000_000 * math.log(20) / 1000, rel=0.01)
    assert "1,999,000" in str(found)
    assert found.picture().to_svg().startswith("<svg")
    told = difference_means(pay, 10**9, bound=2_000_000, target=7, bits=Tape("pay"))
    assert told.miss < 1  # a large epsilon hides nobody


def test_a_salary_above_the_bound_counts_as_the_bound():
    pay = np.array([50, 10, 10])
    found = difference_means(pay, 10**9, bound=20, bits=Tape("bound"))
    assert found.noisy == 20
    assert found.salary == 50


def test_made_up_salaries_are_within_the_bound_and_the_first_is_the_largest():
    drawn = draw_salaries(500, 1000)
    assert drawn[0] == drawn.max() <= 1000
    assert drawn.min() >= 10


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("salaries", {"salaries": np.array([1.5, 2])}),
        ("bound", {"bound": 0}),
        ("epsilon", {"epsilon": 0}),
        ("target", {"target": 9}),
    ],
)
def test_averages_that_make_no_sense_are_refused(field, wrong):
    with pytest.raises(InputError, match=field):
        difference_means(**{"salaries": np.array([1, 2]), "epsilon": 1, "bound": 5, **wrong})


def test_what_the_sum_tells_is_compared_with_a_guess():
    pay = np.full(1000, 999_000)
    pay[0] = 1_999_000
    little, much = (difference_means(pay, epsilon, bound=2_000_000, bits=Tape("guess")) for epsilon in (1, 10**4))
    assert little.blind == much.blind == pytest.approx(1_000_000)
    assert little.miss > little.blind
    assert "says less of it than a guess does" in little.conclusion()
    assert "still tell something" in much.conclusion()
    secret = np.arange(100) % 2 == 0
    assert "because one person moves a count by one" in differencing(secret, 1).conclusion()
    assert "no larger than one person" in differencing(secret, 1000).conclusion()
