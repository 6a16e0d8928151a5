"""The list of releases: titles, filters and orders in the address; who and why only for those who may know."""

from fractions import Fraction

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")

from discreet.apps.web.release_list import CHOICES, Line, Listing

HERE = "/d/people/releases"


def line(name, **values):
    given = {"title": name, "kind": "table", "time": "2026-01-01T00", "who": "ann", "why": "", "cost": "epsilon = 1"}
    return Line(**{"id": name, **given, "amount": Fraction(1), "state": "answered", **values})


LINES = [
    line("Mean pay by sector", time="2026-01-03", amount=Fraction(10), why="yearly report"),
    line("hierarchy of counties", time="2026-01-02", amount=Fraction(2), kind="hierarchy", who="bob"),
    line("Number of rows", time="2026-01-01", amount=Fraction(3), state="failed", who=""),
]


def listing(**chosen):
    return Listing.of(LINES, {name: chosen.get(name, "") for name in CHOICES}, HERE)


def shown(**chosen):
    return [one.id for one in listing(**chosen).lines]


def test_every_word_of_a_text_is_looked_for():
    assert shown(find="PAY mean") == ["Mean pay by sector"]
    assert shown(find="yearly") == ["Mean pay by sector"]
    assert shown(find="pay rows") == []
    assert listing(find="pay").filtered
    assert not listing(sort="cost").filtered


def test_kind_person_and_state_can_be_chosen_where_there_is_a_choice():
    assert shown(kind="hierarchy") == shown(who="bob") == ["hierarchy of counties"]
    assert shown(state="failed") == ["Number of rows"]
    assert listing().choices == {
        "kind": ["hierarchy", "table"],
        "who": ["ann", "bob"],
        "state": ["answered", "failed"],
    }
    alone = Listing.of(LINES[:1], dict.fromkeys(CHOICES, ""), HERE)
    assert alone.choices == {}


def test_orders_are_by_value_and_names_without_regard_to_case():
    assert shown(sort="title") == ["hierarchy of counties", "Mean pay by sector", "Number of rows"]
    assert shown(sort="-cost") == ["Mean pay by sector", "Number of rows", "hierarchy of counties"]
    heads = {name: (link, order) for name, _, link, order in listing(sort="-cost", find="o").heads}
    assert heads["cost"] == (f"{HERE}?find=o&sort=cost", "descending")
    assert heads["title"] == (f"{HERE}?find=o&sort=title", "")
    assert {name: order for name, _, _, order in listing().heads}["time"] == "descending"


def test_many_releases_are_pages():
    many = [line(f"r{place}") for place in range(120)]
    second = Listing.of(many, {**dict.fromkeys(CHOICES, ""), "page": "2"}, HERE)
    assert [one.id for one in second.lines][:1] == ["r50"]
    assert second.pages == [(1, f"{HERE}?page=1"), (2, f"{HERE}?page=2"), (3, f"{HERE}?page=3")]
