"""Clipped sums: all ways agree, nothing is longer than the bound, nothing that is no number gets in."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import clip_models
import jax
import jax.numpy as jnp
import numpy as np
from clip_models import SOME, adder, clipped, far, reference, run, size_of, way
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.learn.clip import HOW, clipped_sum, slack


@pytest.mark.parametrize(
    ("how", "model"),
    [
        *(("auto", model) for model in clip_models.PLAIN),
        *(("auto", model) for model in clip_models.NESTED),
        *(("checkpoint", model) for model in (clip_models.convolutions, clip_models.attention, clip_models.packed)),
        *(("vmap", model) for model in (clip_models.mlp, clip_models.recurrent)),
        *(("microbatch", model) for model in (clip_models.mlp, clip_models.convolutions)),
    ],
)
def test_all_ways_give_the_reference(how, model):
    losses, params, batch = model()
    made = clipped(model, mask=SOME, **way(how))
    total, lengths = reference(model, SOME)
    np.testing.assert_allclose(made.norms, lengths, rtol=2e-5)
    twice = how == "checkpoint" or model in (clip_models.recurrent, clip_models.checkpointed, clip_models.cut)
    assert far(made.total, total) < slack(params) + (4e-4 if twice else 2e-5)
    # A loss is a difference of numbers near one: the last bits of those are 1e-7, whatever is left of it.
    np.testing.assert_allclose(made.losses, losses(params, batch), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("how", HOW)
def test_copies_are_averaged_before_clipping(how):
    _, params, _ = clip_models.mlp()
    made = clipped(clip_models.mlp, mask=(1, 0, 1, 1), copies=3, how=how, microbatch=3 if how == "microbatch" else None)
    total, lengths = reference(clip_models.mlp, (1, 0, 1, 1), copies=3)
    np.testing.assert_allclose(made.norms, lengths, rtol=2e-5)
    assert far(made.total, total) < slack(params) + 2e-5


@settings(deadline=None, max_examples=5)
@given(
    st.integers(1, 4),
    st.integers(1, 3),
    st.sampled_from([1, 2]),
    st.sampled_from(["float32", "bfloat16", "float16"]),
    st.floats(1e-3, 1e3),
)
def test_shapes_and_types(places, window, step, kind, bound):
    rng = np.random.default_rng(places + 10 * window)
    params = {"w": clip_models.normal(rng, window, 2, 3).astype(kind), "v": clip_models.normal(rng, 3, 2)}
    batch = clip_models.normal(rng, 4, places + window, 2)

    def losses(params, x):
        sides = ("NWC", "WIO", "NWC")
        y = jax.lax.conv_general_dilated(x.astype(kind), params["w"], (step,), "SAME", dimension_numbers=sides)
        return (jnp.tanh(y.astype(jnp.float32)) @ params["v"]).sum(axis=(1, 2)) ** 2

    made = run(losses, params, batch, np.ones(4), bound=bound)
    plain = run(losses, params, batch, np.ones(4), bound=bound, how="vmap")
    rough = {"float32": 1e-4, "bfloat16": 0.05, "float16": 5e-3}[kind]
    np.testing.assert_allclose(made.norms, plain.norms, rtol=rough, atol=1e-4)
    assert far(made.total, jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), plain.total)) < rough


FIRST = tuple(int(place == 0) for place in range(clip_models.EXAMPLES))
ROWS = {
    "zeros": 0.0,
    "huge": 1e30,
    "infinite": np.inf,
    "no number": np.nan,
    "vanishing": 1e-30,
    "squares vanish": 1e-21,
    "large": 1e8,
}


@pytest.mark.parametrize(
    ("how", "model"),
    [
        ("auto", "mlp"),
        ("checkpoint", "mlp"),
        ("vmap", "mlp"),
        ("auto", "convolutions"),
        ("auto", "steep"),
        ("checkpoint", "steep"),
    ],
)
def test_no_row_adds_more_than_the_bound(how, model):
    if model == "steep":
        losses, params, batch = _steep()
        length = adder(losses, params, how=how, bound=0.01)
    else:
        model = getattr(clip_models, model)
        _, _, batch = model()

        def length(batch, row=None):
            if row is not None:
                batch = jax.tree.map(lambda leaf: leaf.at[0].set(row) if leaf.dtype == jnp.float32 else leaf, batch)
            return size_of(clipped(model, batch, mask=FIRST, bound=0.01, **way(how)).total)

    for name, row in ROWS.items():
        assert length(batch, row) <= 0.01, name
    for seed in range(3 if model is clip_models.convolutions else 20):
        rng = np.random.default_rng(seed)
        size = 10 ** rng.uniform(-6, 6)
        rows = jax.tree.map(lambda leaf, size=size: leaf * size if leaf.dtype == jnp.float32 else leaf, batch)
        assert length(rows) <= 0.01, size


def _steep():
    """A loss with slopes so steep that inputs whose squares vanish still have long gradients."""
    params = {"w": jnp.full((50, 40), 1.0, jnp.float32)}
    return lambda p, x: (x @ p["w"]).sum(axis=-1) * 1e18, params, jnp.ones((3, 50))


@pytest.mark.parametrize(
    ("how", "model"), [*((how, clip_models.mlp) for how in HOW), ("auto", clip_models.convolutions)]
)
def test_what_is_no_number_adds_nothing(how, model):
    _, _, (x, y) = model()
    mask = jnp.ones(clip_models.EXAMPLES)

    def sums(x, mask):
        return jax.tree.leaves(clipped(model, (x, y), mask=mask, **way(how)).total)

    whole, without = sums(x, mask), sums(x, mask.at[4].set(0))
    for poison in (np.nan, np.inf, 3e38):
        made = sums(x.at[4].set(poison), mask)
        assert all(np.isfinite(leaf).all() for leaf in made)
        if np.isnan(poison):
            assert all(np.array_equal(leaf, other) for leaf, other in zip(made, without, strict=True))
            assert not all(np.array_equal(leaf, other) for leaf, other in zip(made, whole, strict=True))
    padded = sums(x.at[4].set(np.nan), mask.at[4].set(0))
    assert all(np.array_equal(leaf, other) for leaf, other in zip(padded, without, strict=True))


def test_bad_input_is_named():
    losses, params, batch = clip_models.mlp()
    mask = jnp.ones(clip_models.EXAMPLES)
    for field, change in {
        "how": {"how": "fast"},
        "bound": {"bound": 0.0},
        "copies": {"copies": 0},
        "microbatch": {"microbatch": 0},
        "operands": {"operands": "int8"},
        "batch": {"mask": jnp.ones(5)},
    }.items():
        with pytest.raises(InputError) as caught:
            clipped_sum(losses, params, batch, **{"mask": mask, "bound": 1.0, **change})
        assert caught.value.field == field
    for how in HOW:
        with pytest.raises(InputError, match="one number for each row"):
            clipped_sum(lambda p, b: losses(p, b).mean(), params, batch, mask=mask, bound=1.0, how=how)
    with pytest.raises(InputError, match="Split functions off"):
        clipped_sum(losses, {"f": jnp.tanh}, batch, mask=mask, bound=1.0)
