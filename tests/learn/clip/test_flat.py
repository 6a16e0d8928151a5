"""A loss laid open: calls are run in place, what it does not need is left out, and every value has its kind."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import clip_models
import jax
import jax.numpy as jnp
import numpy as np

from discreet.learn.clip.flat import apply_step, of_rows, scan_counts, trace


def replayed(flat, params, batch):
    """The outcome of the steps, one after another."""
    known = {**flat.constants, **dict(zip(flat.leaves, jax.tree.leaves(params), strict=True))}
    known.update(zip(flat.batch, jax.tree.leaves(batch), strict=True))
    for step in flat.steps:
        known.update(zip(step.outputs, apply_step(step, [known[value] for value in step.inputs]), strict=True))
    return known[flat.outcome]


@pytest.mark.parametrize("model", [*clip_models.PLAIN, clip_models.looped, clip_models.cut])
def test_the_steps_compute_the_loss_of_one_example(model):
    losses, params, batch = model()
    flat, shape = trace(losses, params, batch, copies=2)
    two = jax.tree.map(lambda leaf: leaf[:2], batch)
    assert shape == (2,)
    assert np.allclose(replayed(flat, params, two), losses(params, two), rtol=1e-6)


def test_calls_are_opened_and_derivatives_of_ones_own_stay_closed():
    losses, params, batch = clip_models.recurrent()
    steps = trace(jax.jit(losses), params, batch, copies=1)[0].steps
    names = [step.name for step in steps]
    assert not {"jit", "pjit"} & set(names)
    assert any(name.startswith("custom_vjp") for name in names)
    (scan,), (kept,) = ([step for step in steps if step.name in of] for of in (("scan",), ("checkpoint", "remat2")))
    assert "dot_general" in [step.name for step in scan.region.steps]
    assert [step.name for step in kept.region.steps] == ["dot_general", "sin"]


def test_what_a_scan_carries_is_data_and_what_it_takes_slices_of_stays_what_it_was():
    flat, _ = trace(*clip_models.looped(), copies=1)
    (turns,) = [step for step in flat.steps if step.name == "scan"]
    (layers,) = [step for step in turns.region.steps if step.name == "scan"]
    assert [flat.kinds[value] for value in layers.region.carried] == ["data"]
    assert {flat.kinds[value] for value in layers.region.sliced} == {"parameter"}
    assert {flat.depths[value] for value in layers.region.sliced} == {2}
    weights = [value for value in layers.region.sliced if flat.shapes[value].shape == (4, 4)]
    assert [len(flat.roots(value)) for value in weights] == [1, 1]


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


def test_a_scan_says_what_it_is_given_and_what_it_carries_whatever_jax_calls_it():
    def turns(weight, start, rows):
        return jax.lax.scan(lambda both, row: ((both[1] * weight, both[0] + row), both[0]), (start, start), rows)

    equations = jax.make_jaxpr(turns)(2.0, 1.0, jnp.ones(3)).jaxpr.eqns
    (scan,) = [equation for equation in equations if equation.primitive.name == "scan"]
    assert scan_counts(scan.params) == (1, 2)
