"""What the plan says: errors of both levels, parts of the price, and everything that is left out."""

from __future__ import annotations

import json

import pytest

from discreet.synth.measurement import Measurement


def test_errors_of_both_levels_and_what_each_costs(curator):
    offer = curator.relate(["age", "sex"], order="day", limit=4).plan(epsilon=2)
    names = [error.output for error in offer.expected]
    assert [",".join(name.split(",")[:2]) for name in names] == [
        "the number of parents",
        "a one-way count of parents, by first: day",
        "a one-way count of parents, by sex",
        "a two-way count of parents, one of 15 marginals",
        "a one-way count of child rows, by cost",
        "a one-way count of child rows, by sex",
        "a two-way count of child rows, one of 36 marginals",
    ]
    # Of the 2/3 of child rows a tenth is for gaps and a twentieth for values that many of them share.
    assert [round(error.share, 3) for error in offer.expected] == [0.333] * 4 + [0.567] * 3
    assert "For 3.3% of the price, values of cost that many rows share are looked for." in str(offer)
    assert "For 6.7% of the price, times between rows are counted by octaves" in str(offer)
    widths = [error.half_width for error in offer.expected]
    assert widths[1] < widths[2]
    assert widths[4] < widths[5]
    more = curator.relate(["age", "sex"], order="day", limit=8).plan(epsilon=2)
    assert more.expected[4].half_width > widths[4]  # a larger limit has more noise on child rows


@pytest.mark.parametrize("order", ["day", None])
def test_columns_are_measured_with_about_the_noise_that_is_stated(curator, order):
    """Of parents exactly; of child rows in groups, of which there may be some fewer or more than was taken."""
    offer = curator.relate(["age", "sex"], ["ward"], order=order, limit=4).plan(epsilon=20)
    made = offer.release()
    record = json.loads(curator.ledger.find(made.id).measurement)
    stated = {error.output: error.half_width for error in offer.expected}
    for part, words, off in (("parents", "parents", 1), ("children", "child rows", 2)):
        answers = Measurement.from_json(record[part]).answers
        single = [noisy.noise.error(0.95) for bins, noisy in answers if bins is None and len(noisy.columns) == 1]
        said = [half for name, half in stated.items() if name.startswith(f"a one-way count of {words}")]
        assert 1 / off <= min(said) / min(single) <= off
        assert 1 / off <= max(said) / max(single) <= off


def test_what_is_left_out_is_said(curator):
    text = str(curator.relate(["age", "sex"], order="day", limit=4, where="age > 200").plan(epsilon=2))
    for part in (
        "Each patient has at most 4 child rows, the first by day; what is beyond is left out.",
        "Where rows of one patient differ in age or sex, the least value counts",
        "A patient without a declared value of age is left out of everything.",
        "A row without a declared value of day or ward is no child row.",
        "Missing and undeclared values of sex and cost count as missing",
        "outside the declared bounds are clipped to the nearer bound",
        "Rows without a value of patient are left out.",
        "33.3% of the price is for parents, the rest for child rows",
        "One patient moves a count of parents by 1, one of child rows by up to 3",
    ):
        assert part in text, part
    assert "picked at random" in str(curator.relate(["age"], ["ward"], limit=2).plan(epsilon=1))
    assert "no child row" in str(curator.relate(["age"], ["cost"], limit=2).plan(epsilon=1))


def test_facts_are_plain_values(curator):
    facts = curator.relate(["age"], ["ward"], order="day", limit=4, rows=9).plan(epsilon=2).explained.facts
    assert facts == {
        "parent": ["age"],
        "child": ["day", "ward"],
        "order": "day",
        "limit": 4,
        "parent_share": 1 / 3,
        "rows": 9,
    }


def test_notes_of_the_plan_stand_on_the_release(release, curator):
    said = [note.text for note in release.caveats]
    assert any("at most 6 child rows" in text for text in said)
    plan = str(curator.relate(["age", "sex"], order="day", limit=6).plan(epsilon=100))
    assert all(text in plan for text in said)
