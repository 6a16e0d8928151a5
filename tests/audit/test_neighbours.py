"""Neighbours differ by one person, and the worst of many is found."""

import pytest

from discreet.audit import audit_any, worst
from discreet.audit.neighbours import added, histograms, moved_scores, pairs_of, replaced
from discreet.core.loss import Pure
from discreet.mechanisms import Laplace

pytestmark = pytest.mark.statistical

SURE = 1 - 1e-10


def test_the_worst_neighbour_is_found_among_many():
    # A mechanism that is private everywhere but next to a count of 7.
    def release(data, runs):
        scale = 1 if data in (7, 8) else 2
        return Laplace(scale).release([data] * runs)

    pairs = pairs_of(release, [(n + 1, n) for n in (0, 3, 7, 20)])
    found = worst(pairs, Pure("0.5"), runs=60_000, confidence=SURE)
    assert found.violated
    assert found.neighbours == "8 and 7"
    assert audit_any(pairs, Pure("0.5"), runs=30_000, confidence=SURE).neighbours == "8 and 7"
    assert not worst(pairs[:2], Pure("0.5"), runs=30_000, confidence=SURE).violated


def test_neighbours_differ_by_one_person():
    for inside, outside in added([1, 2, 3], 9):
        assert len(inside) == len(outside) + 1
    for inside, outside in histograms(5, rows=3):
        assert sum(inside) - sum(outside) == 3
    for inside, outside in moved_scores(4, by=2):
        assert max(abs(a - b) for a, b in zip(inside, outside, strict=True)) == 2
    for inside, outside in moved_scores(4, monotone=True):
        assert all(a >= b for a, b in zip(inside, outside, strict=True))
    for inside, outside in replaced([5], [0, 1, 2]):
        assert sum(a != b for a, b in zip(inside, outside, strict=True)) == 1
