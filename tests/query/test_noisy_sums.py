"""Sums of disjoint cells with noise: what one unit moves, and a price that covers it."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from discreet.accounting import pure, zcdp
from discreet.core.unit import Unit
from discreet.mechanisms import Gaussian, Laplace
from discreet.query.noisy_sums import NoisySums, moved_sums

UNITS = [
    Unit(),
    Unit(neighbours="replace"),
    Unit("p", groups=2, rows=2),
    Unit("p", "replace", groups=2, rows=2),
    Unit("p", groups=9, rows=1),
]


def additions(unit, cells):
    """All that one unit can add to cells: at most so many rows to each of at most so many."""
    rows, groups = (1, 1) if unit.column is None else (unit.rows, unit.groups)
    for counts in itertools.product(range(rows + 1), repeat=cells):
        if sum(map(bool, counts)) <= groups:
            yield counts


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("sums", [1, 2])
def test_no_unit_moves_sums_by_more_than_is_said_and_some_unit_does(unit, sums):
    """All neighbours over four cells, of which each sum holds some."""
    cells = 4
    claimed, merged = moved_sums(unit, cells, sums)
    most = [0, 0]
    replaced = "replace" in str(unit.neighbours).lower()
    for came in additions(unit, cells):
        for went in additions(unit, cells) if replaced else [(0,) * cells]:
            change = [a - b for a, b in zip(came, went, strict=True)]
            moved = [sum(change[i::sums]) for i in range(sums)]
            most = [max(most[0], sum(map(abs, moved))), max(most[1], sum(m * m for m in moved))]
    assert most[0] <= claimed.l1
    assert most[1] <= claimed.l2_squared
    assert (
        most[0] == claimed.l1
    )  # the bound is reached, and that of squares where all of a unit's cells may be in one sum
    assert most[1] == claimed.l2_squared or unit.groups * sums > cells
    assert merged == (unit.column is not None and min(unit.groups, cells) > 1)


def test_the_cost_rests_on_norms_where_cells_of_a_unit_may_meet_in_a_sum():
    moved, merged = moved_sums(Unit("p", groups=2, rows=3), 10, 5)
    laplace = NoisySums(Fraction(1), Laplace(12), moved, merged)
    assert pure(laplace.loss).epsilon == Fraction(6, 12)
    gaussian = NoisySums(Fraction(1), Gaussian(12), moved, merged)
    assert zcdp(gaussian.loss).rho == Fraction(36, 2 * 144)
    apart, merged = moved_sums(Unit(), 10, 5)
    assert not merged
    assert NoisySums(Fraction(1), Laplace(4), apart, merged).loss == Laplace(4).loss(apart)
