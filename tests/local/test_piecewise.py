"""The piecewise mechanism: as good as published, and its reach."""

import math

import pytest

from discreet.errors import InputError
from discreet.local import Duchi, Piecewise


def test_the_worst_variance_is_at_most_the_published_one():
    # Published for real numbers: 4 e^(eps/2) / (3 (e^(eps/2) - 1)^2).
    for epsilon in (1, 4):
        root = math.exp(epsilon / 2)
        assert Piecewise(epsilon).variance(1) <= 4 * root / (3 * (root - 1) ** 2)


def test_it_wins_where_epsilon_is_large():
    assert Duchi(0.5).variance(1) < Piecewise(0.5).variance(1)
    assert Duchi(4).variance(1) > Piecewise(4).variance(1)


@pytest.mark.parametrize("epsilon", [1, 4])
def test_the_reach_is_the_best_of_all(epsilon):
    chosen = Piecewise(epsilon, steps=6)
    every = [Piecewise(epsilon, steps=6, reach=reach).variance(1) for reach in range(13)]
    assert chosen.variance(1) == min(every)


def test_reports_within_reach_are_likelier_by_the_ratio():
    mean = Piecewise(2, steps=3, reach=1)
    law = mean.point_law(2)
    near = {report for report, chance in law.items() if chance == max(law.values())}
    assert near == {report + mean.end for report in (1, 2, 3)}
    assert max(law.values()) == mean.ratio * min(law.values())


def test_wrong_reaches_are_refused():
    for wrong in ({"reach": -1}, {"reach": 10**6}, {"reach": 1.5}):
        with pytest.raises(InputError):
            Piecewise(1, **wrong)
