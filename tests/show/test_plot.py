"""Two axes: corners lie in corners, and points outside lie on the edge."""

import pytest
from svg_parts import texts

from discreet.show import Axis, Picture, Scale
from discreet.show.plot import Plot, key

PLOT = Plot(Axis(Scale(0, 10), "across"), Axis(Scale(0, 100), "up"), 200, 100)


def test_corners_lie_in_corners():
    assert PLOT.at(0, 0) == (PLOT.left, PLOT.top + 100)
    assert PLOT.at(10, 100) == (PLOT.left + 200, PLOT.top)
    assert PLOT.at(99, -5) == (PLOT.left + 200, PLOT.top + 100)
    assert PLOT.at(5, 50) == pytest.approx((PLOT.left + 100, PLOT.top + 50))


def test_the_frame_has_ticks_and_names():
    found = texts(Picture("p", *PLOT.size, tuple(PLOT.frame())))
    assert {"across", "up", "0", "10", "100"} <= set(found)


def test_a_key_names_every_series():
    found = texts(Picture("p", 100, 100, tuple(key([("a", "line"), ("<b>", "point")], 0, 0))))
    assert found[-2:] == ["a", "<b>"]
