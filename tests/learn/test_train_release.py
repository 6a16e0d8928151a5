"""A model from question to release: what it reads, charges, refuses, keeps, and how it survives being killed."""

from __future__ import annotations

import json
import random
import signal
import stat
import subprocess
import sys
import textwrap
from datetime import date
from fractions import Fraction

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

import discreet
from discreet import Allotment, Boolean, Budget, Category, Date, Integer, Real, Schema, Text, Unit
from discreet.core.plan import Plan
from discreet.core.progress import listening
from discreet.errors import BudgetError, InputError, RunError
from discreet.learn import kept as keeping
from discreet.learn.card import Card
from discreet.learn.checkpoint import Checkpoint, data_tag
from discreet.learn.encoding import STEPS, Encoding
from discreet.learn.kept import fingerprint, identity_of, taken_up
from discreet.learn.matrix import examples_of
from discreet.learn.model import Model, model_named
from discreet.learn.objective import cross_entropy
from discreet.learn.optimizer import sgd
from discreet.learn.recipe import Recipe
from discreet.learn.train import losses_of
from discreet.ledger.door import ATTEMPTS
from discreet.ledger.ledger import Ledger
from discreet.noise.replay import Replay
from discreet.query.parse import parse_condition
from discreet.query.source import source_of

COLUMNS = {
    "age": Integer(0, 100),
    "sex": Category(["f", "m"], nullable=True),
    "pay": Real(0, 100_000, nullable=True),
    "works": Boolean(),
    "since": Date("2000-01-01", "2020-12-31"),
    "rich": Category(["no", "yes"]),
}
SCHEMA = Schema("people", COLUMNS)
BUDGET = Budget(
    epsilon=5,
    delta=3e-6,
    allotments=[
        Allotment("questions", "zcdp", epsilon=1, delta=1e-6),
        Allotment("models", "plan", epsilon=4, delta=2e-6),
    ],
)
# Noise that was found once, so that no test has to search for it.
FIXED = {"lot": 100, "steps": 6, "multiplier": 3, "rate": 1.0}


def table(rows=400, seed=1) -> pyarrow.Table:
    chance = np.random.default_rng(seed)
    age = chance.integers(-5, 110, rows)
    pay = chance.gamma(4, 8000, rows)
    return pyarrow.table(
        {
            "person": [f"p{place // 3}" for place in range(rows)],
            "age": age,
            "sex": [
                None if one < 0.1 else "f" if one < 0.5 else "m" if one < 0.95 else "?" for one in chance.random(rows)
            ],
            "pay": [None if one < 20_000 else float(one) for one in pay],
            "works": chance.random(rows) < 0.5,
            "since": np.datetime64("1999-06-01") + chance.integers(0, 9000, rows).astype("timedelta64[D]"),
            "rich": [None if one < 0.05 else "yes" if one < 0.5 else "no" for one in chance.random(rows)],
        }
    )


@pytest.fixture
def curator(tmp_path):
    return discreet.open(table(), SCHEMA, ledger=tmp_path / "ledger.db", budget=BUDGET, who="someone")


def charges(ledger, name="people"):
    return len(ledger.releases(name))


# What is read


def read(rows, schema=SCHEMA, target="rich", key=b"k", condition=None):
    """The examples of a table, by the one door's own means."""
    with source_of(rows).open() as data:
        return examples_of(Encoding.of(schema, target), schema, data, Replay(key), condition)


def test_examples_are_laid_out_by_the_schema_alone():
    rows = pyarrow.table(
        {
            "age": [25, 200, -7, 50],
            "sex": ["m", None, "?", "f"],
            "pay": [50_000.0, float("nan"), 1e9, 0.0],
            "works": [True, False, True, False],
            "since": [date(2000, 1, 1), date(2020, 12, 31), date(2030, 1, 1), date(1990, 1, 1)],
            "rich": ["yes", "no", "yes", None],
        }
    )
    encoding = Encoding.of(SCHEMA, "rich")
    assert encoding.labels == ("age", "sex=f", "sex=m", "sex missing", "pay", "pay missing", "works", "since")
    x, y = read(rows)
    found = {tuple(np.round(row, 4).tolist()): int(label) for row, label in zip(x, y, strict=True)}
    assert found == {
        (-0.5, 0, 1, 0, 0, 0, 1, -1): 1,
        (1, 0, 0, 1, 0, 1, -1, 1): 0,
        (-1, 0, 0, 1, 1, 0, 1, 1): 1,
    }


def test_values_in_hand_are_read_as_the_engine_reads_them():
    rows = table(300)
    encoding = Encoding.of(SCHEMA, "rich")
    known = [place for place, label in enumerate(rows["rich"].to_pylist()) if label is not None]
    ours = encoding.rows(rows.take(known))
    x, _ = read(rows)
    assert np.array_equal(x[np.lexsort(x.T)], ours[np.lexsort(ours.T)])


def test_the_order_of_rows_does_not_matter():
    rows = table(200)
    turned = rows.take(np.random.default_rng(4).permutation(200))
    for one, two in zip(read(rows), read(turned), strict=True):
        assert np.array_equal(one, two)


def test_a_condition_leaves_rows_out():
    x, _ = read(table(), condition=parse_condition("age >= 50"))
    assert (x[:, 0] >= 0).all()
    assert 50 < len(x) < 300


def test_a_number_can_be_the_target():
    schema = Schema("people", {"age": Integer(0, 100), "pay": Real(0, 100)})
    encoding = Encoding.of(schema, "pay")
    assert encoding.classes == ()
    _, y = read(pyarrow.table({"age": [1, 2, 3], "pay": [0.0, 50.0, 100.0]}), schema, "pay")
    assert sorted(y) == [-1, 0, 1]
    assert list(encoding.number(np.array([-1.0, 0.5, 7.0]))) == [0, 75, 100]


PERSONS = Schema("people", {"person": Text(), **COLUMNS}, unit=Unit("person", groups=5, rows=9))


def test_a_person_is_one_example_whatever_they_hold():
    rows = table(300)
    whole, _ = read(rows, PERSONS)
    persons = rows["person"].to_pylist()
    labelled = {person for person, label in zip(persons, rows["rich"].to_pylist(), strict=True) if label is not None}
    assert len(whole) == len(labelled)
    for gone in ("p0", "p7", "p50"):
        kept = [place for place, person in enumerate(persons) if person != gone]
        without, _ = read(rows.take(kept), PERSONS)
        left = [tuple(row) for row in whole]
        for row in without:
            left.remove(tuple(row))  # every other person's example is what it was
        assert len(left) == (gone in labelled)


def test_another_key_picks_other_rows():
    rows = table(300)
    one, _ = read(rows, PERSONS, key=b"one")
    two, _ = read(rows, PERSONS, key=b"two")
    assert one.shape == two.shape
    assert not np.array_equal(one, two)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"target": "nothing"}, "declared column"),
        ({"target": "since"}, "a category, a boolean or a number"),
        ({"target": "rich", "features": ["rich", "age"]}, "other than the target"),
        ({"target": "rich", "features": ["age", "age"]}, "each column once"),
        ({"target": "rich", "features": []}, "at least one"),
        ({"target": "rich", "features": "age"}, "a list of columns"),
        ({"target": "rich", "features": ["person"]}, "declared values"),
    ],
)
def test_columns_that_do_not_fit_are_refused(given, said):
    with pytest.raises(InputError, match=said):
        Encoding.of(PERSONS, **given)


# What is asked


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"examples": None, "lot": 10}, "given with lot"),
        ({"examples": None}, "given with lot"),
        ({"lot": 500}, "a part of the examples"),
        ({"lot": 0}, "more than 0"),
        ({"steps": 0}, "1 or more"),
        ({"epochs": 0}, "more than zero"),
        ({"epochs": 3, "steps": 3}, "absent where steps"),
        ({"lot": 10, "probability": 0.1}, "absent where lot"),
        ({"probability": 2}, "at most 1"),
        ({"bound": float("nan")}, "finite"),
        ({"rate": -1}, "more than 0"),
        ({"model": "forest"}, "one of logistic, mlp"),
        ({"hidden": [3]}, "only the model mlp"),
        ({"model": "mlp", "hidden": [0]}, "whole numbers from 1"),
    ],
)
def test_a_bad_question_is_refused(curator, given, said):
    asked = {"model": "logistic", "target": "rich", "examples": 400} | given
    with pytest.raises(InputError, match=said):
        curator.train(asked.pop("model"), **asked)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "or a share"),
        ({"epsilon": 1, "share": 0.1}, "absent where epsilon"),
        ({"epsilon": 0}, "more than zero"),
        ({"share": 2}, "at most 1"),
        ({"epsilon": 1, "delta": 0}, "more than 0"),
        ({"epsilon": 1, "delta": 1e-3}, "at most the delta of the allotment"),
        ({"epsilon": 1, "allotment": "questions"}, "kind plan"),
        ({"epsilon": 1, "checkpoint": "no/such/folder/run"}, "folder that exists"),
    ],
)
def test_a_bad_price_is_refused(curator, given, said):
    with pytest.raises(InputError, match=said):
        curator.train(target="rich", examples=400).plan(**given)
    assert charges(curator.ledger) == 0


def test_a_budget_without_a_plan_allotment_says_how_to_divide_it(tmp_path):
    for budget in (Budget(epsilon=1), Budget(epsilon=1, delta=1e-6)):
        curator = discreet.open(table(), SCHEMA, ledger=tmp_path / f"{budget.delta == 0}.db", budget=budget)
        with pytest.raises(InputError, match=r"\[budget.allotments.models\] kind = 'plan'"):
            curator.train(target="rich", examples=400).plan(epsilon=0.5)


def test_replacing_units_are_refused(tmp_path):
    schema = Schema("people", COLUMNS, unit=Unit(neighbours="replace"))
    curator = discreet.open(table(), schema, ledger=tmp_path / "l.db", budget=BUDGET)
    with pytest.raises(InputError, match="add-remove"):
        curator.train(target="rich", examples=400)


def test_a_weak_delta_and_other_limits_are_said_in_the_plan(curator):
    offer = curator.train(target="rich", examples=10**6, **FIXED | {"lot": 10**5}).plan()
    text = str(offer)
    assert "Note: delta = 2e-06 is not below 1/examples" in text
    assert "Stopping early refunds nothing" in text
    assert "floating point" in text
    assert "loss is private" in text
    assert "1/examples" not in str(curator.train(target="rich", examples=400, **FIXED).plan())


def test_a_model_of_ones_own_must_fit(curator):
    def lines(params, x):
        return x @ params

    with pytest.raises(InputError, match=r"outputs of shape \(examples, 2\)"):
        curator.train(Model(lines, np.zeros((8, 5), np.float32)), target="rich", examples=400)
    with pytest.raises(InputError, match=r"x of shape \(examples, 8\)"):
        curator.train(Model(lines, np.zeros((3, 2), np.float32)), target="rich", examples=400)


# What is charged and released


def test_a_plan_is_calibrated_to_its_price_and_charged_once(curator):
    offer = curator.train(target="rich", examples=400, lot=200, steps=2).plan(epsilon=2)
    assert isinstance(offer.plan, Plan)
    assert offer.plan.delta == Fraction(1, 10**6)  # half of the allotment's, like epsilon
    assert Fraction(19, 10) < offer.plan.charge.amount <= 2
    assert charges(curator.ledger) == 0
    model = offer.release(release="first")
    assert curator.ledger.remaining("people", "models").amount == 4 - offer.plan.charge.amount
    again = offer.release(release="first")
    assert all(np.array_equal(a, b) for a, b in zip(model.weights, again.weights, strict=True))
    assert charges(curator.ledger) == 1
    stored = curator.model_release("first")
    assert stored.predict(table(20)) == model.predict(table(20))
    assert set(stored.predict(table(20))) <= {"no", "yes"}
    with pytest.raises(InputError, match=r"another kind of job.*discreet train show"):
        curator.release("first")
    with pytest.raises(InputError, match="stored release"):
        curator.model_release("second")


def test_over_budget_nothing_is_read_or_spent(curator):
    offer = curator.train(target="rich", examples=400, **FIXED | {"multiplier": "1/2"}).plan()
    assert offer.plan.charge.amount > 4
    assert "would be refused" in str(offer)
    with pytest.raises(BudgetError, match="Nothing was spent"):
        offer.release()
    assert charges(curator.ledger) == 0


def test_a_count_is_bought_where_none_is_declared(curator):
    offer = curator.train("mlp", target="pay", hidden=[4], probability="1/4", steps=3, multiplier=4).plan()
    assert offer.plan.count == Fraction(1, 50)
    assert "number of examples is counted" in str(offer)
    assert (
        offer.plan.charge.amount
        > curator.train(target="pay", examples=400, probability="1/4", steps=3, multiplier=4).plan().plan.charge.amount
    )
    model = offer.release()
    assert model.recipe.probability == Fraction(1, 4)
    assert model.counted
    assert all(0 <= value <= 100_000 for value in model.predict(table(10)))


def test_a_model_of_ones_own_is_used_with_its_function(curator):
    def lines(params, x):
        return x @ params["w"]

    mine = Model(lines, {"w": np.zeros((8, 2), np.float32)}, name="mine")
    model = curator.train(mine, target="rich", examples=400, **FIXED).plan().release(release="own")
    assert model.params["w"].shape == (8, 2)
    stored = curator.model_release("own")
    with pytest.raises(InputError, match="using"):
        stored.predict(table(3))
    assert curator.model_release("own", mine).predict(table(9)) == model.predict(table(9))


def test_the_digest_follows_what_is_computed(curator):
    def plan(**more):
        return curator.train(target="rich", examples=400, **FIXED | more).plan().plan.digest

    def twice(params, x):
        return 2 * (x @ params)

    def once(params, x):
        return x @ params

    digests = {plan(), plan(rate=0.5), plan(noise="exact"), plan(where="age > 3"), plan(features=["age"])}
    assert len(digests) == 5
    assert plan() in digests
    zeros = np.zeros((8, 2), np.float32)
    own = [
        curator.train(Model(apply, zeros), target="rich", examples=400, **FIXED).plan().plan.digest
        for apply in (once, twice)
    ]
    assert own[0] != own[1]


def test_the_fingerprint_follows_arrays_a_model_closes_over_and_its_own_gradient():
    params, batch = {"w": np.zeros((3, 2), np.float32)}, few()

    def scaled(by):
        inner = jax.jit(lambda x: x * by)
        return lambda params, x: inner(x) @ params["w"]

    def moved(by):
        def body(x, _):
            return x + by, None

        return lambda params, x: jax.lax.scan(body, x, None, length=2)[0] @ params["w"]

    def turned(by):
        @jax.custom_vjp
        def same(x):
            return x

        same.defvjp(lambda x: (x, None), lambda _, g: (g * by,))
        return lambda params, x: same(x @ params["w"])

    large = [np.zeros(3, np.float32), np.full(3, 1e-7, np.float32)]
    for made in (scaled, moved):
        found = [
            fingerprint(losses_of(made(kind(by)), cross_entropy), params, batch)
            for kind in (np.asarray, jnp.asarray)
            for by in (*large, large[0])
        ]
        assert found[0] == found[2] != found[1]
        assert found[3] == found[5] != found[4]
    one, two, again = (fingerprint(losses_of(turned(by), cross_entropy), params, batch) for by in (1.0, 2.0, 1.0))
    assert one == again != two
    flat = fingerprint(losses_of(lambda p, x: x @ p[0], cross_entropy), [params["w"]], batch)
    assert flat != fingerprint(losses_of(lambda p, x: x @ p[0], cross_entropy), (params["w"],), batch)


def test_a_run_is_not_taken_up_with_another_optimizer_or_precision(tmp_path):
    losses, params, recipe = small()
    place = Checkpoint(tmp_path / "run")
    identity = identity_of(recipe, "m")

    def taken(rate):
        own = sgd(lambda _: rate, 0.5)
        return taken_up(losses, params, recipe, identity, checkpoint=place, optimizer=own)

    taken(jnp.float32(0.1)).go(few())
    assert taken(jnp.float32(0.1)).state.step == 4
    with pytest.raises(InputError, match="the same optimizer as now"):
        taken(jnp.float32(0.2))
    with jax.default_matmul_precision("float32"):
        assert identity_of(recipe, "m")["backend"] != identity["backend"]


def test_a_card_says_what_there_is_to_know(curator, tmp_path):
    model = curator.train(target="rich", examples=400, **FIXED, report_loss=3).plan().release(release="carded")
    assert len(model.losses) == 6
    card = model.card()
    entry = json.loads(card.to_json())
    assert entry["steps"] == 6
    assert entry["noise_multiplier"] == "3"
    assert entry["sampling"] == "Poisson"
    assert entry["audit"] is None
    assert float(entry["epsilon"]) >= float(model.epsilon)
    assert "dp-accounting" in entry["accountant"]
    text = card.with_audit({"epsilon at least": 0.1}).with_tuning("3 runs, all charged").to_markdown()
    assert "epsilon at least: 0.1" in text
    assert "3 runs, all charged" in text
    assert "| protects | one row, added or removed |" in text
    assert "floating point" in text
    with pytest.raises(InputError, match="plain values"):
        card.with_audit({"x": object()})
    place = model.save(tmp_path / "model.npz")
    assert json.loads(place.with_suffix(".json").read_text())["release"] == "carded"
    assert sorted(np.load(place)) == ["0/b", "0/w"]
    with pytest.raises(InputError, match="npz"):
        model.save(tmp_path / "model.bin")


def test_a_search_is_charged_whole_and_keeps_one(curator):
    question = curator.train(target="rich", examples=400, lot=200, steps=2)
    offer = question.search([{"rate": 0.1}, {"rate": 2.0, "steps": 3}], epsilon=3)
    assert isinstance(offer.plan, Plan)
    assert Fraction(28, 10) < offer.plan.charge.amount <= 3
    assert offer.plan.search.choice == Fraction(3, 10)
    assert "2 runs, all charged" in str(offer)
    model = offer.release(release="best")
    assert charges(curator.ledger) == 1
    assert model.recipe.rate in (0.1, 2.0)
    assert "2 runs, all charged" in curator.model_release("best").card().tuning


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"settings": [{"rate": 1}]}, "at least two"),
        ({"settings": [{"rate": 1}, {"multiplier": 1}]}, "changes to the recipe"),
        ({"settings": [{"rate": 1}, {"pace": 1}]}, "names of a Recipe"),
        ({"settings": [{"rate": 1}, {"rate": -1}]}, "more than 0"),
        ({"held_out": 1}, "less than 1"),
        ({"choice": 0}, "private too"),
        ({"choice": 2}, "of the choice"),
        ({"epsilon": 0}, "more than zero"),
        ({"delta": 1}, "at most the delta"),
        ({"allotment": "questions"}, "kind plan"),
    ],
)
def test_a_bad_search_of_settings_is_refused(curator, given, said):
    asked = {"settings": [{"rate": 1}, {"rate": 2}], "epsilon": 1} | given
    with pytest.raises(InputError, match=said):
        curator.train(target="rich", examples=400).search(asked.pop("settings"), **asked)


# What is kept


def linear(params, x):
    return x @ params["w"]


def small(**more):
    recipe = Recipe(examples=50, lot=20, steps=4, bound=1, multiplier=1, ema=0.5, momentum=0.5, **more)
    return losses_of(linear, cross_entropy), {"w": np.zeros((3, 2), np.float32)}, recipe


def few():
    chance = np.random.default_rng(1)
    return chance.normal(size=(50, 3)).astype(np.float32), chance.integers(0, 2, 50).astype(np.int32)


def test_a_checkpoint_is_private_whole_and_comes_back_bit_for_bit(tmp_path):
    losses, params, recipe = small(report_loss=1.0)
    place = Checkpoint(tmp_path / "run")
    run = taken_up(losses, params, recipe, identity_of(recipe, "m"), checkpoint=place, every=1)
    done = run.go(few())
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    back = taken_up(losses, params, recipe, identity_of(recipe, "m"), checkpoint=place)
    assert back.state.step == 4
    assert back.secret == run.secret
    assert back.heard == done.losses
    assert np.array_equal(back.go(few()).params["w"], done.params["w"])
    place.destroy()
    assert list(tmp_path.iterdir()) == []
    place.destroy()  # nothing there: nothing to do


def test_a_save_that_was_killed_half_way_leaves_the_last_one_whole(tmp_path, monkeypatch):
    losses, params, recipe = small()
    place = Checkpoint(tmp_path / "run")
    run = taken_up(losses, params, recipe, identity_of(recipe, "m"), checkpoint=place, every=1)

    def killed(*_):
        raise KeyboardInterrupt  # after the new file was written, before it took the old one's place

    kept = []
    whole = Checkpoint.save

    def save(self, state, *rest):
        if state.step == 2:
            monkeypatch.setattr("pathlib.Path.replace", killed)
        whole(self, state, *rest)
        kept.append(state.step)

    monkeypatch.setattr(Checkpoint, "save", save)
    with pytest.raises(KeyboardInterrupt):
        run.go(few())
    monkeypatch.undo()
    assert kept == [0, 1]
    assert len(list(tmp_path.iterdir())) == 2
    again = taken_up(losses, params, recipe, identity_of(recipe, "m"), checkpoint=place)
    assert (again.state.step, again.secret) == (1, run.secret)
    place.destroy()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("part", ["recipe", "model", "code", "backend"])
def test_a_checkpoint_of_something_else_is_refused(tmp_path, part):
    losses, params, recipe = small()
    place = Checkpoint(tmp_path / "run")
    identity = identity_of(recipe, "m")
    taken_up(losses, params, recipe, identity, checkpoint=place).go(few())
    with pytest.raises(InputError, match=f"the same {part} as now.*charged anew"):
        taken_up(losses, params, recipe, identity | {part: "other"}, checkpoint=place)


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    losses, params, recipe = small()
    place = Checkpoint(tmp_path / "run")
    taken_up(losses, params, recipe, identity_of(recipe, "m"), checkpoint=place).go(few())
    again = taken_up(losses, params, recipe, identity_of(recipe, "m"), checkpoint=place)
    x, y = few()
    with pytest.raises(InputError, match="of the same data"):
        again.go((x, 1 - y))
    assert data_tag(bytes(32), x) != data_tag(bytes(31) + b"1", x)


@pytest.mark.parametrize("broken", [b"", b"nonsense", b"PK\x05\x06" + bytes(18)])
def test_a_broken_checkpoint_is_refused_without_being_quoted(tmp_path, broken):
    losses, params, recipe = small()
    (tmp_path / "run").write_bytes(broken)
    with pytest.raises(InputError, match="a whole file that a run has kept"):
        taken_up(losses, params, recipe, identity_of(recipe, "m"), checkpoint=Checkpoint(tmp_path / "run"))


def test_a_checkpoint_of_another_shape_is_refused(tmp_path):
    losses, params, recipe = small()
    place = Checkpoint(tmp_path / "run")
    taken_up(losses, params, recipe, identity_of(recipe, "m"), checkpoint=place).go(few())
    wide = {"w": np.zeros((3, 5), np.float32)}
    with pytest.raises(InputError, match="of the same shape"):
        taken_up(losses, wide, recipe, identity_of(recipe, "m"), checkpoint=place)


KILLED = """
import os, signal, sys
import discreet
from discreet.core.progress import listening
from discreet.learn import kept
data, ledger, schema, checkpoint, deadly = sys.argv[1:]
kept.new_secret = lambda bits=None: bytes(range(32))  # so that two runs can be compared

def heard(stage, done):
    if stage == f"training: step {deadly} of 6":
        os.kill(os.getpid(), signal.SIGKILL)

curator = discreet.open(data, schema, ledger=ledger)
offer = curator.train(target="rich", examples=400, lot=100, steps=6, multiplier=3, momentum=0.9, ema=0.9).plan(
    checkpoint=checkpoint
)
with listening(heard):
    offer.release(release="killed")
"""


def test_killed_at_any_step_a_run_goes_on_as_if_nothing_had_been(tmp_path, monkeypatch):
    pyarrow.parquet.write_table(table(), tmp_path / "people.parquet")
    (tmp_path / "schema.toml").write_text(
        textwrap.dedent(
            """
            [dataset]
            name = "people"
            [columns]
            age = { type = "integer", lower = 0, upper = 100 }
            rich = { type = "category", values = ["no", "yes"] }
            [budget]
            epsilon = 4
            delta = 2e-6
            allotments.models = { kind = "plan", epsilon = 4, delta = 2e-6 }
            """
        )
    )
    names = ("people.parquet", "ledger.db", "schema.toml", "run")
    places = [str(tmp_path / name) for name in names]
    steps = sorted(random.sample(range(1, 7), 2))
    for step in steps:
        run = subprocess.run([sys.executable, "-c", KILLED, *places, str(step)], capture_output=True, check=False)
        assert run.returncode == -signal.SIGKILL, run.stderr[-2000:]
        assert (tmp_path / "run").exists()
    secret = bytes(range(32))
    assert secret.hex().encode() in (tmp_path / "run").read_bytes()
    assert all(secret.hex().encode() not in path.read_bytes() for path in tmp_path.glob("ledger.db*") if path.is_file())

    monkeypatch.setattr(keeping, "new_secret", lambda bits=None: secret)
    asked = {"target": "rich", "examples": 400, "lot": 100, "steps": 6, "multiplier": 3, "momentum": 0.9, "ema": 0.9}
    resumed = discreet.open(places[0], places[2], ledger=places[1])
    with pytest.raises(InputError, match="of the same recipe"):
        resumed.train(**asked | {"rate": 7.0}).plan(checkpoint=places[3]).release(release="killed")
    model = resumed.train(**asked).plan(checkpoint=places[3]).release(release="killed")
    assert not (tmp_path / "run").exists()
    assert charges(resumed.ledger) == 1

    whole = discreet.open(places[0], places[2], ledger=tmp_path / "other.db").train(**asked).plan().release()
    assert all(np.array_equal(a, b) for a, b in zip(model.weights, whole.weights, strict=True))
    monkeypatch.setattr(keeping, "new_secret", lambda bits=None: secret[::-1])  # power: other noise is another model
    fresh = discreet.open(places[0], places[2], ledger=tmp_path / "third.db").train(**asked).plan().release()
    assert not all(np.array_equal(a, b) for a, b in zip(model.weights, fresh.weights, strict=True))


def test_data_that_changed_under_a_run_fails_it_and_the_charge_stays(tmp_path, monkeypatch):
    ledger = Ledger.open(tmp_path / "ledger.db")
    place = tmp_path / "run"

    def offer(rows):
        curator = discreet.open(rows, SCHEMA, ledger=ledger, budget=BUDGET)
        return curator.train(target="rich", examples=400, **FIXED).plan(checkpoint=place)

    def stop(*_):
        raise KeyboardInterrupt

    whole = Checkpoint.save

    def stopping(self, state, *rest):
        whole(self, state, *rest)
        if state.step == 2:
            stop()

    monkeypatch.setattr(Checkpoint, "save", stopping)
    with pytest.raises(KeyboardInterrupt):
        offer(table()).release(release="changed")
    monkeypatch.setattr(Checkpoint, "save", whole)
    with pytest.raises(RunError, match="stays spent"):
        offer(table(seed=2)).release(release="changed")
    assert charges(ledger) == 1
    assert not place.exists()


class Stop(BaseException):
    """A run stopped from outside."""


def watched(curator, place, release, *, stop=None, **more):
    """The losses that are shown of a run while it goes, stopped after step `stop`; and its model, if it got there."""
    seen = []

    def hear(stage, _):
        seen.extend([stage] if "loss" in stage else [])
        if stage.startswith(f"training: step {stop} "):
            raise Stop

    offer = curator.train(target="rich", examples=400, **FIXED | {"report_loss": 3} | more).plan(checkpoint=place)
    try:
        with listening(hear):
            return seen, offer.release(release=release)
    except Stop:
        return seen, None


def test_a_run_whose_losses_were_seen_goes_on_from_its_own_checkpoint_only(curator, tmp_path):
    seen, _ = watched(curator, tmp_path / "a", "seen", stop=3)
    assert len(seen) == 3
    with pytest.raises(InputError, match=r"the file that the run of release 'seen' was kept in"):
        watched(curator, tmp_path / "b", "seen")
    assert not (tmp_path / "b").exists()
    with pytest.raises(InputError, match="release"):  # without a file none is shown: another plan
        watched(curator, None, "seen")
    kept = (tmp_path / "a").rename(tmp_path / "moved")
    with pytest.raises(InputError, match="kept in"):
        watched(curator, tmp_path / "a", "seen")
    for _ in range(ATTEMPTS + 1):  # as often as it takes: the same noise each time
        again, model = watched(curator, kept, "seen", stop=4)
        assert model is None
        assert {*again} <= {*seen} | {again[-1]}
        seen = sorted({*seen, *again})
    assert len(seen) == 4
    _, model = watched(curator, kept, "seen")
    assert len(model.losses) == 6
    assert charges(curator.ledger) == 1
    assert curator.ledger.find("seen").notes == 0


def test_a_run_that_showed_nothing_begins_again_a_few_times(curator, tmp_path):
    for place in (None, tmp_path / "a", tmp_path / "b"):
        seen, model = watched(curator, place, "unseen", stop=2, report_loss=None)
        assert (seen, model) == ([], None)
    assert curator.ledger.find("unseen").notes == ATTEMPTS - 1
    assert watched(curator, tmp_path / "b", "unseen", report_loss=None)[1] is not None


def test_a_run_is_kept_before_anything_is_read(curator, tmp_path):
    def hear(stage, _):
        if stage.startswith("laying out"):
            raise Stop

    offer = curator.train(target="rich", examples=400, **FIXED, report_loss=3).plan(checkpoint=tmp_path / "run")
    with listening(hear), pytest.raises(Stop):
        offer.release(release="early")
    secret = offer.plan.taken_up().secret
    assert offer.plan.taken_up().secret == secret  # the file's, not a fresh one each time
    assert len(offer.release(release="early").losses) == 6


def test_only_what_a_save_left_beside_the_file_is_destroyed(tmp_path):
    mine = [tmp_path / "run[1]", tmp_path / ".run[1].77"]
    others = [tmp_path / name for name in (".run1.77", ".run[1].b.77", ".run[1].77b", ".run[1]")]
    for path in mine + others:
        path.write_bytes(b"secret")
    Checkpoint(mine[0]).destroy()
    assert sorted(tmp_path.iterdir()) == sorted(others)


def test_a_price_that_takes_all_of_the_delta_says_so(curator):
    asked = curator.train(target="rich", examples=400, **FIXED)
    assert "takes all of the 2e-6 of 'models'" in str(asked.plan())
    assert "takes all of" not in str(asked.plan(delta=1e-6))


def test_a_delta_on_a_card_is_as_written():
    recipe = Recipe(examples=50, lot=20, steps=1, bound=1, multiplier=4)
    assert Card.of_recipe(recipe, "1/1000000", name="m", dataset="d").delta == "1e-6"
    assert Card.of_recipe(recipe, Fraction(10**9 + 1, 10**15), name="m", dataset="d").delta == "1.0001e-6"


def test_a_release_read_again_leaves_the_checkpoint_of_another_run_alone(curator, tmp_path):
    place = tmp_path / "run"
    offer = curator.train(target="rich", examples=400, **FIXED).plan(checkpoint=place)
    offer.release(release="done")
    assert not place.exists()
    losses, params, recipe = small()
    taken_up(losses, params, recipe, identity_of(recipe, "m", plan="other"), checkpoint=Checkpoint(place)).go(few())
    offer.release(release="done")
    assert place.exists()
    place.write_bytes(b"broken")
    offer.release(release="done")
    assert place.exists()


def test_models_by_name():
    assert model_named("mlp").hidden == (64,)
    assert model_named("logistic").hidden == ()
    assert STEPS == 2**20
