"""Views of parameters: entries move and keep their values, and which entries are in a view is known."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import clip_models
import jax
import jax.numpy as jnp
import numpy as np

from discreet.learn.clip.flat import trace
from discreet.learn.clip.views import view_of


def views(function, *shapes):
    """The views that a function of parameters multiplies data with."""
    params = [jnp.zeros(shape) for shape in shapes]
    flat, _ = trace(lambda p, x: function(x, *p), params, jnp.ones((3, 4)), copies=1)
    return [view_of(flat, step.inputs[1]) for step in flat.steps if step.name == "dot_general"]


def test_slices_reshapes_and_transposes_are_views_with_their_entries():
    def used(x, w, v):
        left, right = jnp.split(w, 2, axis=1)
        x = x @ left + x @ right.T
        return (x @ -v[1].T[::-1].astype(jnp.float32)).sum(axis=1)

    left, right, third = views(used, (4, 8), (2, 4, 4))
    w, v = jnp.arange(32.0).reshape(4, 8), jnp.arange(32.0).reshape(2, 4, 4)
    assert np.array_equal(left.apply(w), w[:, :4])
    assert np.array_equal(right.apply(w), w[:, 4:].T)
    assert np.array_equal(third.apply(v), -v[1].T[::-1])
    masks = [view.entries(shape) for view, shape in ((left, (4, 8)), (right, (4, 8)), (third, (2, 4, 4)))]
    assert [int(mask.sum()) for mask in masks] == [16, 16, 16]
    assert not (masks[0] & masks[1]).any()
    assert masks[2].tolist() == [False] * 16 + [True] * 16


def test_what_is_computed_or_stretched_is_no_view():
    def used(x, w, v):
        return (x @ jnp.tanh(w) + x @ jnp.broadcast_to(v, (4, 4)) + x @ jnp.concatenate([w[:2], w[2:]])).sum(axis=1)

    assert views(used, (4, 4), (4,)) == [None, None, None]


def test_a_slice_in_a_scan_is_a_view_with_an_axis_of_turns():
    flat, _ = trace(*clip_models.stacked(), copies=1)
    (scan,) = [step for step in flat.steps if step.name == "scan"]
    weights = [step.inputs[1] for step in scan.region.steps if step.name == "dot_general"]
    qkv = jax.random.normal(jax.random.key(0), (3, 4, 12))
    cuts = [view for view in (view_of(flat, value) for value in weights) if view and not view.whole]
    assert len(cuts) == 3
    for view, part in zip(cuts, jnp.split(qkv, 3, axis=2), strict=True):
        assert np.array_equal(view.apply(qkv), part)
    assert {view.stacked for view in cuts} == {frozenset({0})}
    together = sum(view.entries((3, 4, 12)).astype(int) for view in cuts)
    assert (together == 1).all()
