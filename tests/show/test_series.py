"""Lines over ordered groups: points at the heights of their numbers, and gaps where nothing is known."""

import pytest
from svg_parts import parts, texts

from discreet.errors import InputError
from discreet.show import Bar, Scale, Series, series


def test_points_and_intervals_lie_at_the_heights_of_their_numbers():
    line = Series("", (Bar("", 0, 0, 50), Bar("", 100, 90, 100)))
    picture = series("n", ["a", "b"], [line], scale=Scale(0, 100), height=200)
    assert [float(point.get("cy")) for point in parts(picture, "circle", "point")] == [200, 0]
    first = parts(picture, "line", "interval")[0]
    assert (float(first.get("y1")), float(first.get("y2"))) == (100, 200)


def test_a_gap_is_no_zero():
    line = Series("", (Bar("", 1), Bar("", None), Bar("", 3), None, Bar("", 4), Bar("", 5)))
    picture = series("n", list("abcdef"), [line], unknown="too few rows")
    assert len(parts(picture, "line", "line")) == 1
    assert len(parts(picture, "circle", "missing")) == 1
    assert picture.table.rows[1] == ("b", "too few rows", "", "")


def test_several_lines_are_named_and_many_labels_are_thinned():
    labels = [f"{10 * i}..{10 * i + 10}" for i in range(30)]
    data = [Series(name, tuple(Bar("", i) for i in range(30))) for name in ("f", "m")]
    picture = series("n", labels, data)
    shown = [text for text in texts(picture) if ".." in text]
    assert {"f", "m"} <= set(texts(picture))
    assert 2 <= len(shown) <= 8
    assert shown[0] == "0..10"


def test_no_line_leads_to_a_label_that_is_apart_and_it_is_always_written():
    labels = [*(f"{10 * i}..{10 * i + 10}" for i in range(30)), "(missing)"]
    line = Series("", tuple(Bar("", 5) for _ in labels))
    joined, loose = (series("n", labels, [line], apart=apart) for apart in ((), {"(missing)"}))
    assert len(parts(joined, "line", "line")) == 30
    assert len(parts(loose, "line", "line")) == 29
    assert len(parts(loose, "circle", "point")) == len(parts(joined, "circle", "point"))
    assert "(missing)" in texts(loose)


@pytest.mark.parametrize("data", [[], [Series("", (Bar("", 1),))]])
def test_what_cannot_be_drawn_is_refused(data):
    with pytest.raises(InputError, match="data"):
        series("n", ["a", "b"], data)
