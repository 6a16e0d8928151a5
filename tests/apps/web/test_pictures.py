"""Pictures of pages lie nowhere: outputs over groups, errors to expect, a budget going down; files that are shipped."""

import re
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files

import pytest

from discreet.core.release import Release
from discreet.show import Error

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")

from discreet.apps.web.pictures import MOST, burn, expected, output_bars


def released(values, lower=None, upper=None):
    columns = {
        "k": [f"g{i}" for i in range(len(values))],
        "n": values,
        "n_lower": lower or [None if v is None else v - 10 for v in values],
        "n_upper": upper or [None if v is None else v + 10 for v in values],
    }
    return Release("id", "d", columns, ("k",), ("n",), 0.95, "epsilon = 1", "noise", "digest")


def bodies(text):
    """Where bars begin and how long they are, in percent."""
    found = re.findall(r'class="bar s0" x="([\d.]+)%" width="([\d.]+)%"', text)
    return [(float(start), float(width)) for start, width in found]


def test_bars_are_as_long_as_their_numbers_from_a_common_zero():
    (first, short), (second, long), (third, none) = bodies(output_bars(released([100, 300, 0]), "n"))
    assert first == second == third
    assert long == pytest.approx(3 * short, abs=0.01)
    assert none == 0
    (start, down), (zero, up) = bodies(output_bars(released([-50, 100]), "n"))
    assert start + down == pytest.approx(zero, abs=0.01)
    assert up == pytest.approx(2 * down, abs=0.01)


def test_a_bar_about_all_groups_is_named_so():
    made = released([1, 2])
    columns = {**made.columns, "k": ["g", None]}
    assert "(missing)" in output_bars(replace(made, columns=columns), "n")
    assert "(all)" in output_bars(replace(made, columns=columns, absent={"k": [1]}), "n")


def test_what_cannot_be_drawn_is_not_and_what_is_left_out_is_said():
    assert output_bars(released(["2024-01-01"], ["2024-01-01"], ["2024-01-02"]), "n") is None
    assert output_bars(released([None], [None], [None]), "n") is None
    many = output_bars(released(list(range(MOST + 5))), "n")
    assert len(bodies(many)) == MOST
    assert "the table has 5 more" in many
    assert "with 95% intervals" in many
    infinite = output_bars(released([5.0], [float("-inf")], [float("inf")]), "n")
    assert 'class="interval"' not in infinite


def test_errors_to_expect_are_drawn_and_none_are_no_picture():
    assert expected((), "95%") == ""
    drawn = expected((Error("count", "± 24", 24),), "95%")
    assert "with 95% confidence" in drawn
    assert "whatever the answer is" in drawn


def test_the_stairs_of_a_budget_are_its_sums():
    charges = [(Fraction(1, 2), "2024-01-01T00", "a"), (Fraction(1), "2024-02-01T00", "b"), (Fraction(9), "2025", "c")]
    drawn = burn("a", Fraction(2), charges, "epsilon")
    assert drawn.title == "a, epsilon left"
    assert [row[1] for row in drawn.table.rows] == ["1.5", "0.5", "0"]
    assert "2024-01-01<" in drawn.__html__()
    assert burn("a", Fraction(2), [], "epsilon").table is None


def test_what_pages_are_made_of_is_shipped():
    folder = files("discreet.apps.web")
    for place, ending in (("templates", ".html"), ("static", (".js", ".svg"))):
        found = [one.name for one in (folder / place).iterdir()]
        assert found
        assert all(name.endswith(ending) for name in found)
