"""A desk: data, schema and ledger that fit each other; asks priced for free; a plan charged before data is read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet import count, people
from discreet.data.column import Real
from discreet.data.join import Join
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError, LedgerError, RunError
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.question_ask import QuestionAsk
from small_desk import COLUMNS, PERSONS, SCHEMA, TABLE, open_desk

ASK = QuestionAsk(Query().group_by("county").agg(n=count()))


def test_it_is_opened_for_one_table_with_one_account(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_WHO", "eve")
    desk = open_desk(tmp_path, who=None)
    assert desk.who == "eve"
    assert desk.budget.allotments[0] == desk.allotment()
    assert [standing.spent.amount for standing in desk.standing()] == [0]
    desk.offer(ASK, None, Price.read(epsilon=1), None).release()  # the first charge opens the account
    again = open_desk(tmp_path, budget=None, create=False)
    assert again.budget == desk.budget


def test_a_column_that_the_data_lacks_opens_nothing(tmp_path):
    with pytest.raises(InputError, match=r"columns"):
        open_desk(tmp_path, Schema("people", {**COLUMNS, "debt": Real(0, 1)}))
    assert not (tmp_path / "books.db").exists()


def test_a_ledger_is_not_made_and_a_unit_is_not_changed_unasked(tmp_path):
    with pytest.raises(LedgerError):
        open_desk(tmp_path, create=False)
    open_desk(tmp_path).offer(ASK, None, Price.read(epsilon=1), None).release()
    with pytest.raises(InputError, match="unit"):
        open_desk(tmp_path, PERSONS, budget=None)


def test_joined_tables_are_those_of_the_schema(tmp_path):
    joined = replace(PERSONS, joins={"debts": Join({"debt": Real(0, 9)})})
    with pytest.raises(InputError, match="joins"):
        open_desk(tmp_path, joined)
    with pytest.raises(InputError, match="joins"):
        open_desk(tmp_path, PERSONS, joins={"debts": source_of(TABLE)})


def test_a_price_is_free_and_a_release_is_charged_and_listed(tmp_path):
    desk = open_desk(tmp_path)
    offer = desk.offer(ASK, desk.check(ASK), Price.read(epsilon=2), None)
    assert desk.standing()[0].spent.amount == 0
    assert desk.releases() == []
    table = offer.release(release="counts")
    assert desk.standing()[0].spent.amount == 2
    assert desk.releases() == ["counts"]
    assert desk.release("counts").columns == table.columns
    with pytest.raises(InputError, match="Did you mean `counts`"):
        desk.release("cuonts")


def test_another_allotment_is_named(tmp_path):
    desk = open_desk(tmp_path)
    with pytest.raises(InputError):
        desk.offer(ASK, None, Price.read(epsilon=1), "nothing")


def test_columns_are_looked_at_again_before_the_charge(tmp_path):
    desk = open_desk(tmp_path)
    gone = replace(desk, source=replace(source_of(TABLE.drop_columns(["county"])), view=SCHEMA.view))
    with pytest.raises(InputError, match="county"):
        gone.offer(ASK, None, Price.read(epsilon=1), None).release()
    assert desk.standing()[0].spent.amount == 0


def test_a_run_that_fails_stays_spent(tmp_path, monkeypatch):
    desk = open_desk(tmp_path, PERSONS)
    offer = desk.offer(QuestionAsk(Query().agg(n=people())), None, Price.read(epsilon=1), None)

    def broken(*_):
        raise ValueError("a cell of the data")

    monkeypatch.setattr("discreet.query.compile.compile_query", broken)
    with pytest.raises(RunError) as caught:
        offer.release()
    assert "cell" not in str(caught.value)
    assert desk.standing()[0].spent.amount == 1
    assert desk.releases() == []
