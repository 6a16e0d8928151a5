"""Paths keep every corner to half a step, and degrees are as wide as on the ground."""

import math

import numpy as np
from map_layers import STATE, points

from discreet.show.map.projection import Grid, project


def test_a_path_keeps_every_corner_to_half_a_step():
    rings = STATE.rings["48"]
    grid = Grid.around(rings)
    drawn = list(points(grid.path(rings)))
    wanted = [(ring - (grid.left, grid.top)) * grid.scale for ring in rings]
    assert len(drawn) == len(rings)
    for ring, corners in zip(wanted, drawn, strict=True):
        apart = np.abs(ring[:, None] - corners[None]).max(axis=2)
        assert apart.min(axis=1).max() <= 0.5
        assert apart.min(axis=0).max() <= 0.5


def test_a_region_too_small_for_the_grid_can_still_be_seen():
    speck = np.array([[5, 5], [5.001, 5], [5.001, 5.001], [5, 5]])
    assert Grid(0, 0, 1, 10, 10).path([speck]) == "M-3 -3l16 0 0 16-16 0z"


def test_degrees_stay_together_across_the_date_line():
    east = np.array([[179, -17], [180, -17], [180, -16], [179, -17.0]])
    west = np.array([[-180, -17], [-179, -17], [-179, -16], [-180, -17.0]])
    grid = Grid.around(project([east, west], "auto", False))
    assert grid.width < 2.1 * grid.height  # two degrees wide, not 360
    apart = Grid.around(project([east, west], "map", False))
    assert apart.width > 300 * apart.height


def test_degrees_are_as_wide_as_they_are_on_the_ground():
    square = np.array([[10, 59.5], [11, 59.5], [11, 60.5], [10, 60.5], [10, 59.5]])
    grid = Grid.around(project([square], "degrees", False))
    assert math.isclose(grid.width / grid.height, 0.5, rel_tol=0.01)
