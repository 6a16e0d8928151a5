"""Grids: what is none is refused by name."""

import math

import pytest

from discreet.errors import InputError
from discreet.power.grid import Grid, Piecewise, Quadratic
from discreet.power.opf import optimal_flow
from grids import CHEAP, pair

pytest.importorskip("clarabel", reason="needs discreet[power]")


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: Grid.of(3, [(0, 1, 100, 10)], [(0, 0, 9, CHEAP)], [1]), "grid"),  # bus 2 is an island
        (lambda: Grid.of(2, [(0, 1, 100, 10)], [(0, 0, 9, CHEAP)], []), "grid"),
        (lambda: Grid.of(2, [(0, 1, 100, 10)], [], [1]), "grid"),
        (lambda: Grid.of(2, [(0, 1, 100, 10)], [(5, 0, 9, CHEAP)], [1]), "grid.generator_bus"),
        (lambda: Grid.of(2, [(0, 1, 0, 10)], [(0, 0, 9, CHEAP)], [1]), "grid.susceptance"),
        (lambda: Grid.of(2, [(0, 1, 100, math.nan)], [(0, 0, 9, CHEAP)], [1]), "grid.limit"),
        (lambda: Grid.of(2, [(0, 1, 100, -1)], [(0, 0, 9, CHEAP)], [1]), "grid.limit"),
        (lambda: Grid.of(2, [(0, 1, 100, 10)], [(0, 10, 9, CHEAP)], [1]), "grid.generator_upper"),
        (lambda: Grid.of(2, [(0, 1, 100, 10)], [(0, 0, math.inf, CHEAP)], [1]), "grid.generator_upper"),
        (lambda: Grid.of(2, [(0, 1, 100, 10)], [(0, 0, 9, CHEAP)], [1], [0, 10]), "grid.capacity"),
        (lambda: Quadratic(math.nan), "cost"),
        (lambda: Piecewise(((0, 0),)), "cost"),
        (lambda: Piecewise(((0, 0), (0, 1))), "cost"),
        (lambda: optimal_flow(pair(), [1, 2]), "loads"),
        (lambda: optimal_flow(pair(), [math.nan]), "loads"),
    ],
)
def test_what_is_no_grid_is_refused(build, field):
    with pytest.raises(InputError) as caught:
        build()
    assert caught.value.field == field
