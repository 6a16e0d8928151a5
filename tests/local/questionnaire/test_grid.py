"""Grids: what they write they read, and nothing between their points."""

import pytest

from discreet.errors import InputError
from discreet.local.questionnaire.grid import Grid


def test_a_grid_reads_what_it_writes():
    grid = Grid.between("-0.3", "0.5", "0.1")
    assert [grid.text(place) for place in range(grid.points)] == [
        "-0.3",
        "-0.2",
        "-0.1",
        "0",
        "0.1",
        "0.2",
        "0.3",
        "0.4",
        "0.5",
    ]
    assert [grid.index(grid.text(place)) for place in range(grid.points)] == list(range(9))
    for wrong in ("0.05", "0.6", "-0.4"):
        with pytest.raises(InputError, match=r"a number from -0.3 to 0.5 in steps of 0.1"):
            grid.index(wrong)
