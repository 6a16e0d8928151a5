"""What plans about a table say alike: whose it is, whom it protects, its charge, its digest, its columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.core.unit import Unit
from discreet.data.column import Category, Integer
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.query.aggregate import count, mean
from discreet.query.plan import plan_query
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.table_plan import at_confidence, rows_published

UNIT = Unit("id", groups=1, rows=2)
COLUMNS = {"age": Integer(0, 120, nullable=False), "sex": Category(["f", "m"], nullable=False)}
SCHEMA = Schema("people", COLUMNS, UNIT)
PURE = Allotment("questions", "pure", epsilon=10)


@pytest.fixture
def plan():
    query = Query().where("age > 5").group_by("sex").agg(n=count(), m=mean("age"))
    return plan_query(query, SCHEMA, PURE, Price.read(epsilon=1))


def test_it_says_whose_data_it_reads_and_whom_it_protects(plan):
    assert plan.dataset == "people"
    assert plan.unit == UNIT
    assert plan.charge == PURE.price(plan.cost)
    assert set(plan.columns) == {"age", "sex", "id"}
    assert plan.query == plan.question.to_dict()


def test_its_words_begin_with_what_will_be_published(plan):
    found = plan.explained()
    assert found.title == "Plan for 'people'"
    assert found.shape == (rows_published(2),) == ("Releases 2 rows, one for each group, empty ones too.",)
    assert [error.output for error in found.errors] == ["n", "m"]
    assert found.facts == {"groups": 2}
    assert rows_published(1) == "Releases 1 row."


def test_its_digest_follows_all_that_decides_its_law(plan):
    others = [
        replace(plan, confidence=0.9),
        replace(plan, schema=Schema("people", COLUMNS, Unit("id", groups=1, rows=3))),
        replace(plan, question=Query().group_by("sex").agg(n=count(), m=mean("age")).checked(SCHEMA)),
        replace(plan, noises=plan.noises[::-1]),
    ]
    assert len({plan.digest, *(other.digest for other in others)}) == 5
    assert replace(plan, allotment=Allotment("other", "pure", epsilon=1)).digest == plan.digest


def test_another_confidence_changes_nothing_that_was_measured(plan):
    assert at_confidence(plan, None) is plan
    wider = at_confidence(plan, 0.99)
    assert (wider.confidence, wider.noises, wider.measures) == (0.99, plan.noises, plan.measures)
    with pytest.raises(InputError):
        at_confidence(plan, 1.5)
