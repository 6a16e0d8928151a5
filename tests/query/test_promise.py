"""At most k rows each, though no column says whose they are: a promise of the custodian's, priced or refused."""

from __future__ import annotations

import itertools

import pytest
from question_schema import SCHEMA

import discreet
from discreet.core.unit import Unit
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.query.aggregate import count, total
from discreet.query.key import bins, discover, key
from discreet.query.measure import Rows, sensitivity
from discreet.query.price import Price
from discreet.query.quantile import median
from discreet.query.question import Query
from discreet.query.question_ask import plan_any
from discreet.query.stream import plan_stream
from discreet.query.top import Top
from small_desk import COLUMNS as STORED
from small_desk import TABLE
from world_jobs import ALLOTMENTS

COLUMNS = {name: column for name, column in SCHEMA.stored.items() if name != "id"}
K = 3
ROWS = Schema("people", COLUMNS, Unit(rows=K))
ONE = Schema("people", COLUMNS)


def planned(asked, schema, way="epsilon"):
    return plan_any(asked, schema, ALLOTMENTS[way], Price.read(**{way: 1}))


@pytest.mark.parametrize("groups", [1, 2, 5])
def test_norms_are_the_worst_of_all_ways_to_place_the_rows(groups):
    vectors = [v for v in itertools.product(range(K + 1), repeat=groups) if sum(v) <= K]
    moved = sensitivity(Rows(), ROWS.unit, groups)
    assert moved.l1 == max(map(sum, vectors))
    assert moved.l2_squared == max(sum(many * many for many in v) for v in vectors)
    both = sensitivity(Rows(), Unit(None, "replace", rows=K), groups)
    apart = [[a - b for a, b in zip(v, w, strict=True)] for v in vectors for w in vectors]
    assert both.l1 >= max(sum(map(abs, v)) for v in apart)
    assert both.l2_squared >= max(sum(many * many for many in v) for v in apart)


@pytest.mark.parametrize("way", ["epsilon", "rho"])
def test_every_kind_of_output_costs_what_was_asked_for_and_errs_k_times_as_much(way):
    asked = {
        "counts": Query().group_by("county").agg(n=count()),
        "sums": Query().group_by("county").agg(t=total("age")),
        "quantiles": Query().group_by("county").agg(m=median("age", method="tree")),
        "top": Top(key("county"), 1),
    }
    for name, question in asked.items():
        several, one = planned(question, ROWS, way), planned(question, ONE, way)
        assert several.charge.amount <= 1
        errors = [plan.expected()[-1].half_width for plan in (several, one)]
        assert errors[0] > 0.9 * (K - 1) * errors[1], name
        assert "The custodian promises" in " ".join(several.explained().notes), name


def test_what_must_know_whose_rows_are_whose_is_refused():
    refused = {
        "streams": lambda: plan_stream(
            Query().agg(n=count()), ROWS, ALLOTMENTS["rho"], Price.read(rho=1), bins("day", every="month")
        ),
        "discovered keys": lambda: plan_any(
            Query().group_by(discover("zip code")).agg(n=count()), ROWS, ALLOTMENTS["rho"], Price.read(rho=1), "1e-6"
        ),
    }
    for name, plan in refused.items():
        with pytest.raises(InputError, match=r"unit\.rows"):
            plan()
        assert name


def test_the_schema_says_it_and_the_unit_is_another():
    assert str(ROWS.unit) == "any 3 rows, added or removed"
    assert ROWS.to_dict()["unit"] == {"neighbours": "add-remove", "rows": K}
    assert Schema.from_dict(ROWS.to_dict()) == ROWS
    assert "rows" not in ONE.to_dict()["unit"]
    with pytest.raises(InputError, match="unit"):
        Unit(groups=2)
    with pytest.raises(InputError, match="unit"):
        Unit(rows_total=2)


@pytest.mark.parametrize(
    ("opened", "other"), [(ONE, ROWS), (ROWS, ONE), (ROWS, Schema("people", COLUMNS, Unit(rows=2)))]
)
def test_an_account_of_one_unit_takes_no_charge_of_the_other(tmp_path, opened, other):
    """In either direction: a smaller unit would be charged too little, and a larger one is not what was promised."""

    def ask(unit, **how):
        curator = discreet.open(TABLE, Schema("people", STORED, unit), ledger=tmp_path / "b.db", **how)
        return curator.table().agg(n=count()).plan(epsilon="0.1").release()

    ask(opened.unit, budget=Budget(1), create=True)
    with pytest.raises(InputError, match="the unit that the account of 'people' protects"):
        ask(other.unit)


def test_parts_that_exclude_each_other_are_charged_one_after_another():
    union = "SELECT 'a' AS w, COUNT(*) AS n FROM people WHERE county = 'Ash' UNION ALL "
    union += "SELECT 'b' AS w, COUNT(*) AS n FROM people WHERE county = 'Elm'"
    from discreet.query.sql import parse_sql

    question = parse_sql(union, ROWS).query
    assert not question.disjoint(ROWS)
    assert question.disjoint(ONE)
