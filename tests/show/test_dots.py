"""Dots: every finite value once, in order, and none on top of another."""

import pytest
from svg_parts import parts, share

from discreet.errors import InputError
from discreet.show import dots


def test_every_finite_value_is_a_dot_that_lies_where_it_says():
    picture = dots("d", {"a": [(0.0, "zero"), (5.0, "five"), (float("inf"), "no")], "b": [(10.0, "ten")]}, mark=5)
    found = {one[0].text: share(one.get("cx")) for one in parts(picture, "circle", "dot")}
    assert set(found) == {"zero", "five", "ten"}
    assert found["five"] == pytest.approx((found["zero"] + found["ten"]) / 2)
    (mark,) = parts(picture, "line", "reference")
    assert share(mark.get("x1")) == pytest.approx(found["five"])


def test_dots_of_one_value_are_stacked():
    picture = dots("d", {"a": [(1.0, str(i)) for i in range(5)]})
    assert len({one.get("cy") for one in parts(picture, "circle", "dot")}) == 5


def test_no_groups_are_refused():
    with pytest.raises(InputError, match="groups"):
        dots("d", {})
