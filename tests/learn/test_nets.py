"""Nets: no example sees another, sizes as published, and looks at an image that are that image's."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np

from discreet.errors import InputError
from discreet.learn.nets import (
    convolutional,
    dense,
    flipped_and_shifted,
    wide_residual,
)


def disturbed(params):
    """Other parameters than the first, which are zero where that hides things."""
    leaves, shape = jax.tree.flatten(params)
    keys = jax.random.split(jax.random.key(9), len(leaves))
    return jax.tree.unflatten(
        shape, [leaf + 0.1 * jax.random.normal(key, leaf.shape) for key, leaf in zip(keys, leaves, strict=True)]
    )


@pytest.mark.parametrize(
    ("net", "shape"),
    [
        (dense((6, 5, 3)), (6,)),
        (convolutional((8, 8, 2), 3, filters=(4, 4), kernel=3, hidden=5), (8, 8, 2)),
        (wide_residual(10, 1, classes=3, groups=4), (8, 8, 3)),
        (wide_residual(10, 1, classes=3, groups=4, standardise=True), (8, 8, 3)),
    ],
)
def test_no_example_sees_another(net, shape):
    params = disturbed(net.init(jax.random.key(0)))
    x = jax.random.normal(jax.random.key(1), (3, *shape))
    apply = jax.jit(net.apply)
    together = apply(params, x)
    assert together.shape == (3, 3)
    alone = apply(params, jnp.stack([x[1], 7 * x[0], -x[2]]))[0]
    np.testing.assert_allclose(together[1], alone, rtol=2e-3, atol=2e-4)
    assert np.abs(together[0] - together[1]).max() > 1e-3


def test_the_wide_net_has_its_published_size():
    net = wide_residual(16, 4)
    shapes = jax.eval_shape(net.init, jax.random.key(0))
    assert 2.74e6 < sum(leaf.size for leaf in jax.tree.leaves(shapes)) < 2.76e6
    out = jax.eval_shape(net.apply, shapes, jax.ShapeDtypeStruct((2, 32, 32, 3), jnp.float32))
    assert out.shape == (2, 10)


def test_standardised_filters_do_not_care_how_long_they_are():
    net = wide_residual(10, 1, classes=3, groups=4, standardise=True)
    params = disturbed(net.init(jax.random.key(0)))
    longer = {**params, "stem": {**params["stem"], "weights": 3 * params["stem"]["weights"]}}
    x = jax.random.normal(jax.random.key(1), (2, 8, 8, 3))
    np.testing.assert_allclose(net.apply(params, x), net.apply(longer, x), rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: wide_residual(15, 4), "depth"),
        (lambda: wide_residual(16, 0), "width"),
        (lambda: wide_residual(16, 4, groups=3), "groups"),
        (lambda: dense((5,)), "sizes"),
        (lambda: convolutional((2, 8, 3), 10), "shape"),
        (lambda: flipped_and_shifted(jax.random.key(0), jnp.zeros((1, 8, 8, 3)), 0), "copies"),
    ],
)
def test_bad_sizes_are_refused(make, field):
    with pytest.raises(InputError, match=field):
        make()


def test_copies_stand_side_by_side_and_are_of_their_own_image():
    x = jnp.arange(1, 4.0)[:, None, None, None] * jnp.ones((3, 8, 8, 1))
    made = flipped_and_shifted(jax.random.key(2), x, 4, shift=2)
    assert made.shape == (12, 8, 8, 1)
    np.testing.assert_array_equal(made[:, 0, 0, 0], np.repeat([1, 2, 3], 4))


def test_looks_are_flips_and_shifts():
    x = jnp.arange(64.0).reshape(1, 8, 8, 1)
    made = np.asarray(flipped_and_shifted(jax.random.key(3), x, 64, shift=0))[..., 0]
    plain, mirrored = np.asarray(x)[0, ..., 0], np.asarray(x)[0, :, ::-1, 0]
    kinds = [np.array_equal(one, plain) + 2 * np.array_equal(one, mirrored) for one in made]
    assert set(kinds) == {1, 2}
    moved = np.asarray(flipped_and_shifted(jax.random.key(4), x, 64, shift=2))[..., 0]
    inner = {int(one[4, 4]) for one in moved}
    assert len(inner) > 10
