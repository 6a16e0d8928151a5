"""The search for events: what gives a person away is found, in either direction, and said in words."""

import numpy as np
import pytest

from discreet.audit import read_claim
from discreet.audit.bounds import at_least
from discreet.audit.events import Event, Judge, _low, search
from discreet.audit.features import Coordinate
from discreet.core.loss import Pure

JUDGE = Judge.at(read_claim(Pure(1)), 0.0, 1e-3)
ANSWER = Coordinate(0, only=True)


def best(inside, outside):
    return search(inside.reshape(len(inside), -1), outside.reshape(len(outside), -1), JUDGE)[0]


def test_an_event_holds_where_it_says():
    outputs = np.array([[1], [2], [3]])
    assert Event(ANSWER, "at least", np.array([2]), False).holds(outputs).tolist() == [False, True, True]
    assert Event(ANSWER, "at most", np.array([2]), False).holds(outputs).tolist() == [True, False, False]
    assert Event(ANSWER, "one of", np.array([1, 3]), False).holds(outputs).tolist() == [True, False, True]
    assert str(Event(ANSWER, "at least", np.array([2]), False)) == "the answer is 2 or more"
    assert str(Event(ANSWER, "at most", np.array([2]), False)) == "the answer is below 2"
    assert str(Event(ANSWER, "one of", np.array([1]), False)) == "the answer is exactly 1"
    assert str(Event(ANSWER, "one of", np.array([1, 3]), False)) == "the answer is one of 2 values"


def test_a_shift_is_found_as_a_threshold():
    draw = np.random.default_rng(1)
    inside, outside = draw.normal(3, 1, 2000), draw.normal(0, 1, 2000)
    event = best(inside, outside)
    here, there = event.holds(inside[:, None]).mean(), event.holds(outside[:, None]).mean()
    assert abs(here - there) > 0.7  # 0.87 at best
    assert (here > there) != event.swapped


def test_a_value_that_is_never_noisy_is_found_among_many():
    draw = np.random.default_rng(2)
    inside, outside = draw.integers(-(10**9), 10**9, 3000), draw.integers(-(10**9), 10**9, 3000)
    inside[::20] = 77
    event = best(inside, outside)
    assert (event.kind, event.values.tolist(), event.swapped) == ("one of", [77], False)
    event = best(outside, inside)
    assert (event.values.tolist(), event.swapped) == ([77], True)


def test_a_set_of_values_is_found_where_no_threshold_tells():
    draw = np.random.default_rng(3)
    inside, outside = 2 * draw.integers(0, 50, 4000), draw.integers(0, 100, 4000)
    events = search(inside[:, None], outside[:, None], JUDGE)
    sets = [event for event in events if event.kind == "one of" and len(event.values) > 20]
    assert sets
    assert max(abs(event.holds(inside[:, None]).mean() - event.holds(outside[:, None]).mean()) for event in sets) > 0.4


@pytest.mark.parametrize(("k", "n"), [(0, 50), (3, 1000), (500, 1000), (990, 1000)])
def test_quick_bounds_are_hardly_above_the_exact_ones_and_not_far_below(k, n):
    quick = float(_low(np.array([k]), n, 1.959964)[0])
    exact = at_least(k, n, 0.025)
    assert 0.95 * exact - 1e-3 <= quick <= exact + 1e-3
