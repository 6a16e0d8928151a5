"""A loss laid open: calls are run in place, what it does not need is left out, and every value has its kind."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import clip_models
import jax
import jax.numpy as jnp
import numpy as np

from discreet.learn.clip.flat import apply_step, of_rows, trace


def replayed(flat, params, batch):
    """The outcome of the steps, one after another."""
    known = {**flat.constants, **dict(zip(flat.leaves, jax.tree.leaves(params), strict=True))}
    known.update(zip(flat.batch, jax.tree.leaves(batch), strict=True))
    for step in flat.steps:
        known.update(zip(step.outputs, apply_step(step, [known[value] for value in step.inputs]), strict=True))
    return known[flat.outcome]


@pytest.mark.parametrize("model", clip_models.PLAIN)
def test_the_steps_compute_the_loss_of_one_example(model):
    losses, params, batch = model()
    flat, shape = trace(losses, params, batch, copies=2)
    two = jax.tree.map(lambda leaf: leaf[:2], batch)
    assert shape == (2,)
    assert np.allclose(replayed(flat, params, two), losses(params, two), rtol=1e-6)


def test_calls_are_opened_and_derivatives_of_ones_own_stay_closed():
    losses, params, batch = clip_models.recurrent()
    names = [step.name for step in trace(jax.jit(losses), params, batch, copies=1)[0].steps]
    assert not {"jit", "pjit", "checkpoint", "remat2"} & set(names)
    assert any(name.startswith("custom_vjp") for name in names)


def test_kinds_say_what_a_value_depends_on():
    params = {"w": jnp.ones((3, 2)), "many": jnp.int32(2)}

    def losses(params, x):
        weight = jnp.tanh(params["w"]) * params["many"]
        unused = jnp.exp(params["w"])
        return (x @ weight).sum(axis=1) + 0 * unused.shape[0]

    flat, _ = trace(losses, params, jnp.ones((4, 3)), copies=1)
    many, weight = flat.leaves  # in the order of the keys
    assert [flat.kinds[leaf] for leaf in (many, weight)] == ["constant", "parameter"]  # whole numbers have no gradient
    assert "exp" not in [step.name for step in flat.steps]
    (made,) = [step for step in flat.steps if step.name == "dot_general"]
    assert [flat.kinds[value] for value in made.inputs] == ["data", "parameter"]
    assert flat.roots(made.inputs[1]) == {1}
    assert flat.kinds[flat.outcome] == "data"


def test_shapes_of_rows_need_no_rows():
    shapes = of_rows({"x": np.zeros((5, 3), np.float32)}, 7)
    assert shapes["x"].shape == (7, 3)
    assert shapes["x"].dtype == np.float32
