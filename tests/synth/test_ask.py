"""What may be asked of synthetic rows, and what is refused before anything is spent."""

from __future__ import annotations

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from synth_desk import table

import discreet
from discreet import Budget, Category, Integer, Schema, Text, col
from discreet.errors import BudgetError, InputError
from discreet.query.ask import options
from discreet.synth.ask import SynthAsk


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"method": "magic"}, "method"),
        ({"columns": ["age", "nowhere"]}, "columns"),
        ({"columns": []}, "columns"),
        ({"columns": ["age", "age"]}, "columns"),
        ({"bins": {"pay": 1}}, "bins.pay"),
        ({"bins": {"nowhere": 5}}, "bins"),
        ({"rows": 0}, "rows"),
        ({"rows": 10**9}, "rows"),
        ({"rows": 1.5}, "rows"),
        ({"workload": "quads"}, "workload"),
        ({"workload": []}, "workload"),
        ({"workload": [("age", "nowhere")]}, "workload"),
        ({"workload": [("age", "age")]}, "workload"),
        ({"workload": [3]}, "workload"),
        ({"workload": 3}, "workload"),
        ({"workload": {("age", "sex"): -1}}, "workload"),
        ({"workload": {("age", "sex"): "much"}}, "workload"),
        ({"where": "nowhere = 3"}, "where"),
        ({"impossible": ["sex = 'x'"]}, "impossible"),
        ({"impossible": ["age >= 0"]}, "impossible"),
        ({"keys": {"age": "{}"}}, "keys"),
        ({"keys": {"person": "P"}}, "keys.person"),
        ({"keys": {"person": "{x}"}}, "keys.person"),
        ({"keys": ["person"]}, "keys"),
        ({"options": {"rounds": 5}}, "options"),
        ({"method": "rap", "options": ["rounds"]}, "options"),
        ({"method": "rap", "options": {"round": 5}}, "options.round"),
        ({"method": "rap", "options": {"rounds": 0}}, "options.rounds"),
        ({"method": "rap", "options": {"rounds": True}}, "options.rounds"),
        ({"method": "rap", "options": {"projection": "softmx"}}, "options.projection"),
        ({"method": "aim", "options": {"rounds": 1}}, "options.rounds"),
        ({"method": "mosaic", "options": {"way": "both"}}, "options.way"),
        ({"method": "mst", "options": {"rounds": 5}}, "options.rounds"),
    ],
)
def test_wrong_questions_are_refused(curator, asked, field):
    with pytest.raises(InputError) as problem:
        curator.synthesize(**asked)
    assert problem.value.field == field


def test_wrong_prices_are_refused_before_anything_is_spent(curator):
    question = curator.synthesize()
    for how in ({}, {"epsilon": 0}, {"epsilon": -1}, {"rho": 1}, {"epsilon": 1, "share": 0.1}, {"share": 2}):
        with pytest.raises(InputError):
            question.plan(**how)
    for price in ("1e-8", "1e-30"):
        with pytest.raises(InputError, match="which says nothing"):
            question.plan(epsilon=price)
    with pytest.raises(InputError, match="protects nobody"):
        question.plan(epsilon="1e30")
    with pytest.raises(BudgetError):
        question.plan(epsilon=11).release()
    assert curator.standing()[0].spent.amount == 0


def test_text_is_refused_and_said_how_to_go_on(tmp_path):
    schema = Schema("t", {"name": Text(), "n": Integer(0, 3, nullable=False)})
    rows = pyarrow.table({"name": ["Ann"], "n": [1]})
    curator = discreet.open(rows, schema, ledger=tmp_path / "t.db", budget=Budget(10), who="ann", create=True)
    with pytest.raises(InputError, match=r"as a category, have .* found .*leave it out .*made anew as a key"):
        curator.synthesize()
    offer = curator.synthesize(columns=["n"], keys={"name": "name {}"}).plan(epsilon=1)
    assert offer.release(release="x").columns == ("name", "n")


def test_a_condition_on_the_rows_that_count(curator):
    release = curator.synthesize("independent", where="age >= 50", columns=["age", "works"]).plan(epsilon=4).release()
    true = sum(1 for age in table()["age"].to_pylist() if age >= 50)
    assert abs(release.total - true) < 150
    ages = np.array(release.to_arrow()["age"].to_pylist())
    assert (ages >= 50).mean() > 0.9


def test_an_expression_is_a_column_like_others(tmp_path):
    schema = Schema("people", {"age": Integer(0, 99, nullable=False)})
    desk = discreet.open(table(), schema, ledger=tmp_path / "l.db", budget=Budget(epsilon=10**6), create=True)
    half = "FLOOR(age / 50)"
    draft = desk.synthesize("independent", columns=[col("age") // 50, "age"], where=col("age") % 50 > 9)
    made = draft.plan(epsilon=10**5).release(release="made").to_pandas()
    ages = table()["age"].to_numpy()
    exact = np.bincount(ages[ages % 50 > 9] // 50)
    assert list(made) == [half, "age"]
    assert np.abs(np.bincount(made[half]) - exact).max() <= 1
    assert desk.release("made").to_pandas().equals(made)


def test_bins_of_a_column_without_an_order_are_refused():
    schema = Schema("t", {"day": Category(["a", "b"]), "age": Integer(0, 200)})
    with pytest.raises(InputError, match=r"`bins.day` must be given for a column of numbers or days"):
        SynthAsk.of(bins={"day": 3}).checked(schema)
    assert SynthAsk.of(bins={"age": 3}).checked(schema).domain.sizes[1] == 4


def test_options_of_a_method_are_typed_as_names_with_values():
    parse = options(SynthAsk)["options"].form.parse
    assert parse(["rounds=5,per_round=20", "projection=softmax"]) == {
        "rounds": 5,
        "per_round": 20,
        "projection": "softmax",
    }
    with pytest.raises(InputError, match="NAME=VALUE"):
        parse(["rounds"])


def test_a_wrong_option_gets_the_right_one_named(curator):
    with pytest.raises(InputError, match=r"`options.round` is not known here. Did you mean `rounds`\?"):
        curator.synthesize("rap", options={"round": 5})
    with pytest.raises(InputError, match=r"got 'softmx'. Did you mean `softmax`\?"):
        curator.synthesize("rap", options={"projection": "softmx"})
    with pytest.raises(InputError, match="Method mst has no option"):
        curator.synthesize("mst", options={"rounds": 5})
    with pytest.raises(InputError, match="Name the method they are for"):
        curator.synthesize(options={"rounds": 5})
    assert curator.standing()[0].spent.amount == 0
