"""Thin bars beside names: as long as their numbers, in the colours of their series; words where nothing is known."""

import re

import pytest
from svg_parts import parts, share, texts

from discreet.errors import InputError
from discreet.show import Bar, Group, Scale, groups
from discreet.show.plot import legend


def test_bars_end_where_their_numbers_say():
    axis = Scale(0, 200)
    picture = groups("n", [Group("a", (Bar("", 50, 40, 60),)), Group("b", (Bar("", 100, 90, 110),))], scale=axis)
    assert [share(body.get("width")) for body in parts(picture, "rect", "bar")] == pytest.approx([0.25, 0.5])
    first = parts(picture, "line", "interval")[0]
    assert [share(first.get("x1")), share(first.get("x2"))] == pytest.approx([0.2, 0.3])
    assert {"a", "b", "50", "100"} <= set(texts(picture))


def test_series_have_colours_and_a_legend():
    picture = groups("n", [Group("a", (Bar("", 1), Bar("", 2))), Group("b", (None, Bar("", 3)))], ["f", "m"])
    colours = [body.get("class") for body in parts(picture, "rect", "bar")]
    assert colours == ["bar s0", "bar s1", "bar s0", "bar s1", "bar s1"]  # two of them are the legend
    assert [row[0] for row in picture.table.rows] == ["a · f", "a · m", "b · m"]


def test_a_legend_of_short_names_stands_side_by_side_and_one_of_long_names_in_two_columns():
    assert legend(["f"])[0] == legend(["f", "m", "x"])[0] == 30
    assert legend(["n" * 22] * 2)[0] == 30
    assert legend(["n" * 22] * 3)[0] == 48
    firsts = [
        [re.search(r'x="([^"]*)"', str(part))[1] for part in legend(names)[1]] for names in ("fm", ["n" * 22] * 2)
    ]
    assert firsts == [["0", "49.6"], ["0%", "50%"]]


def test_what_is_not_known_is_said():
    picture = groups("n", [Group("a", (Bar("", None),)), Group("b", (Bar("", 1),))], unknown="too few rows")
    assert "too few rows" in texts(picture)
    assert picture.table.rows[0][1] == "too few rows"


@pytest.mark.parametrize("data", [[], [Group("a", ())]])
def test_what_cannot_be_drawn_is_refused(data):
    with pytest.raises(InputError, match="data"):
        groups("n", data)
