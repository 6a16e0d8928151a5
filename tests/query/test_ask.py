"""An ask is a class of fields: to and from JSON by them, its price in the words it takes, errors by name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from attrs import frozen

from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.ask import Ask, Checked, option, options, read_file
from discreet.query.forms import CONDITION, NAMES, TEXT, WHOLE

SCHEMA = Schema("t", {"age": Integer(0, 120, nullable=False)})


@frozen(eq=False)
class CountAsk(Ask):
    kind: ClassVar[str] = "count"
    prices: ClassVar[tuple[str, ...]] = ("epsilon", "rho")

    column: str = option(TEXT, help="The column to count.")
    where: Any = option(CONDITION, None, help="Which rows count.")
    by: tuple[str, ...] = option(NAMES, (), help="Keys.")
    least: int = option(WHOLE, 1, help="The least count.", late=True)
    watch: Any = option(TEXT, None, help="Something of this process.", here_only=True)

    def checked(self, schema):
        return CheckedCount(self)


@dataclass(frozen=True)
class CheckedCount(Checked[str]):
    ask: CountAsk

    def plan(self, allotment, price):
        return price

    def read(self, answer, cost, remaining):
        return cost


def test_only_what_differs_from_the_defaults_is_written():
    assert CountAsk("age").to_dict() == {"column": "age"}
    full = CountAsk("age", "age > 5", "age", least=3)
    entry = {"column": "age", "where": "age > 5", "by": ["age"], "least": 3}
    assert full.to_dict() == entry
    again = CountAsk.from_dict(json.loads(json.dumps(entry)), SCHEMA)
    assert again.to_dict() == entry
    assert again.by == ("age",)


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ({}, "column"),
        ({"column": "age", "wher": "age > 5"}, "count.wher"),
        ({"column": "age", "watch": "x"}, "count.watch"),
    ],
)
def test_json_that_is_no_such_ask_is_refused_by_name(entry, field):
    with pytest.raises(InputError) as caught:
        CountAsk.from_dict(entry, SCHEMA)
    assert caught.value.field == field


def test_what_has_no_json_is_not_sent_elsewhere():
    with pytest.raises(InputError, match="left out where a job is sent elsewhere"):
        CountAsk("age", watch="me").to_dict()


def test_fields_are_listed_with_what_they_are_for():
    found = options(CountAsk)
    assert list(found) == ["column", "where", "by", "least", "watch"]
    assert found["column"].required
    assert not found["where"].required
    assert found["least"].late
    assert found["by"].help == "Keys."


def test_terms_beside_the_price_are_those_that_are_marked_so():
    ask = CountAsk("age")
    assert ask.with_terms({}) is ask
    assert ask.with_terms({"least": 5}).least == 5
    with pytest.raises(InputError, match="epsilon"):
        ask.with_terms({"by": ["age"]})


def test_a_price_is_said_in_the_words_that_the_kind_takes():
    ask = CountAsk("age")
    assert ask.price(epsilon=1, within=None, confidence=0.95, noise="auto").way == "epsilon"
    for words in ({"epsilon": 1, "noise": "laplace"}, {"within": 5}, {"epsilon": 1, "confidence": 0.9}):
        with pytest.raises(InputError, match="epsilon or rho"):
            ask.price(**words)
    with pytest.raises(InputError, match="exactly one"):
        CheckedCount(ask).priced(None, None)


def test_a_public_file_is_parsed_and_a_bad_one_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("1 2", encoding="utf-8")
    assert read_file(str.split)(str(tmp_path / "a.txt")) == ["1", "2"]
    with pytest.raises(InputError, match="exists"):
        read_file(str.split)(str(tmp_path / "b.txt"))
