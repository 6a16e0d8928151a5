"""Upright bars: heights in proportion, intervals in place, labels where there is room."""

import pytest
from svg_parts import parts, texts

from discreet.errors import InputError
from discreet.show import Column, columns


def test_heights_are_in_proportion_to_values():
    picture = columns("age", [Column("a", 10), Column("b", 20, 15, 40, 30), Column("c", -5)])
    heights = [float(body.get("height")) for body in parts(picture, "rect", "bar")]
    assert heights[1] == pytest.approx(2 * heights[0], abs=0.02)
    assert heights[2] == 0
    (line,) = parts(picture, "line", "interval")
    floor = float(parts(picture, "line", "axis")[0].get("y1"))
    assert floor - float(line.get("y1")) == pytest.approx(1.5 * heights[0], abs=0.02)
    assert floor - float(line.get("y2")) == pytest.approx(4 * heights[0], abs=0.02)
    (other,) = parts(picture, "line", "reference")
    assert floor - float(other.get("y1")) == pytest.approx(3 * heights[0], abs=0.02)


def test_of_many_labels_the_ends_are_written():
    few = columns("x", [Column(f"v{i}", 1) for i in range(4)])
    assert [text for text in texts(few) if text.startswith("v")] == ["v0", "v1", "v2", "v3"]
    many = columns("x", [Column(f"a label of {i:02}", 1) for i in range(24)])
    assert [text for text in texts(many) if "label" in text] == ["a label of 00", "a label of 12", "a label of 23"]


def test_no_columns_are_refused():
    with pytest.raises(InputError, match="data"):
        columns("x", [])
