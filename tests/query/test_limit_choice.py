"""Help in choosing limits: cheap, from noisy counts of people alone, with intervals that hold."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest

import discreet
from chance import at_most
from discreet.core.release import Release
from discreet.core.unit import Unit
from discreet.data.column import Category
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.mechanisms import Laplace
from discreet.query.aggregate import count
from discreet.query.key import bins
from discreet.query.limit_choice import LimitTable, draw_limits, ladder, limit_query, table_of
from discreet.query.question import Query

SCHEMA = Schema("v", {"ward": Category(["a", "b", "c"], nullable=False)}, Unit("id", groups=1, rows=1))
MOST = 64


def released(counts, half):
    columns = {"people": list(counts)}
    columns |= {"people_lower": [n - half for n in counts], "people_upper": [n + half for n in counts]}
    return Release("r", "v", columns, (), ("people",), 0.95, "", "", "")


def test_intervals_hold_what_limits_cut_and_narrower_ones_would_not():
    """300 tables of people with heavy tails; noise of epsilon 0.1."""
    chance, noise, missed, narrow = np.random.default_rng(5), Laplace(10), 0, 0
    limits = ladder(MOST)
    edges = [1, *(limit + 1 for limit in limits), MOST + 1]
    for _ in range(300):
        rows = np.minimum(np.floor(chance.pareto(1.1, 800) + 1), MOST).astype(int)
        exact = np.histogram(rows, edges)[0]
        table = LimitTable(most=MOST).apply(released(noise.release(exact).tolist(), noise.error(0.95)))
        for place, limit in enumerate(limits):
            cut = np.maximum(rows - limit, 0).sum() / rows.sum()
            people = (rows > limit).mean()
            missed += not table["rows_cut_lower"][place] <= cut <= table["rows_cut_upper"][place]
            missed += not table["people_cut_lower"][place] <= people <= table["people_cut_upper"][place]
            narrow += abs(table["people_cut"][place] - people) > 1e-3
    assert at_most(missed, 300 * len(limits) * 2, 0.05)
    assert not at_most(narrow, 300 * len(limits), 0.05)


def test_the_least_limit_that_cuts_little_is_suggested_and_noise_grows_with_it():
    exact = [700, 200, 80, 10, 0, 0, 0]  # people with 1, 2, 3-4, 5-8, ... rows
    table = LimitTable(most=MOST).apply(released(exact, 3))
    (note,) = [note for note in table.notes if note.kind == "suggested"]
    assert "rows_total = 4," in note.text
    assert table["noise"] == [Laplace(limit).error(0.95) for limit in ladder(MOST)]
    assert table["rows_cut"] == sorted(table["rows_cut"], reverse=True)
    assert draw_limits(table).title


def test_each_person_is_in_one_bin_so_that_limits_of_the_schema_cost_nothing():
    query = limit_query(Query(), None, MOST)
    wide = Schema("v", SCHEMA.stored, Unit("id", groups=50, rows=50))
    for schema in (SCHEMA, wide):
        unit = query.checked(schema).limited(schema).unit
        assert (unit.groups, unit.rows) == (1, 1)


def test_a_stored_choice_is_read_again_and_costs_one_charge(tmp_path):
    table = pyarrow.table({"id": [1, 1, 1, 2, 3], "ward": list("aabcc")})
    curator = discreet.open(table, SCHEMA, ledger=tmp_path / "b.db", budget=Budget(10), create=True, version="1")
    for by, name in ((None, "rows"), ("ward", "groups")):
        question = curator.table().suggest_limits(by, most=4)
        made = question.plan(epsilon=5).release(release=name)
        assert made.outputs == ("people_cut", f"{name}_cut", "noise")
        assert question.plan(epsilon=5).release(release=name).columns == made.columns
        assert len(curator.release(name)["people"]) == 3


@pytest.mark.parametrize("most", [1, 0, True, 2.5, 2**21])
def test_most_is_a_whole_number(most):
    with pytest.raises(InputError, match="most"):
        limit_query(Query(), None, most)


@pytest.mark.parametrize(("by", "most"), [(None, 256), ("county", 20), (None, 2), (None, 16)])
def test_a_recorded_question_says_how_its_answer_is_shown(by, most):
    asked = limit_query(Query().where("age > 3"), by, most)
    assert (table_of(asked.to_dict()).by, table_of(asked.to_dict()).most) == (by, most)


@pytest.mark.parametrize(
    "query",
    [
        None,
        {},
        {"per_person": {}},
        Query().agg(people=count()).to_dict(),
        Query().per_person(rows="count(*)").group_by(bins("rows", [1, 2, 4])).agg(people=count()).to_dict(),
        Query().per_person(rows="count(*)").group_by(bins("rows", [1, 2, 3, 5])).agg(n=count()).to_dict(),
    ],
)
def test_any_other_question_is_shown_as_it_is(query):
    assert table_of(query) is None
