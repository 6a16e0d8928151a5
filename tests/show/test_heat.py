"""Heat maps: one square for each two names, its colour by its size and sign."""

import math

import pytest
from svg_parts import parts, texts

from discreet.errors import InputError
from discreet.show import grid, image, matrix


def test_squares_are_coloured_by_size_and_sign():
    picture = matrix("m", ["a", "b", "c"], [[1, 1, -1], [1, 1, 0], [-1, math.nan, 1]])
    kinds = [one.get("class") for one in parts(picture, "rect") if one.get("rx") == "2"]
    assert kinds == ["p8", "n8", "p8", "p0", "n8", "none"]
    assert {"1.00", "-1.00", "0"} <= set(texts(picture))
    assert "c, b: does not vary" in picture.to_svg()


def test_a_limit_sets_the_darkest_colour():
    picture = matrix("m", ["a", "b"], [[0, 0.25], [0.5, 0]], limit=0.5)
    assert [one.get("class") for one in parts(picture, "rect") if one.get("rx") == "2"] == ["p4", "p8"]


@pytest.mark.parametrize("values", [[[1]], [[1, 2]], [[1, 2], [3]], []])
def test_what_is_no_square_is_refused(values):
    with pytest.raises(InputError, match="values"):
        matrix("m", ["a", "b"][: max(len(values), 1)], values)


def test_an_image_has_a_square_for_each_pixel_from_white_to_black():
    picture = image("i", [[0, 1], [0.5, 7]])
    fills = [one.get("fill") for one in parts(picture, "rect") if one.get("fill")]
    assert fills == ["#ffffff", "#000000", "#808080", "#000000"]
    with pytest.raises(InputError, match="pixels"):
        image("i", [])


def test_counts_of_a_table_are_shaded_by_their_square_roots():
    picture = grid("g", ["a"], ["x", "y", "z"], [[0, 25, 100]], caption="from a row to a column")
    assert [one.get("class") for one in parts(picture, "rect") if one.get("rx") == "2"] == ["p0", "p4", "p8"]
    assert "a, y: 25" in picture.to_svg()
    assert "from a row to a column" in texts(picture)


@pytest.mark.parametrize("values", [[], [[1]], [[1, 2], [3, 4]], [[-1, 2]], [[math.inf, 1]]])
def test_a_table_needs_a_number_from_zero_up_for_every_cell(values):
    with pytest.raises(InputError, match="values"):
        grid("g", ["a"], ["x", "y"], values)
