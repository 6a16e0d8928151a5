"""Models of flax, equinox and haiku are clipped as they are."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np
from clip_models import EXAMPLES, chance, cross_entropy, images

from discreet.errors import InputError
from discreet.learn.clip import clipped_sum, explain, refuse_mixing


def agree(losses, params, batch):
    """`auto` against `vmap`; and the text that says how."""
    assert refuse_mixing(losses, params, batch) == ()
    made = {}
    for how in ("auto", "vmap"):

        def step(params, batch, mask, how=how):
            return clipped_sum(losses, params, batch, mask=mask, bound=0.3, how=how)

        given = params, batch, jnp.ones(EXAMPLES)
        quick = {"xla_backend_optimization_level": 0}
        made[how] = jax.jit(step).lower(*given).compile(compiler_options=quick)(*given)
    np.testing.assert_allclose(made["auto"].norms, made["vmap"].norms, rtol=3e-5)
    for leaf, other in zip(*(jax.tree.leaves(one.total) for one in made.values()), strict=True):
        np.testing.assert_allclose(leaf, other, rtol=1e-3, atol=2e-5)
    return explain(losses, params, batch)


def test_flax():
    linen = pytest.importorskip("flax.linen")

    class Net(linen.Module):
        @linen.compact
        def __call__(self, x):
            x = linen.relu(linen.GroupNorm(num_groups=2)(linen.Conv(4, (3, 3), strides=2)(x)))
            x = linen.relu(linen.LayerNorm()(linen.Conv(6, (3, 3), feature_group_count=2)(x)))
            return linen.Dense(3)(x.reshape(x.shape[0], -1))

    net, batch = Net(), images(chance())
    params = net.init(jax.random.key(0), batch[0][:1])
    text = agree(lambda p, b: cross_entropy(net.apply(p, b[0]), b[1]), params, batch)
    assert text.count("convolution") == 2
    assert text.count("product") >= 1


def test_batch_norm_is_refused():
    linen = pytest.importorskip("flax.linen")
    net = linen.BatchNorm(use_running_average=False)
    batch = images(chance())
    params = net.init(jax.random.key(0), batch[0])

    def losses(params, batch):
        made, _ = net.apply(params, batch[0], mutable=["batch_stats"])
        return made.sum(axis=(1, 2, 3))

    with pytest.raises(InputError, match="depends on that example alone"):
        refuse_mixing(losses, params, batch)


def test_equinox():
    equinox = pytest.importorskip("equinox")
    keys = jax.random.split(jax.random.key(1), 3)
    net = equinox.nn.Sequential(
        [
            equinox.nn.Conv2d(3, 4, 3, stride=2, key=keys[0]),
            equinox.nn.GroupNorm(2, 4),
            equinox.nn.Lambda(jax.nn.relu),
            equinox.nn.Lambda(jnp.ravel),
            equinox.nn.Linear(4 * 3 * 3, 3, key=keys[1]),
        ]
    )
    x, y = images(chance())
    batch = jnp.moveaxis(x, 3, 1), y
    params, rest = equinox.partition(net, equinox.is_inexact_array)

    def losses(params, batch):
        return cross_entropy(jax.vmap(equinox.combine(params, rest))(batch[0]), batch[1])

    text = agree(losses, params, batch)
    assert "convolution 27x4" in text
    assert "dense 36x3 at 1 place: product" in text


def test_haiku():
    haiku = pytest.importorskip("haiku")

    def forward(x):
        x = jax.nn.relu(haiku.Conv2D(4, 3, stride=2)(x))
        x = haiku.LayerNorm(-1, create_scale=True, create_offset=True)(x)
        return haiku.Linear(3)(haiku.Flatten()(x))

    net = haiku.without_apply_rng(haiku.transform(forward))
    batch = images(chance())
    params = net.init(jax.random.key(2), batch[0][:1])
    text = agree(lambda p, b: cross_entropy(net.apply(p, b[0]), b[1]), params, batch)
    assert "convolution 27x4" in text
