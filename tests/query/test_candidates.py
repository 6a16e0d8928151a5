"""Options and their scores: read against a schema, on one lattice, moved by one unit no further than is stated."""

from __future__ import annotations

import pytest

import discreet.query.candidates
from discreet.core.unit import Neighbours, Unit
from discreet.data.column import Boolean, Category, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate import count, mean, total
from discreet.query.candidates import read_candidates
from discreet.query.key import bins
from discreet.query.question import Query
from neighbour_bugs import find_bug, patched
from world_jobs import choices

COLUMNS = {
    "bid": Real(0, 5, nullable=False),
    "nation": Category(["dk", "no", "se"], nullable=True),
    "cured": Boolean(nullable=True),
    "dose": Integer(0, 3, nullable=False),
    "note": Text(),
}
ROW = Schema("people", COLUMNS)
REPLACE = Schema("people", COLUMNS, Unit(neighbours=Neighbours.REPLACE))
PERSON = Schema("people", COLUMNS, Unit("note", groups=1, rows=3))
REVENUE = "CASE WHEN bid >= option THEN option ELSE 0 END"


def read(score, options=None, bound=None, where=None, schema=ROW):
    return read_candidates(score, options, bound, where, schema)


def test_a_column_is_scored_by_how_often_each_value_occurs():
    found = read("nation")
    assert found.labels == ("dk", "no", "se")
    assert [one.column for one in found.measures] == [
        f"CASE WHEN nation = '{name}' THEN 1 ELSE 0 END" for name in found.labels
    ]
    assert (found.sensitivity, found.step, found.monotone) == (1, 1, True)


@pytest.mark.parametrize(
    ("score", "options", "labels"),
    [
        ("nation", ["se", "dk"], ("se", "dk")),
        ("cured", None, (False, True)),
        ("cured", ["true", "false"], (True, False)),
        ("dose", ["1", 3], (1, 3)),
        ("note", ["x", "y"], ("x", "y")),
        (Query().group_by("nation").agg(n=count()), None, ("dk", "no", "se")),
        (Query().group_by("nation").agg(n=total("bid")), ["no", "se"], ("no", "se")),
    ],
)
def test_options_are_values_of_the_column(score, options, labels):
    assert read(score, options).labels == labels


def test_options_in_an_expression_stand_for_themselves():
    found = read(REVENUE, ["2.1", 3.9, "4.1"])
    assert found.labels == ("2.1", 3.9, "4.1")
    assert found.measures[0].column == "CASE WHEN bid >= 2.1 THEN 2.1 ELSE 0 END"
    assert len({one.lattice.exponent for one in found.measures}) == 1  # or scores would not compare
    assert float(found.sensitivity * found.step) == pytest.approx(4.1, abs=1e-5)


def test_a_question_scores_its_groups_on_its_rows():
    asked = Query().where("dose > 0").group_by("nation").agg(n=total("bid"))
    found = read(asked, where="bid < 4")
    assert found.measures[0].column == "CASE WHEN nation = 'dk' THEN bid ELSE 0 END"
    assert len(found.question.condition.parts) == 2
    counted = read(Query().group_by("dose").agg(n=count("nation")), [1, 2]).measures[0].column
    assert "nation IS NULL" in counted


@pytest.mark.parametrize(
    ("score", "schema", "moved", "monotone"),
    [
        (REVENUE, ROW, 3, True),
        (REVENUE, REPLACE, 3, False),  # from nothing to the most
        ("bid * option", REPLACE, 20, False),  # -5..0 and 0..15: the wider one, and its zero
        (REVENUE, PERSON, 9, True),  # three rows of one person
        ("dose - option", ROW, 3, False),
    ],
)
def test_a_unit_moves_a_score_by_its_bounds_times_its_rows(score, schema, moved, monotone):
    options = {"bid * option": [-1, 4]}.get(score, [1, 3])
    found = read(score, options, schema=schema)
    assert float(found.sensitivity * found.step) == pytest.approx(moved)
    assert found.monotone is monotone


def test_a_bound_cuts_what_a_row_adds():
    found = read("bid * option", [1, 3], bound="2.5")
    assert float(found.sensitivity * found.step) == pytest.approx(2.5)
    found = read("bid - option", [1, 3], bound=1)
    assert [(one.lattice.lower, one.lattice.upper) for one in found.measures] == [(-1, 1), (-1, 1)]


@pytest.mark.parametrize(
    ("score", "options", "more", "problem"),
    [
        ("bid", None, {}, "few values"),
        (REVENUE, None, {}, "given where `option`"),
        (REVENUE, [1], {}, "2 to 256"),
        (REVENUE, [1, 1], {}, "all different; got 1 twice"),
        (REVENUE, [1, [2]], {}, "texts, numbers"),
        ("nation", ["dk", "de"], {}, "declared value"),
        ("nationality", None, {}, "nation"),
        (REVENUE, [1, 2], {"bound": 0}, "more than zero"),
        ("nation || option", ["a", "b"], {}, "numeric"),
        ("bid >= option", [1, 2], {}, "a number for each option"),
        (3, [1, 2], {}, "a column, an expression, or a question"),
        (Query().group_by("nation").agg(m=mean("bid")), None, {}, "one count"),
        (Query().group_by(bins("bid", width=1)).agg(n=count()), None, {}, "as it is"),
        (Query().group_by("nation").agg(t=total("bid", bounds=(0, 1))), None, {}, "without bounds"),
    ],
)
def test_what_cannot_be_scored_is_refused(score, options, more, problem):
    with pytest.raises(InputError, match=problem):
        read(score, options, **more)


def test_a_column_called_option_cannot_be_meant_twice():
    with pytest.raises(InputError, match="other names"):
        read("option + bid", [1, 2], schema=Schema("t", {**COLUMNS, "option": Integer(0, 1)}))


CONTRIBUTION = discreet.query.candidates.contribution


def half_of_it(measure, unit):
    """A score moved by half of what a unit adds, where it can be halved."""
    low, high = CONTRIBUTION(measure, unit)
    return low // 2 if low < -1 else low, high // 2 if high > 1 else high


def one_row_of_many(measure, unit):
    return CONTRIBUTION(measure, Unit())


@pytest.mark.parametrize("bug", [half_of_it, one_row_of_many])
def test_a_choice_made_for_scores_that_move_less_is_found_on_neighbours(bug):
    find_bug(choices, patched((discreet.query.candidates, "contribution"), by=bug))


def test_scores_that_are_replaced_are_not_taken_for_ones_that_only_grow():
    always = property(lambda self: True)
    find_bug(choices, patched((discreet.query.candidates.Candidates, "monotone"), by=always))
