"""Loads: the repaired ones can be fed at the true cost."""

import numpy as np
import pytest

pytest.importorskip("clarabel")

from discreet.apps.demo.grid_lecture import _gap, show
from discreet.power.grid import Grid, Quadratic


def test_repaired_loads_cost_what_true_ones_do():
    repaired, _, noise = show().numbers
    assert float(repaired.here.rstrip("%")) <= 1
    assert noise.here.endswith("MW")


def test_loads_that_cannot_be_fed_are_said_to_be():
    grid = Grid.of(2, [(0, 1, 1000, 80)], [(0, 0, 200, Quadratic(slope=20))], [1])
    assert _gap(grid, np.array([300.0]), 100) == "cannot be fed"
    assert _gap(grid, np.array([50.0]), 1000) == "0.00%"
