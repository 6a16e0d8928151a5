"""Lines pass through their points; a budget goes down by what was spent."""

import re
from itertools import pairwise

import pytest
from svg_parts import parts, texts

from discreet.errors import InputError
from discreet.show import Axis, Band, Line, Scale, Step, lines, roc, steps


def corners(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)]


def test_a_line_passes_through_its_points_on_its_axes():
    across = Axis(Scale(1, 100, log=True), "epsilon")
    picture = lines("l", [Line("a", ((1, 0), (10, 5), (100, 10)))], x=across, y=Axis(Scale(0, 10)))
    (line,) = parts(picture, "path", "line")
    (x0, y0), (x1, y1), (x2, y2) = corners(line.get("d"))
    assert x1 == pytest.approx((x0 + x2) / 2)
    assert y1 == pytest.approx((y0 + y2) / 2)
    assert y2 < y0
    assert len(parts(picture, "circle", "point")) == 3


def test_levels_and_series_have_names_and_colours_of_their_own():
    picture = lines("l", [Line("a", ((0, 1), (1, 2))), Line("b", ((0, 2),), loose=True)], levels=[("top", 3)])
    assert {"a", "b", "top"} <= set(texts(picture))
    drawn = [one.get("class") for one in parts(picture, "line", "line") if "dashed" in one.get("class")]
    assert drawn == ["line dashed s2"] * 2  # the level, and what it is called
    assert ("top", "any", "3") in picture.table.rows


def test_the_stairs_of_a_budget_are_its_sums():
    picture = steps("left", 2, [Step(1.5, "a"), Step(0.5, "b")], first="2024-01-01", last="2024-02-01")
    heights = [float(one.get("height")) for one in parts(picture, "rect", "area")]
    assert heights == pytest.approx([180, 135, 45])
    stairs = [corners(one.get("d")) for one in parts(picture, "path", "line")]
    assert all(after[0] == before[-1] for before, after in pairwise(stairs))  # no gaps and no overlaps
    assert {"2024-01-01", "2 charges", "2024-02-01", "0", "1", "2"} <= set(texts(picture))
    assert len(parts(steps("left", 2, []), "rect", "area")) == 1


def test_a_band_lies_between_its_curves_and_is_in_the_key_and_the_table():
    band = Band("interval", ((0, 1), (1, 2)), ((0, 3), (1, 4)))
    picture = lines("l", [Line("a", ((0, 2), (1, 3)))], bands=[band])
    (area,), (line,) = parts(picture, "path", "area"), parts(picture, "path", "line")
    around, middle = corners(area.get("d")), corners(line.get("d"))
    high, low = around[:2], around[2:][::-1]
    assert all(up[1] < here[1] < down[1] for up, here, down in zip(high, middle, low, strict=True))  # y grows downwards
    assert "interval" in texts(picture)
    assert [row[0] for row in picture.table.rows] == ["a"] * 2 + ["interval, from"] * 2 + ["interval, to"] * 2


def test_no_points_and_no_whole_are_refused():
    with pytest.raises(InputError, match="data"):
        lines("l", [])
    with pytest.raises(InputError, match="whole"):
        steps("left", 0, [])


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
