"""Quantiles as they are asked for, in Python, JSON and SQL, and as a person gets them: charged once and stored."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest
from pay_table import PURE, ROWS_SCHEMA, SURE, opened

from discreet.errors import InputError
from discreet.query.aggregate import count, mean
from discreet.query.composite_plan import plan_question
from discreet.query.key import key
from discreet.query.notes import declared_notes
from discreet.query.price import Price
from discreet.query.quantile import At, median, minimum, quantile, quantiles, spread
from discreet.query.question import Query


@pytest.fixture
def curator(tmp_path):
    return opened(tmp_path)


@pytest.mark.filterwarnings("ignore:.*may describe earlier data")  # a table in memory has no version
def test_quantiles_are_priced_charged_once_and_kept(curator):
    question = curator.table().where("pay > 0").group_by("g").quantiles("pay", [0.25, 0.5, 0.9], grid=4096)
    offer = question.plan(epsilon=4, confidence=SURE)
    words = str(offer)
    for part in (
        "epsilon = 4",
        "tree of noisy counts over 4,096 bins",
        "at 100 rows",
        "at 10,000 rows",
        "at most 2 rows",
        "0..1000000",
    ):
        assert part in words
    answer = offer.release(release="pay")
    assert list(answer.columns) == ["g", *(n + e for n in ("q25", "q50", "q90") for e in ("", "_lower", "_upper"))]
    assert answer["q50_lower"][0] <= math.exp(5) <= answer["q50_upper"][0]
    assert (answer["q50_lower"][2], answer["q50_upper"][2]) == (0, 10**6)
    assert offer.release(release="pay").columns == answer.columns
    assert curator.standing()[0].left.amount == 26
    assert curator.release("pay").columns == answer.columns
    assert json.loads(answer.to_json())["outputs"] == ["q25", "q50", "q90"]
    other = question.plan(epsilon=5, confidence=SURE)
    assert other.plan.digest != offer.plan.digest
    assert question.plan(epsilon="4.0", confidence=SURE).plan.digest == offer.plan.digest


def test_median_range_and_suggested_bounds(curator):
    mid = curator.table().median("pay", grid=2**16).plan(epsilon=2).release()
    assert mid.outputs == ("median",)
    assert 100 < mid["median"][0] < 220
    ends = curator.table().range("pay", tail=0.05, grid=2**14).plan(epsilon=4).release()
    assert ends.outputs == ("min", "max", "range")
    assert ends["min"][0] < mid["median"][0] < ends["max"][0]
    assert ends["range"][0] == pytest.approx(ends["max"][0] - ends["min"][0])
    assert ends["range_lower"][0] <= ends["range"][0] <= ends["range_upper"][0]
    found = curator.table().suggest_bounds("pay", tail=0.01).plan(epsilon=15).release()
    low, high = found["low"][0], found["high"][0]
    assert low in (20, 50)
    assert high in (500, 1000)
    assert curator.table().agg(avg=mean("pay", bounds=(low, high))).plan(epsilon=1).release()["avg"][0] < 400


def test_batches_hold_quantiles_too(curator):
    batch = curator.batch(ages=curator.table().agg(n=count()), pay=curator.table().median("pay", interval=False))
    offer = batch.plan(epsilon=2, weights={"pay": 4})
    assert "permute-and-flip" in str(offer)
    parts = offer.release()
    assert parts["pay"].outputs == ("median",)
    assert curator.standing()[0].left.amount >= 28


def test_quantiles_in_sql(curator):
    text = "SELECT g, COUNT(*) AS n, MEDIAN(pay), QUANTILE_CONT(pay, 0.9) AS top FROM people "
    text += "GROUP BY g ORDER BY top DESC LIMIT 2"
    question = curator.sql(text)
    assert question.query == Query().group_by("g").agg(
        n=count(), median_pay=median("pay"), top=quantile("pay", 0.9)
    ).checked(curator.schema)
    answer = question.plan(epsilon=2).release()
    assert answer.outputs == ("n", "median_pay", "top")
    assert len(answer) == 2
    same = curator.sql("SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY pay) FROM people").query
    assert same == Query().agg(q90_pay=quantile("pay", 0.9)).checked(curator.schema)


def test_a_release_says_that_a_quantile_is_a_bin_and_not_interpolated(curator):
    text = "SELECT MEDIAN(pay) AS m, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY pay) AS top, COUNT(*) AS n FROM people"
    answer = curator.sql(text).plan(epsilon=1).release()
    said = [note for note in answer.notes if note.kind == "grid"]
    assert [note.outputs for note in said] == [("m", "top")]
    assert "a bin 976.562 wide" in said[0].text
    assert "SQL interpolates" in said[0].text
    (fine,) = [note for note in declared_notes(Query().agg(m=median("age")), ROWS_SCHEMA) if note.kind == "grid"]
    assert "one of the values" in fine.text


@pytest.mark.parametrize(
    "item",
    [
        "MEDIAN(DISTINCT pay)",
        "MEDIAN(g)",
        "MEDIAN(pay) OVER ()",
        "QUANTILE_CONT(pay, 0)",
        "QUANTILE_CONT(pay, 1)",
        "QUANTILE_CONT(pay, -1)",
        "QUANTILE_CONT(pay, [0.1, 0.2])",
        "QUANTILE_CONT(pay, 'half')",
        "QUANTILE_CONT(pay, TRUE)",
        "QUANTILE_CONT(pay, pay)",
        "QUANTILE_CONT(pay, 0.5 ORDER BY pay DESC)",
        "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY pay, g)",
        "MIN(pay)",
        "MAX(pay)",
    ],
)
def test_sql_that_is_not_understood_is_refused(curator, item):
    with pytest.raises(InputError):
        curator.sql(f"SELECT {item} AS x FROM people")


BAD = [
    (lambda: quantiles("pay", []), "quantiles"),
    (lambda: quantiles("pay", [0.5, "1/2"]), "quantiles"),
    (lambda: quantiles("pay", [0]), "quantile"),
    (lambda: quantiles("pay", [1]), "quantile"),
    (lambda: quantiles("pay", [1.5]), "quantile"),
    (lambda: quantiles("pay", [float("nan")]), "quantile"),
    (lambda: quantiles("pay", ["lots"]), "quantile"),
    (lambda: quantiles("pay", [True]), "quantile"),
    (lambda: quantiles("pay", "0.1234567890123"), "quantile"),
    (lambda: {"m": median("nothing")}, "quantile"),
    (lambda: {"m": median("g")}, "quantile"),
    (lambda: {"m": median("pay", grid=1)}, "grid"),
    (lambda: {"m": median("pay", grid=2**17)}, "grid"),
    (lambda: {"m": median("pay", grid=10.5)}, "grid"),
    (lambda: {"m": median("pay", grid="fine")}, "grid"),
    (lambda: {"m": median("pay", method="guess")}, "method"),
    (lambda: {"m": At("pay", Fraction(1, 2), take="best")}, "take"),
    (lambda: {"s": spread("pay", tail=0.5)}, "tail"),
    (lambda: {"s": minimum("pay", tail=0)}, "quantile"),
]


@pytest.mark.parametrize(("made", "field"), BAD)
def test_bad_input_is_refused_by_name_before_anything_is_spent(made, field):
    with pytest.raises(InputError) as caught:
        plan_question(Query().agg(**made()), ROWS_SCHEMA, PURE, Price.read(epsilon=1))
    assert caught.value.field == field


def test_a_question_survives_json():
    query = (
        Query()
        .where("age > 5")
        .group_by(key("g", ["b"]))
        .agg(
            n=count(),
            m=median("pay"),
            s=spread("age", tail="1/3"),
            **quantiles("pay", [0.1, "1/3"], grid=64, method="tree"),
        )
    )
    assert Query.from_json(query.to_json(), ROWS_SCHEMA) == query.checked(ROWS_SCHEMA)
    short = {"outputs": {"m": {"of": "median", "column": "pay"}, "q": {"of": "quantile", "column": "pay", "q": 0.9}}}
    assert Query.from_dict(short, ROWS_SCHEMA) == Query().agg(m=median("pay"), q=quantile("pay", 0.9)).checked(
        ROWS_SCHEMA
    )
    for wrong in (
        {"of": "quantile", "column": "pay"},
        {"of": "quantile", "column": "pay", "q": "many"},
        {"of": "quantile", "column": "pay", "q": 0.5, "more": 1},
        {"of": "quantile", "column": 7, "q": 0.5},
        {"of": "quantile", "column": "pay", "q": 0.5, "grid": [1]},
        {"of": "spread", "column": "pay", "low": 0.9, "high": 0.1},
        {"of": ["quantile"]},
    ):
        with pytest.raises(InputError):
            Query.from_dict({"outputs": {"x": wrong}}, ROWS_SCHEMA)
