"""Curves of detections against false alarms, with the region that is allowed."""

import re

import pytest
from drawn import parts, texts

from discreet.show import Line, roc


def test_a_point_lies_where_its_rates_are():
    picture = roc(
        "r", [Line("a", ((0, 0), (1, 1)))], region=[(0, 0), (0.25, 0.75), (1, 1)], point=(0.25, 0.75), bad=True
    )
    (region,), (point,) = parts(picture, "path", "region"), parts(picture, "circle", "point")
    corner = re.findall(r"([\d.]+) ([\d.]+)", region.get("d"))[1]
    assert [float(value) for value in corner] == pytest.approx([float(point.get("cx")), float(point.get("cy"))])
    assert "bad" in point.get("class")


def test_several_curves_have_names_and_one_has_none():
    one, two = Line("a", ((0, 0), (1, 1))), Line("b", ((0, 0), (0.1, 0.9), (1, 1)))
    assert "a" not in texts(roc("r", [one]))
    assert {"a", "b"} <= set(texts(roc("r", [one, two])))
    assert roc("r", []).table is None
