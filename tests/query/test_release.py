"""A release says what was asked, also when it is read again."""

import pyarrow
import pytest

import discreet
from discreet import Budget, Integer, Schema, count


@pytest.fixture
def curator(tmp_path):
    table = pyarrow.table({"age": [1, 2, 3]})
    return discreet.open(
        table,
        Schema("people", {"age": Integer(0, 9, nullable=False)}),
        ledger=tmp_path / "d.db",
        budget=Budget(epsilon=9),
        create=True,
    )


@pytest.mark.filterwarnings("ignore:.*may describe earlier data")  # a table in memory has no version
def test_a_release_has_its_question(curator):
    offer = curator.table().where("age > 1").agg(n=count()).plan(epsilon=1)
    answer = offer.release(release="adults")
    assert answer.query == offer.plan.query
    assert answer.to_dict()["query"]["where"]["column"] == "age"
    assert offer.release(release="adults").query == answer.query


def test_each_part_of_a_batch_has_its_own(curator):
    parts = {"all": curator.table().agg(n=count()), "old": curator.table().where("age > 5").agg(n=count())}
    answers = curator.batch(**parts).plan(epsilon=1).release()
    assert {name: answer.query for name, answer in answers.items()} == {
        name: question.plan(epsilon=1).plan.query for name, question in parts.items()
    }
