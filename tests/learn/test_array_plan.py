"""Arrays under a ledger: charged before the first step, one run through any crash, an id for its rows alone."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import contextlib
import signal
import subprocess
import sys
import threading
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import optax
from train_people import BUDGET, SCHEMA, charges, table
from train_steps import SECRET, examples, flat, linear, recipe, start

import discreet
from discreet import Unit
from discreet.core.progress import listening
from discreet.curator import read_release
from discreet.errors import BudgetError, InputError, RunError
from discreet.learn import run as run_module
from discreet.learn.examples import Examples
from discreet.learn.model import Model
from discreet.learn.objective import cross_entropy, squared
from discreet.learn.trainer import train
from discreet.ledger.ledger import Ledger

PERSONS = np.repeat(np.arange(50), 4)


def open_ledger(tmp_path, unit=None, name="digits"):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create(name, BUDGET, unit=unit or Unit(), who="test")
    return ledger


def charged(ledger, release="first", data=None, **more):
    run = {"recipe": recipe(multiplier=4), "dataset": "digits", "delta": 1e-7, "who": "ann"} | more
    own = run.pop("recipe")
    return train(linear, cross_entropy, start(), data or examples(), own, ledger=ledger, release=release, **run)


def test_a_run_on_arrays_is_charged_once_and_read_again_for_free(tmp_path):
    ledger = open_ledger(tmp_path)
    model = charged(ledger, name="line")
    assert model.cost.startswith("epsilon = ")
    assert not model.replayed
    spent = ledger.remaining("digits", "models")
    assert spent.amount == 4 - recipe(multiplier=4).epsilon(1e-7)
    assert spent.delta == Fraction("2e-6") - Fraction("1e-7")
    again = charged(ledger, name="line")
    assert again.replayed
    assert np.array_equal(flat(model.params), flat(again.params))
    stored = read_release(ledger, "first").using(Model(linear, start()))
    assert np.array_equal(flat(stored.params), flat(model.params))
    x, _ = examples()
    assert stored.predict(x) == np.asarray(linear(model.params, x)).argmax(axis=1).tolist()
    assert charges(ledger, "digits") == 1
    assert "protects | one row" in model.card().to_markdown()
    assert repr(stored).startswith("[model 'line' on 'digits'; 15 weights")
    assert ledger.verify().problems == ()


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "float64", "int8", "bool"])
@pytest.mark.parametrize("kept", [False, True])
def test_rows_of_every_kind_are_trained_on(tmp_path, kind, kept):
    x, y = examples()
    file = {"checkpoint": tmp_path / "run"} if kept else {}
    assert not charged(open_ledger(tmp_path), data=(x.astype(jnp.dtype(kind)), y), **file).replayed


def test_masked_rows_are_refused_before_the_charge(tmp_path):
    ledger, (x, y) = open_ledger(tmp_path), examples()
    with pytest.raises(InputError, match="without a mask"):
        charged(ledger, data=(np.ma.masked_array(x, mask=x > 0), y))
    assert charges(ledger, "digits") == 0


def test_rows_that_a_model_cannot_take_are_refused_by_name(tmp_path):
    model, (x, _) = charged(open_ledger(tmp_path)), examples()
    for rows in (np.hstack([x, x]), x[0], "words", np.full_like(x, np.nan)):
        with pytest.raises(InputError, match=r"^`rows` must be"):
            model.predict(rows)
    with pytest.raises(InputError, match=r"a Model\(apply, params\); got a whole number"):
        model.using(5)
    assert len(model.predict(x[:2])) == 2


def test_an_id_answers_for_its_rows_its_model_and_its_optimizer_alone(tmp_path):
    ledger = open_ledger(tmp_path)
    charged(ledger)
    x, y = examples()
    for other in ((x + 1e-6, y), (x, (y + 1) % 3), (x[::-1], y[::-1])):
        with pytest.raises(InputError, match="paid for other rows"):
            charged(ledger, data=other)
    for changed in (
        {"optimizer": optax.adam(0.1)},
        {"recipe": recipe(multiplier=4, rate=0.3)},
        {"recipe": recipe(multiplier=4, copies=2), "augment": twice},
        {"name": "another"},
    ):
        with pytest.raises(InputError, match="answers another question"):
            charged(ledger, **changed)
    assert charges(ledger, "digits") == 1


def twice(key, batch):
    """Two looks at an example, one of them moved at random."""
    x, y = batch
    moved = x + 0.1 * jax.random.normal(key, x.shape)
    return jnp.concatenate([x, moved]), jnp.concatenate([y, y])


@pytest.mark.parametrize(
    "other",
    [
        optax.adam(optax.cosine_decay_schedule(0.1, 6)),
        optax.adam(optax.linear_schedule(0.1, 0.0, 5)),
        optax.chain(optax.clip(1.0), optax.adam(optax.linear_schedule(0.1, 0.0, 6))),
    ],
    ids=["schedule", "length", "chain"],
)
def test_a_schedule_is_part_of_what_is_asked(tmp_path, other):
    ledger = open_ledger(tmp_path)
    charged(ledger, optimizer=optax.adam(optax.linear_schedule(0.1, 0.0, 6)))
    assert charged(ledger, optimizer=optax.adam(optax.linear_schedule(0.1, 0.0, 6))).replayed
    with pytest.raises(InputError, match="answers another question"):
        charged(ledger, optimizer=other)


def test_an_augmentation_is_part_of_what_is_asked(tmp_path):
    ledger = open_ledger(tmp_path)
    own = recipe(multiplier=4, copies=2)
    charged(ledger, recipe=own, augment=twice)

    def farther(key, batch):
        x, y = batch
        return jnp.concatenate([x, x + 0.2 * jax.random.normal(key, x.shape)]), jnp.concatenate([y, y])

    assert charged(ledger, recipe=own, augment=twice).replayed
    with pytest.raises(InputError, match="answers another question"):
        charged(ledger, recipe=own, augment=farther)


def test_over_budget_nothing_is_spent_and_nothing_is_trained(tmp_path):
    ledger = open_ledger(tmp_path)
    told = []
    with listening(lambda stage, done: told.append(stage)), pytest.raises(BudgetError, match="Nothing was spent"):
        charged(ledger, recipe=recipe(multiplier="1/2"))
    assert charges(ledger, "digits") == 0
    assert not told


def test_what_is_wrong_is_said_before_anything_is_spent(tmp_path):
    ledger = open_ledger(tmp_path)
    x, y = examples()
    for field, changed in {
        "delta": {"delta": None},
        "allotment": {"allotment": "questions"},
        "dataset": {"dataset": None},
        "secret": {"secret": SECRET},
        "after": {"after": print},
        "persons": {"unit": "patient"},
        "unit": {"persons": PERSONS},
        "y": {"data": (x, y + 9)},
        "x": {"data": (x * np.nan, y)},
        "checkpoint": {"checkpoint": tmp_path},
        "model": {"recipe": recipe(multiplier=4, copies=2), "augment": lambda key, batch: 1 / 0},
    }.items():
        with pytest.raises(InputError) as caught:
            charged(ledger, **changed)
        assert caught.value.field == field
    for changed in ({"delta": 1e-6}, {"unit": "patient"}, {"dataset": "digits"}, {"release": "first"}):
        with pytest.raises(InputError) as caught:
            train(linear, cross_entropy, start(), (x, y), recipe(), **changed)
        assert caught.value.field == "ledger"
    assert charges(ledger, "digits") == 0


def test_rows_of_persons_are_only_charged_to_an_account_that_protects_persons(tmp_path):
    ledger = open_ledger(tmp_path, Unit("patient", groups=1, rows=4))
    with pytest.raises(InputError, match="one row, added or removed") as caught:
        charged(ledger)
    assert caught.value.field == "dataset"
    with pytest.raises(InputError, match="what the account calls a person: patient") as caught:
        charged(ledger, persons=PERSONS, unit="household")
    assert caught.value.field == "unit"
    with pytest.raises(InputError, match="Did you mean `patient`"):
        charged(ledger, persons=PERSONS, unit="patients")
    rows_only = open_ledger(tmp_path, name="digits rows")
    with pytest.raises(InputError, match="one person"):
        charged(rows_only, persons=PERSONS, unit="patient", dataset="digits rows")
    own = recipe(examples=50, lot=20, rows=3, multiplier=4)
    model = charged(ledger, persons=PERSONS, unit="patient", recipe=own)
    assert model.recipe.rows == 3
    assert model.unit == "everything of one patient, added or removed"
    assert read_release(ledger, "first").recipe == model.recipe
    assert charged(ledger, persons=PERSONS, unit="patient", recipe=own).replayed
    with pytest.raises(InputError, match="paid for other rows"):
        charged(ledger, persons=PERSONS[::-1].copy(), unit="patient", recipe=own)


def test_a_curator_stands_for_its_ledger_and_its_dataset(tmp_path):
    curator = discreet.open(table(), SCHEMA, ledger=tmp_path / "books.db", budget=BUDGET, create=True, who="ann")
    curator.train(target="rich", examples=400, lot=100, steps=2, multiplier=9).plan(delta=1e-7).release()
    model = charged(curator, dataset=None, who=None)
    assert (model.dataset, charges(curator.ledger)) == ("people", 2)
    assert np.array_equal(curator.release("first").weights[0], model.weights[0])


def test_a_ledger_may_be_named_by_its_path(tmp_path):
    open_ledger(tmp_path).close()
    assert charged(tmp_path / "books.db").replayed is False
    assert charged(str(tmp_path / "books.db")).replayed is True


def test_numbers_are_told_as_the_model_gives_them(tmp_path):
    ledger = open_ledger(tmp_path)
    x, _ = examples()
    data = (x, x[:, :2])
    run = {"ledger": ledger, "dataset": "digits", "delta": 1e-7}
    model = train(linear, squared, start(outputs=2), data, recipe(multiplier=4), **run)
    assert model.predict(x[:3]) == np.asarray(linear(model.params, x[:3])).tolist()


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[3])
from train_steps import examples, linear, recipe, start
from discreet.core.progress import listening
from discreet.learn import run, train
from discreet.learn.objective import cross_entropy
run.new_secret = lambda bits=None: bytes(range(32))  # so that two runs can be compared

def heard(stage, done):
    if stage == "training: step 3 of 5":
        os.kill(os.getpid(), signal.SIGKILL)

with listening(heard):
    train(linear, cross_entropy, start(), examples(), recipe(multiplier=4), ledger=sys.argv[1], dataset="digits",
          release="first", delta=1e-7, who="ann", checkpoint=sys.argv[2])
"""


def test_killed_under_a_ledger_a_run_goes_on_under_one_charge(tmp_path, monkeypatch, request):
    open_ledger(tmp_path).close()
    kept = tmp_path / "digits.run"
    script = [sys.executable, "-c", KILLED, str(tmp_path / "books.db"), str(kept), str(request.path.parent)]
    assert subprocess.run(script, check=False).returncode == -signal.SIGKILL
    assert kept.exists()
    with pytest.raises(InputError, match="same"):  # another question may not go on with this noise
        charged(tmp_path / "books.db", "second", checkpoint=kept, optimizer=optax.adam(0.1))
    model = charged(tmp_path / "books.db", checkpoint=kept)
    assert not kept.exists()
    monkeypatch.setattr(run_module, "new_secret", lambda bits=None: bytes(range(32)))
    assert np.array_equal(flat(model.params), flat(charged(tmp_path / "books.db", "whole").params))
    assert charges(Ledger.open(tmp_path / "books.db"), "digits") == 2


def test_without_a_ledger_a_checkpoint_alone_is_gone_on_with(tmp_path):
    kept, own = tmp_path / "run", recipe(copies=2)
    first = train(linear, cross_entropy, start(), examples(), own, augment=twice, checkpoint=kept)
    again = train(linear, cross_entropy, start(), examples(), own, augment=twice, checkpoint=kept)
    assert np.array_equal(flat(first.params), flat(again.params))

    def other(key, batch):
        return jax.tree.map(lambda leaf: jnp.concatenate([leaf, leaf]), batch)

    with pytest.raises(InputError, match="augment"):
        train(linear, cross_entropy, start(), examples(), own, augment=other, checkpoint=kept)


def test_a_file_kept_with_an_augmentation_is_not_gone_on_with_without_it(tmp_path):
    kept, own = tmp_path / "run", recipe(copies=1)
    train(linear, cross_entropy, start(), examples(), own, augment=lambda key, batch: batch, checkpoint=kept)
    with pytest.raises(InputError, match="augment"):
        train(linear, cross_entropy, start(), examples(), own, checkpoint=kept)


def test_two_runs_that_are_given_one_file_share_no_secret(tmp_path, monkeypatch):
    """Also where one finds the file of the other before it says of which rows it is."""
    x, y = examples()
    begun, secrets, whole = threading.Event(), {}, Examples.laid_out

    def laid_out(self, rows, secret):
        secrets[id(self.x)] = secret
        if self.x is x:
            begun.set()
            second.join(timeout=1)  # of which there is time enough, where it does not wait
        return whole(self, rows, secret)

    monkeypatch.setattr(Examples, "laid_out", laid_out)
    other = x + 1

    def run_other():
        begun.wait()
        with contextlib.suppress(RunError):
            charged(tmp_path / "books.db", "second", data=(other, y), checkpoint=tmp_path / "run")

    open_ledger(tmp_path).close()
    second = threading.Thread(target=run_other)
    second.start()
    charged(tmp_path / "books.db", "first", data=(x, y), checkpoint=tmp_path / "run")
    second.join()
    assert secrets[id(x)] != secrets[id(other)]
    assert not list(tmp_path.glob(".run*"))
