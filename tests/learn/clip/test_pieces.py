"""Gradients of single sites: pieces times cotangents are what JAX says the gradient of each example is."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from discreet.learn.clip.flat import trace
from discreet.learn.clip.pieces import (
    add_rows,
    assemble,
    coarse,
    cotangent,
    pairs,
    pieces,
    product,
    pulled_pairs,
    row_gradients,
    weighted,
)
from discreet.learn.clip.sites import find_sites

EXAMPLES = 5


def dense(w, x):
    return jnp.einsum("ntk,kp->ntp", x, w)


def convolution(w, x):
    sides = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(
        x, w, (2, 1), ((1, 0), (0, 1)), rhs_dilation=(1, 2), feature_group_count=2, dimension_numbers=sides
    )


SITES = {"dense": (dense, (4, 3), (6, 4)), "convolution": (convolution, (2, 2, 2, 6), (5, 6, 4))}


@pytest.fixture(params=SITES)
def case(request):
    """A site, its weight, its input and a cotangent of its output, and the gradient of each example by `jax.vjp`."""
    apply, weight, row = SITES[request.param]
    chance = np.random.default_rng(4)
    w, x = (jnp.asarray(chance.normal(size=size), jnp.float32) for size in (weight, (EXAMPLES, 1, *row)))
    flat, _ = trace(lambda p, b: apply(p, b).reshape(b.shape[0], -1).sum(axis=1), w, x[:, 0], copies=1)
    ((site,), _) = find_sites(flat)
    pulled = jnp.asarray(chance.normal(size=jax.eval_shape(jax.vmap(apply, (None, 0)), w, x).shape), jnp.float32)
    each = [jax.vjp(lambda w, one=one: apply(w, one), w)[1](back)[0] for one, back in zip(x, pulled, strict=True)]
    return site, w.shape, x, pulled, np.stack(each)


def test_products_of_pieces_are_the_gradient_of_each_example(case):
    site, kernel, x, pulled, each = case
    parts = [product(part, cotangent(site, pulled), None) for part in pieces(site, x, kernel)]
    made = np.stack([assemble(site, [part[place] for part in parts], kernel) for place in range(EXAMPLES)])
    assert np.allclose(made, each, atol=1e-4)


def test_inner_products_of_pairs_give_the_same_norms(case):
    site, kernel, x, pulled, each = case
    square = (pairs(site, x, kernel) * pulled_pairs(site, pulled)).sum(axis=(1, 2, 3))
    assert np.allclose(square, (each**2).reshape(EXAMPLES, -1).sum(axis=1), rtol=1e-4)


def test_a_weighted_sum_is_the_sum_of_weighted_gradients(case):
    site, kernel, x, pulled, each = case
    factor = np.arange(EXAMPLES, dtype=np.float32)
    scaled = pulled * factor.reshape(-1, *[1] * (pulled.ndim - 1))
    assert np.allclose(weighted(site, x, scaled, kernel), np.tensordot(factor, each, axes=1), atol=1e-4)


def test_rows_that_are_looked_up_twice_are_added_up_before_they_count():
    table = jnp.ones((6, 2))
    places = jnp.array([[1, 1, 4], [0, 5, 9]])  # 9 is not in the table
    flat, _ = trace(lambda p, i: p.at[i].get(mode="fill", fill_value=0).sum(axis=(1, 2)), table, places, copies=1)
    ((site,), _) = find_sites(flat)
    pulled = jnp.asarray(np.random.default_rng(5).normal(size=(2, 3, 2)), jnp.float32)
    where, what = row_gradients(site, places, pulled)
    each = np.zeros((2, 6, 2))
    for example, row in enumerate(places):
        for at, place in enumerate(row):
            if place < 6:
                each[example, place] += pulled[example, at]
    assert np.allclose((what**2).sum(axis=(1, 2)), (each**2).sum(axis=(1, 2)), rtol=1e-5)
    assert np.allclose(add_rows(site, where, what, (6, 2)), each.sum(axis=0), atol=1e-6)


def test_rounded_operands_stay_rounded_in_products():
    array = jnp.asarray(np.random.default_rng(6).normal(size=(3, 1, 2, 4)), jnp.float32)
    low = coarse(array, jnp.bfloat16)
    assert low.dtype == jnp.bfloat16
    assert np.array_equal(coarse(low, jnp.bfloat16), low)
    assert product(array, array, None).dtype == jnp.float32
