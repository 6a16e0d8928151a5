"""Pictures of pages lie nowhere: outputs over groups, errors to expect, a budget going down; files that are shipped."""

import re
from dataclasses import replace
from importlib.resources import files

import pytest

from discreet.core.release import Release
from discreet.show import Error

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")

from discreet.apps.web.pictures import MOST, output_chart
from discreet.curator.plan_view import expected


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
    (first, short), (second, long), (third, none) = bodies(output_chart(released([100, 300, 0]), "n"))
    assert first == second == third
    assert long == pytest.approx(3 * short, abs=0.01)
    assert none == 0
    (start, down), (zero, up) = bodies(output_chart(released([-50, 100]), "n"))
    assert start + down == pytest.approx(zero, abs=0.01)
    assert up == pytest.approx(2 * down, abs=0.01)


def test_a_bar_about_all_groups_is_named_so():
    made = released([1, 2])
    columns = {**made.columns, "k": ["g", None]}
    assert "(missing)" in output_chart(replace(made, columns=columns), "n")
    assert "(all)" in output_chart(replace(made, columns=columns, absent={"k": [1]}), "n")


def test_what_cannot_be_drawn_is_not_and_what_is_left_out_is_said():
    assert output_chart(released(["2024-01-01"], ["2024-01-01"], ["2024-01-02"]), "n") is None
    assert output_chart(released([None], [None], [None]), "n") is None
    many = output_chart(released(list(range(MOST + 5))), "n")
    assert len(bodies(many)) == MOST
    assert "the table has 5 more" in many
    assert "with 95% confidence intervals" in many
    infinite = output_chart(released([5.0], [float("-inf")], [float("inf")]), "n")
    assert 'class="interval"' not in infinite


def test_errors_to_expect_are_drawn_and_none_are_no_picture():
    assert expected((), "95%") == ""
    drawn = expected((Error("count", "± 24", 24),), "95%")
    assert "with 95% confidence" in drawn
    assert "whatever the answer is" in drawn


def test_what_pages_are_made_of_is_shipped():
    folder = files("discreet.apps.web")
    for place, ending in (("templates", ".html"), ("static", (".js", ".css", ".svg"))):
        found = [one.name for one in (folder / place).iterdir() if one.is_file()]
        assert found
        assert all(name.endswith(ending) for name in found)
    assert all(one.name.endswith(".html") for one in (folder / "templates" / "custodian").iterdir())
