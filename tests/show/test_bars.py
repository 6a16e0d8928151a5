"""Bars lie nowhere: they begin at zero and end where their numbers say, and so do their intervals."""

import pytest
from svg_parts import parts, share, texts

from discreet.errors import InputError
from discreet.show import Bar, Scale, bars


@pytest.mark.parametrize("values", [[100, 200, 300], [-50, 0, 70], [-300, -200], [0.25, 0.5], [10**9, 1]])
def test_bars_and_intervals_end_where_the_numbers_say(values):
    data = [Bar(f"g{i}", value, value - 10, value + 10) for i, value in enumerate(values)]
    axis = Scale.around([end for value in values for end in (value - 10, value + 10)], zero=True)
    picture = bars("n", data, scale=axis)
    for value, body in zip(values, parts(picture, "rect", "bar"), strict=True):
        start, end = share(body.get("x")), share(body.get("x")) + share(body.get("width"))
        assert [start, end] == pytest.approx(sorted((axis.at(0), axis.at(value))), abs=1e-4)
    lines = parts(picture, "line", "interval")
    for value, line in zip(values, lines[::3], strict=True):  # a line and its two ends
        assert share(line.get("x1")) == pytest.approx(axis.at(value - 10), abs=1e-4)
        assert share(line.get("x2")) == pytest.approx(axis.at(value + 10), abs=1e-4)


def test_ends_that_are_not_known_are_not_drawn_and_said():
    picture = bars("n", [Bar("a", 5.0), Bar("b", 5.0, float("-inf"), float("inf"))])
    assert parts(picture, "line", "interval") == []
    assert picture.table.rows[0] == ("a", "5", "not known", "not known")
    assert picture.description == "a 5; b 5"


def test_labels_are_text_and_their_numbers_stand_beside_them():
    picture = bars("n", [Bar("<b>", 1, 0, 2, heading="H"), Bar("c", 2, series=7)])
    assert "<b>" in texts(picture)
    assert "1\u20020 to 2" in texts(picture)
    assert "H" in texts(picture)
    assert [body.get("class") for body in parts(picture, "rect", "bar")] == ["bar s0", "bar s1"]


def test_points_need_no_zero():
    picture = bars("n", [Bar("mean", 21, 20, 22)], points=True)
    (point,) = parts(picture, "circle", "point")
    assert share(point.get("cx")) == pytest.approx(0.5)
    assert parts(picture, "rect", "bar") == []


@pytest.mark.parametrize("data", [[], [Bar("a", float("nan"))], [Bar("a", "2024-01-01")]])
def test_what_cannot_be_drawn_is_refused(data):
    with pytest.raises(InputError, match="data"):
        bars("n", data)
