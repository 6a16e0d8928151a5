"""The search for events: what gives a person away is found, in either direction, and said in words."""

import numpy as np

from discreet.audit import read_claim
from discreet.audit.events import Event, Judge, search
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


def test_codes_that_stand_for_whole_answers_are_in_no_order():
    draw = np.random.default_rng(4)
    inside, outside = draw.integers(0, 2, (4000, 3)), draw.integers(0, 2, (4000, 3))
    inside[:, 2] = inside[:, 0] ^ inside[:, 1]  # no number tells by itself, all three together do
    events = [event for event in search(inside, outside, JUDGE) if event.feature.words == "the whole answer"]
    assert events
    assert {event.kind for event in events} == {"one of"}
