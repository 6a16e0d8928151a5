"""A heat map of two keys: the larger the darker, every number to be read, and an outline where nothing is known."""

import pytest
from svg_parts import parts, texts

from discreet.errors import InputError
from discreet.show import Bar, tiles


def shade(picture, value):
    """The step of the cell that has a number."""
    (group,) = [one for one in parts(picture, "g") if any(text.text == value for text in one)]
    return next(int(part.get("class")[1:]) for part in group if part.get("class", "").startswith("p"))


def test_larger_numbers_are_darker_and_all_are_written():
    picture = tiles("n", ["a", "b"], ["x", "y"], [[Bar("", 1), Bar("", 40)], [Bar("", 90), Bar("", 0)]])
    steps = [shade(picture, value) for value in ("0", "1", "40", "90")]
    assert steps == sorted(steps)
    assert (steps[0], steps[-1]) == (0, 8)
    assert {"a", "b", "x", "y"} <= set(texts(picture))


def test_a_cell_of_which_nothing_is_known_is_an_outline_and_one_that_is_not_there_is_none():
    picture = tiles("n", ["a"], ["x", "y", "z"], [[Bar("", None), Bar("", 2), None]], unknown="too few rows")
    assert len(parts(picture, "rect", "none")) == 2  # the cell, and what it means
    assert "too few rows" in texts(picture)
    assert "too few rows" not in texts(tiles("n", ["a"], ["x"], [[Bar("", 2)]], unknown="too few rows"))
    assert picture.table.rows[0] == ("a", "too few rows", "2", "")


def test_numbers_of_many_columns_are_left_to_the_table():
    names = [f"c{i}" for i in range(30)]
    picture = tiles("n", ["a"], names, [[Bar("", 1000 + i) for i in range(30)]])
    assert "1,001" not in texts(picture)
    assert picture.table.rows[0][2] == "1,001"


def test_a_table_with_holes_is_refused():
    with pytest.raises(InputError, match="cells"):
        tiles("n", ["a"], ["x", "y"], [[Bar("", 1)]])
