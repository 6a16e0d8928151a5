"""Clipped sums: all ways agree, nothing is longer than the bound, nothing that is no number gets in."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import json
import os
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import clip_models
import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.learn.clip import HOW, clipped_sum, explain, norms, slack
from discreet.learn.clip import groups as grouping

EVERY = tuple([1] * 12)
SOME = (1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1)
QUICK = {"xla_backend_optimization_level": 0}  # compiling is nearly all that these tests do


def compiled(function, *given):
    return jax.jit(function).lower(*given).compile(compiler_options=QUICK)


@cache
def reference(model, mask=EVERY, copies=1, bound=0.5):
    """Written out, in 64 bits outside JAX: gradients of one example at a time, clipped and added up."""
    losses, params, batch = model()
    leaves, shape = jax.tree.flatten(params)
    real = [place for place, leaf in enumerate(leaves) if jnp.issubdtype(leaf.dtype, jnp.floating)]

    def mean(chosen, row):
        whole = list(leaves)
        for place, leaf in zip(real, chosen, strict=True):
            whole[place] = leaf
        return losses(jax.tree.unflatten(shape, whole), row).mean()

    chosen = [leaves[place] for place in real]
    rows = [
        jax.tree.map(lambda leaf, at=at: leaf[at : at + copies], batch) for at in range(0, len(mask) * copies, copies)
    ]
    slope = compiled(jax.grad(mean), chosen, rows[0])
    total, lengths = [np.zeros(leaf.shape) for leaf in leaves], []
    for row, counted in zip(rows, mask, strict=True):
        each = [np.asarray(g, np.float64) for g in slope(chosen, row)]
        lengths.append(np.sqrt(sum((g**2).sum() for g in each)))
        for place, gradient in zip(real, each, strict=True):
            total[place] += counted * min(1, bound / max(lengths[-1], 1e-30)) * gradient
    return total, np.array(lengths)


def far(made, wanted):
    """The distance of two lists of arrays, relative to the second."""
    made = [np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(made)]
    wanted = jax.tree.leaves(wanted)
    gap = sum(((a - b) ** 2).sum() for a, b in zip(made, wanted, strict=True))
    return float(np.sqrt(gap / sum((b**2).sum() for b in wanted)))


def run(losses, params, batch, mask=EVERY, bound=0.5, **how):
    given = params, batch, jnp.asarray(mask)
    return compiled(lambda p, b, m: clipped_sum(losses, p, b, mask=m, bound=bound, **how), *given)(*given)


@pytest.mark.parametrize(
    ("how", "model"),
    [
        *(("auto", model) for model in clip_models.PLAIN),
        *(("ghost", model) for model in (clip_models.convolutions, clip_models.attention, clip_models.unrolled)),
        *(("vmap", model) for model in (clip_models.mlp, clip_models.recurrent)),
        *(("microbatch", model) for model in (clip_models.mlp, clip_models.convolutions)),
    ],
)
def test_all_ways_give_the_reference(how, model):
    losses, params, batch = model()
    made = run(losses, params, batch, SOME, how=how, microbatch=5 if how == "microbatch" else None)
    total, lengths = reference(model, SOME)
    np.testing.assert_allclose(made.norms, lengths, rtol=2e-5)
    assert far(made.total, total) < slack(params) + (2e-4 if how == "ghost" else 2e-5)
    # A loss is a difference of numbers near one: the last bits of those are 1e-7, whatever is left of it.
    np.testing.assert_allclose(made.losses, losses(params, batch), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("model", [clip_models.convolutions, clip_models.attention])
@pytest.mark.parametrize(("keep", "pairs", "gap"), [(True, 1e30, 2e-5), (False, 1e30, 1e-3), (None, 0, 5e-3)])
def test_every_way_of_a_site_gives_the_same(model, keep, pairs, gap, monkeypatch):
    """Kept products, products made again, and Gram forms; the last two allow for rounding, so they add a little less.

    Three copies of an example are averaged before it is clipped.
    """
    monkeypatch.setattr(grouping, "_gram_cost", lambda site: pairs)
    losses, params, batch = model()
    assert {True: "direct", False: "again", None: "gram"}[keep] in explain(losses, params, batch, keep=keep)
    made = run(losses, params, batch, (1, 1, 0, 1), copies=3, keep=keep)
    total, lengths = reference(model, (1, 1, 0, 1), copies=3)
    assert made.norms.shape == made.losses.shape == (4,)
    np.testing.assert_allclose(made.norms, lengths, rtol=5e-5)
    assert far(made.total, total) < slack(params) + gap


@pytest.mark.parametrize("how", HOW)
def test_copies_are_averaged_before_clipping(how):
    losses, params, batch = clip_models.mlp()
    made = run(losses, params, batch, (1, 0, 1, 1), how=how, copies=3, microbatch=3 if how == "microbatch" else None)
    total, lengths = reference(clip_models.mlp, (1, 0, 1, 1), copies=3)
    np.testing.assert_allclose(made.norms, lengths, rtol=2e-5)
    assert far(made.total, total) < slack(params) + 2e-5


@settings(deadline=None, max_examples=8)
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


ROWS = {
    "zeros": 0.0,
    "huge": 1e30,
    "infinite": np.inf,
    "no number": np.nan,
    "vanishing": 1e-30,
    "squares vanish": 1e-21,
    "large": 1e8,
}


def contribution(model, row=None, **how):
    """How long what one example adds is, alone in its batch."""
    losses, params, batch = model
    return adder(losses, params, **how)(batch, row)


def adder(losses, params, **how):
    """`contribution`, compiled once for many rows."""
    known = []

    def length(batch, row=None):
        lone = jax.tree.map(lambda leaf: leaf[:1], batch)
        if not known:
            known.append(compiled(lambda p, b: clipped_sum(losses, p, b, mask=jnp.ones(1), **how).total, params, lone))
        (step,) = known
        if row is not None:
            lone = jax.tree.map(lambda leaf: jnp.full_like(leaf, row) if leaf.dtype == jnp.float32 else leaf, lone)
        leaves = [np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(step(params, lone))]
        return float(np.sqrt(sum((leaf**2).sum() for leaf in leaves)))

    return length


@pytest.mark.parametrize(
    ("how", "model"),
    [
        ("auto", "mlp"),
        ("ghost", "mlp"),
        ("vmap", "mlp"),
        ("auto", "convolutions"),
        ("auto", "steep"),
        ("ghost", "steep"),
    ],
)
def test_no_row_adds_more_than_the_bound(how, model):
    losses, params, batch = _steep() if model == "steep" else getattr(clip_models, model)()
    length = adder(losses, params, how=how, bound=0.01)
    for name, row in ROWS.items():
        assert length(batch, row) <= 0.01, name
    for seed in range(20 if model == "mlp" else 3):
        rng = np.random.default_rng(seed)
        size = 10 ** rng.uniform(-6, 6)
        rows = jax.tree.map(lambda leaf, size=size: leaf * size if leaf.dtype == jnp.float32 else leaf, batch)
        assert length(rows) <= 0.01, size


def _steep():
    """A loss with slopes so steep that inputs whose squares vanish still have long gradients."""
    params = {"w": jnp.full((50, 40), 1.0, jnp.float32)}
    return lambda p, x: (x @ p["w"]).sum(axis=-1) * 1e18, params, jnp.ones((3, 50))


def test_the_bound_is_caught_when_norms_come_out_short(monkeypatch):
    """The twin: with norms a thousandth short the same check must fail."""
    true = norms.square_sum
    monkeypatch.setattr(norms, "square_sum", lambda array: 0.998 * true(array))
    assert contribution(clip_models.mlp(), how="vmap", bound=0.01) > 0.01


@pytest.mark.parametrize(
    ("how", "model"), [*((how, clip_models.mlp) for how in HOW), ("auto", clip_models.convolutions)]
)
def test_what_is_no_number_adds_nothing(how, model):
    losses, params, (x, y) = model()
    mask = jnp.ones(clip_models.EXAMPLES)
    step = compiled(lambda p, b, m: clipped_sum(losses, p, b, mask=m, bound=0.5, how=how).total, params, (x, y), mask)
    whole = jax.tree.leaves(step(params, (x, y), mask))
    without = jax.tree.leaves(step(params, (x, y), mask.at[4].set(0)))
    for poison in (np.nan, np.inf, 3e38):
        made = jax.tree.leaves(step(params, (x.at[4].set(poison), y), mask))
        assert all(np.isfinite(leaf).all() for leaf in made)
        if np.isnan(poison):
            assert all(np.array_equal(leaf, other) for leaf, other in zip(made, without, strict=True))
            assert not all(np.array_equal(leaf, other) for leaf, other in zip(made, whole, strict=True))
    padded = jax.tree.leaves(step(params, (x.at[4].set(np.nan), y), mask.at[4].set(0)))
    assert all(np.array_equal(leaf, other) for leaf, other in zip(padded, without, strict=True))


def test_a_sum_that_multiplies_instead_of_leaving_out_is_caught(monkeypatch):
    """The twin: zero times NaN is NaN, and the check above sees it."""
    monkeypatch.setattr(norms, "only", lambda counts, array: array)
    losses, params, batch = clip_models.mlp()
    made = run(losses, params, (batch[0].at[4].set(np.nan), batch[1]))
    assert any(np.isnan(leaf).any() for leaf in jax.tree.leaves(made.total))


def test_rounded_factors_stay_close_and_within_the_bound():
    losses, params, batch = clip_models.convolutions()
    total, _ = reference(clip_models.convolutions, SOME)
    made = run(losses, params, batch, SOME, operands="bfloat16", keep=True)
    assert 1e-5 < far(made.total, total) < 0.01
    for keep in (True, False):
        assert contribution((losses, params, batch), bound=0.01, operands="bfloat16", keep=keep) <= 0.01


MANY = 4128  # a sum of so many ones has steps of 32 in bfloat16, of 4 in float16


def widest_step(kind, how, model):
    """How far one more example of many alike moves the sum, at most; each adds a gradient of length one."""

    def losses(params, batch):
        weight = params["w"].astype(kind)
        if model == "made":  # the weight is computed from the parameter, not just moved about
            weight = weight * jnp.ones(2, kind) - weight[::-1]
        if model == "looked up":
            return weight.reshape(2, 1)[batch[1]][:, 0].astype(jnp.float32)
        made = batch[0].astype(kind) @ weight.reshape(2, 1)
        return made[:, 0] + params["b"].astype(kind) * 0

    params = {"w": jnp.zeros(2, kind if model == "low" else "float32"), "b": jnp.zeros((), kind)}
    batch = jnp.tile(jnp.array([1.0, 0.0]), (MANY, 1)), jnp.zeros(MANY, jnp.int32)
    step = compiled(lambda m: clipped_sum(losses, params, batch, mask=m, bound=1.0, how=how).total["w"], jnp.ones(MANY))
    sums = [np.asarray(step(jnp.ones(MANY).at[:gone].set(0)), np.float64) for gone in range(34)]
    return max(float(np.linalg.norm(one - other)) for one, other in pairwise(sums))


@pytest.mark.parametrize(
    ("kind", "how", "model"),
    [
        *(("bfloat16", how, model) for how in HOW for model in ("low", "cast")),
        *(("bfloat16", how, model) for how in ("auto", "ghost") for model in ("made", "looked up")),
        ("float16", "auto", "low"),
    ],
)
def test_sums_are_not_made_in_few_bits(kind, how, model):
    assert widest_step(kind, how, model) <= 1 + 1e-3


@pytest.mark.parametrize("how", HOW)
def test_sums_in_few_bits_are_caught(how, monkeypatch):
    """The twin: sums in the type of the parameters move by many times the bound."""
    monkeypatch.setattr(norms, "wide", lambda kind: kind)
    assert widest_step("bfloat16", how, "low") > 10


def test_kernels_of_a_convolution_in_few_bits_have_sums_in_32():
    params = {"w": clip_models.normal(clip_models.chance(), 3, 2, 8)}
    batch = clip_models.normal(clip_models.chance(), 4, 9, 2)

    def losses(params, x):
        low = x.astype(jnp.bfloat16), params["w"].astype(jnp.bfloat16)
        made = jax.lax.conv_general_dilated(*low, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
        return jnp.tanh(made.astype(jnp.float32)).sum(axis=(1, 2))

    for how in ("auto", "ghost"):
        total = run(losses, params, batch, np.ones(4), how=how).total["w"]
        assert total.dtype == jnp.float32
        assert (total.astype(jnp.bfloat16).astype(jnp.float32) != total).mean() > 0.9


def test_explain_says_where_and_how():
    text = explain(*clip_models.attention())
    assert "['table'] [11x8] lookup 11x8 at 6 places, dense 8x11 at 6 places: sum" in text
    assert "['positions'] [6x8] other uses: copy" in text
    assert "in 2 blocks" not in text
    text = explain(*clip_models.recurrent())
    assert "['unused'] [2] unused: none" in text
    assert "['state'] [6x6] other uses: copy" in text
    assert "['mid'] [6x6] dense 6x6 at 1 place: product" in text


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


SPREAD = """
import sys; sys.path.insert(0, sys.argv[1])
import json, jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
import clip_models
from discreet.learn.clip import clipped_sum
devices = Mesh(np.array(jax.devices()), ("examples",))
spread = NamedSharding(devices, PartitionSpec("examples"))
gaps = {}
for model, how, mesh in (
    (clip_models.mlp, "auto", devices),
    (clip_models.mlp, "auto", None),
    (clip_models.mlp, "ghost", devices),
    (clip_models.convolutions, "auto", None),
    (clip_models.convolutions, "vmap", devices),
):
    losses, params, batch = model()
    def step(mesh):
        return jax.jit(lambda p, b, m: clipped_sum(losses, p, b, mask=m, bound=0.5, how=how, mesh=mesh))
    mask = jnp.ones(12)
    alone = jax.tree.leaves(step(None)(params, batch, mask))
    together = jax.tree.leaves(step(mesh)(params, jax.device_put(batch, spread), jax.device_put(mask, spread)))
    gap = max(float(np.abs(np.asarray(a) - np.asarray(b)).max()) for a, b in zip(alone, together))
    gaps[f"{model.__name__}, {how}, {'own programs' if mesh else 'sharded'}"] = gap
print(json.dumps([len(jax.devices()), gaps]))
"""


def test_a_batch_spread_over_devices_gives_the_same_sum():
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=4"
    made = subprocess.run(
        [sys.executable, "-c", SPREAD, str(Path(clip_models.__file__).parent)],
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    devices, gaps = json.loads(made.strip().splitlines()[-1])
    assert devices == 4
    assert all(gap < 2e-5 for gap in gaps.values()), gaps


def test_a_mesh_must_fit():
    losses, params, batch = clip_models.mlp()
    two = jax.sharding.Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("a", "b"))
    with pytest.raises(InputError, match="one axis"):
        clipped_sum(losses, params, batch, mask=jnp.ones(12), bound=1.0, mesh=two)
