"""Models by name and of one's own: those that do not fit a table or cannot be trained are refused before the charge."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema
from discreet.errors import InputError
from discreet.learn.encoding import STEPS
from discreet.learn.model import Model, model_named


def test_a_model_of_ones_own_must_fit(curator):
    def lines(params, x):
        return x @ params

    with pytest.raises(InputError, match=r"outputs of shape \(examples, 2\)"):
        curator.train(Model(lines, np.zeros((8, 5), np.float32)), target="rich", examples=400)
    with pytest.raises(InputError, match=r"x of shape \(examples, 8\); got one that fails\. It says: "):
        curator.train(Model(lines, np.zeros((3, 2), np.float32)), target="rich", examples=400)


def test_models_by_name():
    assert model_named("mlp").hidden == (64,)
    with pytest.raises(InputError, match="MODULE:OBJECT"):
        model_named("mine.net")
    assert model_named("logistic").hidden == ()
    assert STEPS == 2**20


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
def small(tmp_path_factory):
    schema = Schema("people", {"age": Integer(0, 100, nullable=False), "rich": Category(["no", "yes"], nullable=False)})
    parts = [Allotment("models", "plan", epsilon=50, delta=1e-5)]
    data = pyarrow.table({"age": [20, 30, 40, 50], "rich": ["no", "yes", "no", "yes"]})
    place = tmp_path_factory.mktemp("unfit") / "budget.db"
    return discreet.open(
        data, schema, ledger=place, budget=Budget(epsilon=50, delta=1e-5, allotments=parts), who="me", create=True
    )


@pytest.mark.parametrize("said", UNFIT)
def test_a_model_that_cannot_be_trained_is_refused_before_the_charge(said, small):
    model, settings = UNFIT[said]
    left = small.ledger.remaining("people", "models")
    asked = {"target": "rich", "examples": 4, "lot": 2, "steps": 2}
    with pytest.raises(InputError, match=said):
        small.train(model, **asked, **{"multiplier": 3, **settings}).plan(delta=1e-6).release()
    if "multiplier" not in settings:
        tried = [{"rate": 0.1, **settings}, {"rate": 1.0}]
        with pytest.raises(InputError, match=said):
            small.train(model, **asked).search(tried, epsilon=1, delta=1e-6).release()
    assert small.ledger.remaining("people", "models") == left
