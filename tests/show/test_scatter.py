"""Points on a diagonal: equal numbers lie on it, and areas are in proportion to weights."""

import pytest
from svg_parts import parts

from discreet.errors import InputError
from discreet.show import Point, scatter


def test_equal_numbers_lie_on_the_diagonal_and_areas_follow_weights():
    picture = scatter("s", [Point("a", 5, 5, 400), Point("b", 10, 2, 100)])
    large, small = parts(picture, "circle", "dot")
    left, top, side = 52, 10, 300
    assert (float(large.get("cx")) - left) / side == pytest.approx(1 - (float(large.get("cy")) - top) / side, abs=1e-3)
    assert float(large.get("r")) == pytest.approx(2 * float(small.get("r")))
    assert picture.table.rows[0] == ("a", "5", "5", "400")


def test_no_points_are_refused():
    with pytest.raises(InputError, match="data"):
        scatter("s", [])
