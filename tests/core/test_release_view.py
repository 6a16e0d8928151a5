"""Releases in a notebook: pictures and tables of what was published, and where it came from."""

from dataclasses import replace

import pytest

from discreet.core.note import Note
from discreet.core.publication import Publication
from discreet.core.release import Release
from discreet.core.release_view import publication_cell, table_parts, tables_cell
from discreet.errors import InputError


def released(many, keys=("k",)):
    values = list(range(100, 100 + many))
    columns = {key: [f"g{i}" for i in range(many)] for key in keys}
    columns |= {"n": values, "n_lower": [v - 10 for v in values], "n_upper": [v + 10 for v in values]}
    how = ("epsilon = 1", "noise", "digest")
    return Release("id-7", "visits", columns, tuple(keys), ("n",), 0.95, *how, notes=(Note("limits", "cut", ("n",)),))


def test_a_table_is_shown_with_a_picture_its_notes_and_its_price():
    shown = released(3)._repr_html_()
    assert "n by k" in shown
    assert "n by k, with 95% confidence intervals" in shown
    assert '<th scope="row">g1</th><td class="number">101</td><td class="number">91 to 111</td>' in shown
    assert "<li>n: cut</li>" in shown
    assert "Cost epsilon = 1; provenance" in shown
    assert 'curator.release("id-7")' in shown
    assert repr(released(3)).startswith("k")


def test_long_tables_are_cut_and_what_cannot_be_drawn_is_not():
    many = released(75)._repr_html_()
    assert "The first 50 of 75 rows" in many
    assert many.count('<th scope="row"') == 50
    assert "<svg" not in many
    assert "<svg" not in released(3, keys=("a", "b", "c", "d"))._repr_html_()
    days = replace(released(2), columns={**released(2).columns, "n": ["2024-01-01", "2024-01-02"]})
    assert len(table_parts(days)) == 1
    assert "No row." in released(0)._repr_html_()


def test_several_tables_stand_below_each_other_and_the_rest_is_named():
    named = {name: released(2) for name in "abcdef"}
    shown = tables_cell(named)
    assert "<h3>a</h3>" in shown
    assert "And 2 more: e, f." in shown
    assert tables_cell({})


class Failed(Publication):
    """One whose numbers could not be made of what was measured."""

    @property
    def notes(self):
        raise InputError("method", "bayes", "another one")


PROVENANCE = {"id": "x", "dataset": "d", "cost": "epsilon = 1", "remaining": "", "mechanism": "noise", "digest": "e"}


@pytest.mark.parametrize(("made", "says"), [(Publication, "Cost epsilon = 1"), (Failed, "must be another one")])
def test_a_release_of_any_kind_shows_where_it_came_from_and_what_failed(made, says):
    assert says in publication_cell(made(**PROVENANCE))
