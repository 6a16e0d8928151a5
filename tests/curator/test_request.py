"""What was asked for stands on the charge, so that a release is published again by its id alone."""

from __future__ import annotations

import json

import pytest

import discreet
from discreet import Budget, Category, Schema, count
from discreet.curator.request import request_to
from discreet.errors import InputError
from discreet.ledger.door import release as through_the_door
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.question_ask import QuestionAsk
from discreet.trees.ask import TreeAsk

SCHEMA = Schema("people", {"sex": Category(["f", "m"], nullable=False)})


def opened(folder, schema=SCHEMA, **how):
    (folder / "people.csv").write_text("sex\n" + "f\nm\n" * 20)
    return discreet.open(folder / "people.csv", schema, ledger=folder / "b.db", **how)


@pytest.fixture
def curator(tmp_path):
    return opened(tmp_path, budget=Budget(epsilon=4), create=True)


def asked(curator, **price):
    return curator.table().group_by("sex").agg(n=count(), total=count()).plan(**price)


def test_names_keep_their_order_on_the_record(curator):
    asked(curator, epsilon=1).release(release="a")
    told = json.loads(curator.ledger.find("a").request)
    assert list(told["ask"]["query"]["outputs"]) == ["n", "total"]
    assert told["price"][:2] == ["epsilon", "1"]


def test_a_long_ask_is_compressed_and_one_that_is_too_long_is_left_out():
    regions = {"county": [f"A{number:05d}" for number in range(2000)], "state": ["A"] * 2000}
    text = request_to(TreeAsk.of(["state", "county"], geography=regions), Price.read(epsilon=1))
    assert text.startswith("zlib:")
    assert len(text) < 20_000


def test_a_share_is_the_price_it_was_although_the_budget_was_raised(curator, tmp_path):
    made = asked(curator, share="0.25").release(release="a")
    curator.ledger.raise_budget("people", Budget(epsilon=8), who="ann", why="more")
    later = opened(tmp_path, budget=Budget(epsilon=8))
    assert later.publish("a").columns == made.columns
    assert later.publish("a", confidence=0.5).confidence == 0.5


def test_another_schema_makes_another_plan_which_is_refused(curator, tmp_path):
    asked(curator, epsilon=1).release(release="a")
    later = opened(tmp_path, Schema("people", {"sex": Category(["f", "m", "x"], nullable=False)}))
    with pytest.raises(InputError, match="with the schema of now another one is made"):
        later.publish("a")


def test_a_record_of_before_says_what_to_do(curator):
    offer = asked(curator, epsilon=1)
    through_the_door(offer.plan, curator.local.data, curator.ledger, who="ann", release="old", allotment="questions")
    with pytest.raises(InputError, match=r"Plan the same again and publish it by that: offer\.publish"):
        curator.publish("old")
    assert offer.publish("old", confidence=0.5).confidence == 0.5


@pytest.mark.parametrize("release", ["none", "other/1"])
def test_what_was_never_measured_is_refused(curator, release):
    with pytest.raises(InputError, match="whose measurement is recorded"):
        curator.publish(release)


def test_objects_of_python_are_left_out():
    ask = QuestionAsk(Query().agg(n=count()))
    assert json.loads(request_to(ask, None)) == {"ask": ask.to_dict(), "price": None}
