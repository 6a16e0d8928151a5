"""Neighbouring tables are told apart by no more than was charged: random tables, random questions of every kind.

For every pair of neighbours the integers that each mechanism is handed are captured (tests/seam.py); the loss that
their change makes of the noise that is added must be within the cost of the job, exactly: these are fractions. Bugs
planted in every part of the way are found (test_neighbour_questions.py, test_neighbour_codes.py,
test_neighbour_trees.py).
"""

from __future__ import annotations

import pytest

from neighbours import trials
from world_jobs import KINDS

PAIRS = {
    "sums": 200,
    "expressions": 60,
    "persons": 60,
    "unions": 80,
    "joins": 80,
    "quantiles": 140,
    "modes": 110,
    "private bounds": 60,
    "top": 180,
    "batches": 45,
    "streams": 45,
    "trees": 120,
    "magnitudes": 80,
    "groups": 60,
    "censuses": 80,
    "flows": 115,
    "commuters": 45,
    "synthesis": 20,
    "relations": 30,
    "discoveries": 150,
    "choices": 60,
}


def test_every_kind_is_tried():
    assert set(PAIRS) == set(KINDS)
    assert sum(PAIRS.values()) >= 1400


@pytest.mark.parametrize("kind", KINDS)
def test_neighbours_differ_by_no_more_than_is_charged(kind):
    for _ in trials(KINDS[kind], PAIRS[kind], seed=1):
        pass


@pytest.mark.large
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_more_neighbours_do_so_too(kind, seed):
    for _ in trials(KINDS[kind], 6 * PAIRS[kind], seed):
        pass
