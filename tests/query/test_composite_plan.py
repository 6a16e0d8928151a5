"""Sums and quantiles of one question: one price, one charge, one table in the order asked for."""

from __future__ import annotations

import bounds_table
import pytest
from pay_table import opened

from discreet.query.aggregate import count, mean
from discreet.query.composite_plan import CompositePlan
from discreet.query.quantile import median, quantile


@pytest.fixture
def curator(tmp_path):
    return opened(tmp_path)


def test_sums_and_quantiles_are_one_table_under_one_price(curator):
    question = curator.table().group_by("g").agg(n=count(), mid=median("pay", grid=4096), avg=mean("pay"))
    offer = question.plan(epsilon=3)
    assert isinstance(offer.plan, CompositePlan)
    assert offer.plan.charge.amount == 3
    assert [part.charge.amount for part in offer.plan.parts] == [2, 1] or offer.plan.parts[0].charge.amount < 3
    assert "tree" in str(offer) or "permute-and-flip" in str(offer)
    answer = offer.release()
    assert answer.keys == ("g",)
    assert answer.outputs == ("n", "mid", "avg")
    assert len(answer) == 3
    assert len(curator.releases()) == 1
    assert curator.standing()[0].left.amount == 27
    two = curator.table().agg(a=median("pay"), b=median("pay", grid=64)).plan(epsilon=1)
    assert len(two.plan.parts) == 2


def test_outputs_stand_in_the_order_asked_for_and_no_digest_depends_on_it(curator):
    kinds = {"high": quantile("pay", 0.9), "avg": mean("pay"), "low": median("pay", grid=64), "mid": median("pay")}
    offers = []
    for names in (["high", "avg", "low", "mid"], ["avg", "high", "mid", "low"]):
        offer = curator.table().agg(**{name: kinds[name] for name in names}).plan(epsilon=1)
        assert [expected.output for expected in offer.plan.expected()] == names
        places = [str(offer).index(f"\n  {name}: ") for name in names]
        assert places == sorted(places)
        assert list(offer.plan.query["outputs"]) == names
        offers.append(offer)
    assert list(offers[0].release(release="first").outputs) == ["high", "avg", "low", "mid"]
    again = curator.table().agg(avg=kinds["avg"], mid=kinds["mid"]).plan(epsilon=1)
    swapped = curator.table().agg(mid=kinds["mid"], avg=kinds["avg"]).plan(epsilon=1)
    assert again.plan.digest == swapped.plan.digest
    assert swapped.plan.question != again.plan.question


def test_several_columns_and_quantiles_beside(tmp_path):
    curator = bounds_table.opened(tmp_path)
    outputs = {"m": mean("pay", "private"), "a": mean("age", "private"), "mid": median("pay"), "n": count()}
    offer = curator.table().group_by("g").agg(**outputs).plan(epsilon=1000)  # so that no empty bin is taken for full
    assert isinstance(offer.plan, CompositePlan)
    assert offer.plan.charge.amount == 1000
    assert str(offer).count("First, bounds of") == 2
    answer = offer.release()
    assert answer.outputs == ("m", "a", "mid", "n", "pay_low", "pay_high", "age_low", "age_high")
    assert type(answer["age_low"][0]) is int
    assert answer["a"][0] == pytest.approx(40, abs=5)
    batch = curator.batch(x=curator.table().agg(m=mean("pay", "private")), y=curator.table().agg(n=count()))
    offer = batch.plan(epsilon=3)
    assert "First, bounds of pay" in str(offer)
    parts = offer.release()
    assert "pay_low" in parts["x"].outputs
