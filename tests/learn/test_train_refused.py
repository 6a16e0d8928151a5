"""What training refuses before the first step and before the charge."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest
from attrs import evolve

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema
from discreet.errors import InputError

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from train_steps import examples, linear, recipe, start  # noqa: E402

from discreet.learn.model import Model  # noqa: E402
from discreet.learn.objective import cross_entropy  # noqa: E402
from discreet.learn.trainer import train, train_losses  # noqa: E402


def test_bad_data_is_refused_before_the_first_step():
    x, y = examples()
    broken = x.copy()
    broken[5, 2] = np.nan
    with pytest.raises(InputError, match="finite numbers"):
        train(linear, cross_entropy, start(), (broken, y), recipe())
    with pytest.raises(InputError, match="labels from 0 to 2"):
        train(linear, cross_entropy, start(), (x, y + 1), recipe())
    with pytest.raises(InputError, match="one whole number"):
        train(linear, cross_entropy, start(), (x, y.astype(np.float32)), recipe())
    with pytest.raises(InputError, match="as many rows each"):
        train(linear, cross_entropy, start(), (x, y[:-1]), recipe())
    with pytest.raises(InputError, match="a pair"):
        train(linear, cross_entropy, start(), x, recipe())
    with pytest.raises(InputError, match="arrays of real numbers"):
        train(linear, cross_entropy, {"w": np.ones(3, dtype=int)}, (x, y), recipe())
    with pytest.raises(InputError, match="nothing to train"):
        train_losses(lambda p, b: b[0].sum(1), {}, (x, y), recipe())
    with pytest.raises(InputError, match="one number for each example"):
        train(linear, lambda out, y: out.mean(), start(), (x, y), recipe())


def normed(params, x):
    return ((x - x.mean(0)) / (x.std(0) + 1)) @ params["w"]


def called_back(params, x):
    def copied(v):
        return jax.pure_callback(np.asarray, jax.ShapeDtypeStruct(v.shape, v.dtype), v, vmap_method="sequential")

    return x @ copied(params["w"])


WHOLE = {"w": jnp.zeros((1, 2)), "n": jnp.zeros(2, jnp.int32)}
UNFIT = {
    "depends on that example alone": (Model(normed, {"w": jnp.zeros((1, 2))}), {}),
    "arrays of real numbers": (Model(lambda p, x: x @ p["w"] + p["n"], WHOLE), {}),
    "gradient JAX can compute": (Model(called_back, {"w": jnp.zeros((1, 2))}), {}),
    "one number for each": (Model(lambda p, x: x @ p, jnp.zeros((1, 2)), lambda outputs, y: outputs.mean()), {}),
    "at least 1e-09": ("logistic", {"bound": 1e-12}),
    "makes 2 copies": ("logistic", {"copies": 2}),
    "at most 2\\*\\*19": ("logistic", {"noise": "exact", "multiplier": 2**21}),
}


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    schema = Schema("people", {"age": Integer(0, 100, nullable=False), "rich": Category(["no", "yes"], nullable=False)})
    parts = [Allotment("models", "plan", epsilon=50, delta=1e-5)]
    data = pyarrow.table({"age": [20, 30, 40, 50], "rich": ["no", "yes", "no", "yes"]})
    place = tmp_path_factory.mktemp("unfit") / "budget.db"
    return discreet.open(
        data, schema, ledger=place, budget=Budget(epsilon=50, delta=1e-5, allotments=parts), who="me", create=True
    )


@pytest.mark.parametrize("said", UNFIT)
def test_a_model_that_cannot_be_trained_is_refused_before_the_charge(said, curator):
    model, settings = UNFIT[said]
    left = curator.ledger.remaining("people", "models")
    asked = {"target": "rich", "examples": 4, "lot": 2, "steps": 2}
    with pytest.raises(InputError, match=said):
        curator.train(model, **asked, **{"multiplier": 3, **settings}).plan(delta=1e-6).release()
    if "multiplier" not in settings:
        tried = [{"rate": 0.1, **settings}, {"rate": 1.0}]
        with pytest.raises(InputError, match=said):
            curator.train(model, **asked).search(tried, epsilon=1, delta=1e-6).release()
    assert curator.ledger.remaining("people", "models") == left


def test_a_model_that_mixes_examples_is_refused():
    def normed(params, x):
        return (x - x.mean(axis=0)) @ params["w"] + params["b"]

    for noise in ("device", "exact"):
        with pytest.raises(InputError, match="example"):
            train(normed, cross_entropy, start(), examples(), recipe(noise=noise))


def test_the_length_of_the_data_is_not_looked_at():
    x, y = examples()
    train(linear, cross_entropy, start(), (x[:60], y[:60]), recipe(steps=1))
    assert evolve(recipe(), steps=7).steps == 7
