"""What was asked for stands on the charge, so that a release is published again by its id alone."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import attrs
import numpy as np
import pytest

import discreet
from asks import ASKS, PLACES, town
from discreet import Budget, Category, Schema, bins, count
from discreet.curator.request import offer_at, request_to, stated_price
from discreet.errors import InputError
from discreet.learn.model import Model
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


def test_the_same_is_planned_at_another_price_and_nothing_is_spent(curator):
    offer = asked(curator, epsilon=1, confidence=0.9)
    offer.release(release="a")
    known, before = curator.ledger.find("a"), curator.ledger.head()
    other = offer_at(curator.local, known, "epsilon", "0.25")
    assert other.to_dict() == asked(curator, epsilon="0.25", confidence=0.9).to_dict()
    assert curator.ledger.head() == before
    for way, amount in (("epsilon", 0), ("epsilon", "much"), ("price", 1)):
        with pytest.raises(InputError):
            offer_at(curator.local, known, way, amount)


def test_the_price_is_read_back_as_it_was_stated(curator):
    asked(curator, epsilon=1).release(release="a")
    asked(curator, within=30, confidence=0.9).release(release="b")
    assert stated_price(curator.ledger.find("a")) == {"epsilon": 1}
    assert stated_price(curator.ledger.find("b")) == {"within": 30, "confidence": 0.9}
    curator.ledger.spend("people", discreet.Pure("0.1"), release="c", who="w", digest="d", unit=curator.schema.unit)
    assert stated_price(curator.ledger.find("c")) == {}


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
    with pytest.raises(InputError, match="with the current schema the request gives another plan"):
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


def test_a_question_stands_on_record_as_it_is_written():
    ask = QuestionAsk(Query().agg(n=count()))
    assert json.loads(request_to(ask, None)) == {"ask": ask.to_dict(), "price": None}


@pytest.fixture
def here(tmp_path):
    return town(tmp_path)


def planned(here, name, price=None, **fields):
    """An ask of every kind, with other values in some of its fields."""
    ask = ASKS[name]
    return replace(ask, fields={**ask.fields, **fields}, price=ask.price if price is None else price).offer(here)


def test_a_model_of_ones_own_is_planned_and_its_record_holds_no_request(here):
    """It is code, which has no JSON: nothing of it is recorded, and publishing by the id says what to do instead."""
    jnp = pytest.importorskip("jax.numpy")
    model = Model(lambda params, x: x @ params["w"], {"w": jnp.zeros((2, 2))})
    offer = planned(here, "train", model=model)
    assert offer.request is None
    offer.release(release="own")
    with pytest.raises(InputError, match=r"has no JSON form.*offer\.publish"):
        here.curator.publish("own")
    assert offer.publish("own").id == "own"


def test_numbers_without_a_form_in_json_are_written_exactly(here):
    corners = {place: np.array(one) for place, one in PLACES.items()}
    sizes = {place: np.int64(20) for place in PLACES}
    paid = {**ASKS["search"].price, "settings": [{"rate": np.float32(0.3)}, {"rate": Fraction(1, 3)}]}
    cases = {
        "train": (planned(here, "train", examples=np.int64(60)), "examples", 60),
        "search": (planned(here, "search", paid), "settings", [{"rate": 0.30000001192092896}, {"rate": "1/3"}]),
        "commute": (
            planned(here, "commute", coordinates=corners, sizes=sizes),
            "coordinates",
            {place: list(one) for place, one in PLACES.items()},
        ),
    }
    for name, (offer, field, written) in cases.items():
        assert json.loads(offer.request)["ask"][field] == written, name
    cases["commute"][0].release(release="commute")
    assert here.curator.publish("commute").id == "commute"


def test_bins_in_an_array_are_published_by_the_id(here):
    ages = here.curator.table().group_by(bins("age", np.array([0, 50, 99]))).agg(n=count())
    made = ages.plan(rho=1, allotment="questions").release(release="ages")
    assert here.curator.publish("ages").columns == made.columns


@pytest.mark.parametrize("far", [float("inf"), float("nan")])
def test_a_number_that_json_has_not_is_not_recorded_and_hinders_no_plan(here, far):
    ask = here.curator.commute(**ASKS["commute"].fields).ask
    assert request_to(attrs.evolve(ask, farthest=far), None) is None
    assert planned(here, "commute", farthest=float("inf")).request is None


def test_options_of_this_machine_that_decide_the_plan_are_named_when_it_is_published_by_the_id(here):
    offer = planned(here, "train", operands="bfloat16", noise="device")
    assert json.loads(offer.request)["left_out"] == ["operands"]
    offer.release(release="narrow")
    with pytest.raises(InputError, match=r"operands is not recorded.*offer\.publish"):
        here.curator.publish("narrow")
    assert offer.publish("narrow").id == "narrow"


class Rude:
    """A value that fails in every way it is looked at."""

    def __getattr__(self, name):
        raise ZeroDivisionError(name)


def test_nothing_that_an_ask_holds_makes_its_record_fail():
    assert request_to(TreeAsk.of(["state", "county"], method=Rude()), None) is None
