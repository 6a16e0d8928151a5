"""Conditions proposed from noisy marginals: those that hold are found, others are not, and none is applied."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest

import discreet
from discreet import Budget, Category, Date, Integer, Real, Schema
from discreet.errors import InputError

SCHEMA = Schema(
    "rides",
    {
        "paid": Category(["card", "cash"], nullable=False),
        "tip": Real(0, 20, step=0.5, nullable=False),
        "fare": Integer(0, 100, nullable=False),
        "total": Integer(0, 120, nullable=False),
        "out": Date("2020-01-01", "2020-03-01", nullable=False),
        "back": Date("2020-01-01", "2020-03-01", nullable=False),
    },
)


def table(rows: int = 8000, *, ruled: bool = True):
    chance = np.random.default_rng(6)
    cash = chance.random(rows) < 0.4
    tip = chance.integers(1, 20, rows) / 2
    fare = chance.integers(5, 90, rows)
    out = chance.integers(0, 50, rows)
    total = fare + chance.integers(0, 20, rows) if ruled else chance.integers(0, 120, rows)
    back = out + chance.integers(0, 8, rows) if ruled else chance.integers(0, 58, rows)
    start = np.datetime64("2020-01-01")
    return pyarrow.table(
        {
            "paid": np.where(cash, "cash", "card"),
            "tip": np.where(cash & ruled, 0, tip),
            "fare": fare,
            "total": total,
            "out": start + out.astype("timedelta64[D]"),
            "back": start + back.astype("timedelta64[D]"),
        }
    )


def released(folder, rows, rho=3):
    curator = discreet.open(rows, SCHEMA, ledger=folder / "t.db", budget=Budget(99, delta=1e-6), create=True)
    return curator, curator.synthesize().plan(rho=rho).release()


@pytest.fixture(scope="module")
def ruled(tmp_path_factory):
    return released(tmp_path_factory.mktemp("rules"), table())


def test_rules_that_hold_are_proposed_with_what_speaks_for_them(ruled):
    found = {one.condition: one for one in ruled[1].propose_conditions()}
    assert {"back < out", "total < fare", "paid = 'cash' and tip > 0"} <= set(found)
    for name in ("back < out", "total < fare", "paid = 'cash' and tip > 0"):
        one = found[name]
        assert 0 <= one.lower <= one.estimate <= one.upper < 0.05  # nobody meets it
        assert one.lower < 0.01
        assert one.independent > 5 * one.upper
        assert name in str(one)
        assert one.to_dict()["condition"] == name


def test_no_rule_is_proposed_that_many_rows_break(ruled):
    """Every proposal is all but true of the private rows, which only a test may look at."""
    frame = table().to_pandas()
    for one in ruled[1].propose_conditions(most=100):
        words = one.condition.replace(" = ", " == ").replace(" <> ", " != ")
        assert frame.eval(words).mean() < 0.05, one.condition


def test_where_nothing_is_ruled_out_nothing_is_proposed(tmp_path):
    _, made = released(tmp_path, table(ruled=False))
    assert made.propose_conditions() == ()


def test_what_is_proposed_can_be_given_and_then_holds(ruled):
    curator, made = ruled
    texts = [one.condition for one in made.propose_conditions()]
    frame = curator.synthesize(impossible=texts).plan(rho=3).release(release="kept").to_pandas()
    assert not (frame.total < frame.fare).any()
    assert not (frame.back < frame.out).any()
    assert not ((frame.paid == "cash") & (frame.tip > 0)).any()
    assert curator.release("kept").to_pandas().equals(frame)


def test_proposals_are_free_and_change_nothing(ruled):
    curator, made = ruled
    before, rows = str(curator.synthesize().plan(rho=1)), made.to_csv()
    assert made.propose_conditions() == made.propose_conditions()
    assert made.to_csv() == rows
    assert str(curator.synthesize().plan(rho=1)) == before  # which says what is left


def test_few_may_be_asked_for_and_intervals_are_wider_where_more_sure(ruled):
    made = ruled[1]
    assert len(made.propose_conditions(most=2)) == 2
    narrow = {one.condition: one for one in made.propose_conditions(confidence=0.5)}
    for one in made.propose_conditions(confidence=0.99):
        if one.condition in narrow:
            assert one.upper > narrow[one.condition].upper
    for most in (0, 1.5, True):
        with pytest.raises(InputError, match="most"):
            made.propose_conditions(most=most)


def test_where_noise_hides_everything_nothing_is_proposed(tmp_path):
    _, made = released(tmp_path, table(), rho="0.0005")
    assert made.propose_conditions() == ()
