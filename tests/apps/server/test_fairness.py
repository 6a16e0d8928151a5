"""Whose job is next: turns among callers, and priorities."""

import random
from collections import Counter
from itertools import pairwise

from discreet.apps.server.fairness import Place, fair_order


def test_one_caller_with_500_jobs_does_not_keep_another_waiting():
    many = [Place("ann", 0, number) for number in range(1, 501)]
    order = fair_order([*many, Place("bob", 0, 501), Place("bob", 0, 502)], {"ann": 9})
    assert [place.who for place in order[:4]] == ["bob", "ann", "bob", "ann"]
    assert [place for place in order if place.who == "ann"] == many


def test_a_higher_priority_goes_first_and_turns_count_within_each():
    waiting = [Place("ann", 0, 1), Place("ann", 0, 2), Place("bob", -1, 3), Place("eve", 1, 4), Place("bob", 0, 5)]
    assert [(one.who, one.priority) for one in fair_order(waiting, {})] == [
        ("eve", 1),
        ("ann", 0),
        ("bob", 0),
        ("ann", 0),
        ("bob", -1),
    ]


def test_nobody_has_two_turns_while_another_who_waits_has_none():
    for seed in range(200):
        draw = random.Random(seed)
        waiting = [Place(draw.choice("abcde"), 0, number) for number in range(draw.randrange(1, 40))]
        served = {who: draw.randrange(5) for who in "abc"}
        order = fair_order(waiting, served)
        assert sorted(order) == sorted(waiting)
        left = Counter(place.who for place in waiting)
        for who in left:
            turns = [at for at, place in enumerate(order) if place.who == who]
            for first, then in pairwise(turns):
                between = {place.who for place in order[first + 1 : then]}
                still = {other for other in left if other != who and any(p.who == other for p in order[first + 1 :])}
                assert still <= between


def test_first_come_first_served_is_found_unfair():
    """The planted bug: without turns the other caller waits for all 500."""
    many = [Place("ann", 0, number) for number in range(1, 501)]
    order = sorted([*many, Place("bob", 0, 501)], key=lambda place: place.number)
    assert order.index(Place("bob", 0, 501)) == 500
    assert fair_order([*many, Place("bob", 0, 501)], {}).index(Place("bob", 0, 501)) <= 1
