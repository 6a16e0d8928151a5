"""Features of outputs: each reads what it says, and those that learn do so from the runs they are given."""

import numpy as np
import pytest

from discreet.audit.features import Coordinate, Difference, Likelihood, Logistic, LowestBit, Pattern, Row, features

FLOATS = np.array([[1.0, 0.75], [-0.0, 3.0], [0.0, 3.0], [np.nan, np.inf]])


def test_numbers_are_read_as_they_are_and_less_each_other():
    assert Coordinate(1, only=False).read(FLOATS)[:3].tolist() == [0.75, 3.0, 3.0]
    assert Difference(1, 0).read(FLOATS)[:3].tolist() == [-0.25, 3.0, 3.0]
    assert Coordinate(0, only=True).words == "the answer"
    assert Difference(1, 0).words == "number 2 less number 1 of the answer"


def test_the_last_binary_digit_is_where_it_is():
    outputs = np.array([[1.0], [0.75], [6.0], [2.0**-53], [1 + 2.0**-52], [0.0]])
    assert LowestBit(0).read(outputs).tolist() == [0, -2, 1, -53, -52, 9999]


def test_bit_patterns_tell_minus_zero_and_nan():
    minus, plus = Pattern(0).read(FLOATS)[1:3]
    assert minus != plus
    assert len(set(Pattern(0).read(FLOATS).tolist())) == 4


def test_whole_rows_are_the_same_where_all_numbers_are():
    outputs = np.array([[1, 2, 3], [3, 2, 1], [1, 2, 3], [1, 2, 4]])
    first, turned, same, other = Row().read(outputs)
    assert first == same
    assert len({first, turned, other}) == 3


@pytest.mark.parametrize("kind", [Likelihood, Logistic])
def test_a_classifier_scores_the_side_it_has_learned(kind):
    draw = np.random.default_rng(1)
    inside, outside = draw.normal(1, 1, (4000, 3)), draw.normal(0, 1, (4000, 3))
    learned = kind.learn(inside[:2000], outside[:2000])
    a, b = learned.read(inside[2000:]), learned.read(outside[2000:])
    # The best test has an advantage of 0.61; 2,000 runs a side are within 0.03 of it, whatever the draws.
    gap = max((a > t).mean() - (b > t).mean() for t in np.quantile(np.concatenate([a, b]), np.linspace(0, 1, 50)))
    assert gap > 0.5


def test_one_number_needs_no_classifier_and_many_are_read_where_they_differ():
    draw = np.random.default_rng(2)
    one = draw.integers(0, 9, (100, 1))
    assert [type(feature) for feature in features(one, one)] == [Coordinate]
    wide = draw.normal(size=(500, 40))
    moved = wide.copy()
    moved[:, 33] += 5
    read = [feature.place for feature in features(moved, wide) if isinstance(feature, Coordinate)]
    assert len(read) == 12
    assert 33 in read
