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


def test_lines_of_the_axis_leave_out_the_letters_of_names():
    data = [Bar("a", 5, heading="first"), Bar("b", -3), Bar("c", 4, heading="second")]
    marks = [*parts(bars("n", data), "line", "zero")]
    assert [(float(line.get("y1")), float(line.get("y2"))) for line in marks] == [(30, 114), (144, 186)]
    assert {(line.get("stroke-dasharray"), line.get("stroke-dashoffset")) for line in marks} == {("22 20", "22")}


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


def test_an_interval_far_wider_than_others_ends_in_arrows_and_squashes_nothing():
    data = [Bar(f"g{i}", 100 + i, 95 + i, 105 + i) for i in range(6)]
    picture = bars("n", [*data, Bar("wide", 100, -4000, 9000)])
    assert min(share(body.get("width")) for body in parts(picture, "rect", "bar")) > 0.8
    assert len(parts(picture, "path", "goes-on")) == 2
    assert "100\u2002-4,000 to 9,000" in texts(picture)


def test_a_value_that_is_not_known_is_said_in_words():
    picture = bars("n", [Bar("a", 5, 4, 6), Bar("b", None)], unknown="too few rows")
    assert len(parts(picture, "rect", "bar")) == 1
    assert "too few rows" in texts(picture)
    assert picture.description == "a 5, from 4 to 6; b too few rows"
