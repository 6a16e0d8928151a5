"""The catalogue against every small dataset and every neighbour of it."""

import itertools
import math
from fractions import Fraction

import pytest

from discreet.core.unit import Neighbours
from discreet.errors import InputError
from discreet.mechanisms import sensitivity

LOWER, UPPER = -1, 2
GRID = (-1, 0, 2)
SIZES = (1, 2, 3, 4)


def mean(data):
    return Fraction(sum(data), len(data))


def variance(data):
    return sum((x - mean(data)) ** 2 for x in data) / len(data)


def deviation(data):
    return math.sqrt(variance(data))


def median(data):
    middle, ordered = len(data) // 2, sorted(data)
    return Fraction(ordered[middle] if len(data) % 2 else Fraction(ordered[middle - 1] + ordered[middle], 2))


def positive(data):
    return sum(x > 0 for x in data)


def catalogue(neighbours, n):
    ends = {"lower": LOWER, "upper": UPPER, "neighbours": neighbours}
    return {
        positive: sensitivity.count(neighbours),
        sum: sensitivity.total(**ends),
        mean: sensitivity.mean(**ends, n=n),
        variance: sensitivity.variance(**ends, n=n),
        deviation: sensitivity.standard_deviation(**ends, n=n),
        max: sensitivity.maximum(**ends),
        median: sensitivity.median(**ends, n=n),
    }


def pairs(neighbours, n):
    """Every dataset of n values with every neighbour of it (order does not matter to any of the statistics)."""
    for data in itertools.combinations_with_replacement(GRID, n):
        for value in GRID:
            if neighbours is Neighbours.ADD_REMOVE:
                yield data, (*data, value)
            else:
                for i in range(n):
                    yield data, (*data[:i], value, *data[i + 1 :])


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("n", SIZES)
def test_catalogue_bounds_every_neighbour_and_is_attained(neighbours, n):
    for statistic, claimed in catalogue(neighbours, n).items():
        largest = max(abs(statistic(data) - statistic(other)) for data, other in pairs(neighbours, n))
        assert largest <= claimed + Fraction(1, 10**12), statistic
        assert largest >= claimed - Fraction(1, 10**9), statistic  # so anything smaller would be caught


@pytest.mark.parametrize("n", SIZES)
def test_a_known_minimum_size_is_enough(n):
    """Under add/remove `n` is a lower bound on the size: larger data moves less."""
    small, large = catalogue(Neighbours.ADD_REMOVE, n), catalogue(Neighbours.ADD_REMOVE, n + 1)
    assert all(large[statistic] <= small[statistic] for statistic in small)


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_histogram(neighbours):
    moved = []
    for data, other in pairs(neighbours, 3):
        change = [abs(data.count(value) - other.count(value)) for value in GRID]
        moved.append((max(change), sum(c > 0 for c in change)))
    claimed = sensitivity.histogram(neighbours)
    assert max(each for each, _ in moved) == claimed.each
    assert max(outputs for _, outputs in moved) == claimed.outputs


def test_the_deviation_does_not_move_like_one_over_n():
    n = 10_000
    for neighbours in Neighbours:
        claimed = sensitivity.standard_deviation(0, 1, n, neighbours)
        assert float(claimed) == pytest.approx(1 / math.sqrt(n), rel=1e-3)
    n = 100
    moved = deviation([0] * (n - 1) + [1]) - deviation([0] * n)
    assert moved > 9 * (1 / n)  # 1/n, often quoted, is far too small


def test_bounds_are_checked():
    with pytest.raises(InputError, match="upper"):
        sensitivity.mean(1, 0, n=3)
    with pytest.raises(InputError, match=r"^`n` "):
        sensitivity.mean(0, 1, n=0)
    with pytest.raises(InputError, match="lower"):
        sensitivity.total(float("nan"), 1)
    assert sensitivity.variance(0, 1, 1, Neighbours.REPLACE) == 0
