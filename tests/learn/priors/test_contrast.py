"""The contrastive loss is small where partners are alike, and a net learns to make it smaller."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")
pytest.importorskip("optax")

import jax
import jax.numpy as jnp
import numpy as np

from discreet.learn.nets import Net
from discreet.learn.priors.contrast import contrastive_loss, features_of, learn_to_see


def test_the_loss_is_least_where_partners_are_alike():
    rows = jax.random.normal(jax.random.key(0), (8, 16))
    paired = jnp.concatenate([rows, rows])
    mixed = jnp.concatenate([rows, jnp.roll(rows, 1, axis=0)])
    assert contrastive_loss(paired) < contrastive_loss(mixed)
    assert float(contrastive_loss(paired)) >= 0


def test_rows_of_one_kind_cannot_be_told_apart():
    same = jnp.ones((6, 4))
    assert float(contrastive_loss(same)) == pytest.approx(np.log(5), rel=1e-5)


def small_net():
    """A net with a body and a head that sees the mean colour; test_prior.py trains a residual one."""

    def init(key):
        body = {"colours": jax.random.normal(key, (3, 8)), "norm": {"scale": jnp.ones(8)}}
        return {**body, "head": {"weights": jnp.zeros((8, 2)), "bias": jnp.zeros(2)}}

    def apply(params, x):
        seen = jax.nn.relu(x.mean(axis=(1, 2)) @ params["colours"]) * params["norm"]["scale"]
        return seen @ params["head"]["weights"] + params["head"]["bias"]

    return Net(init, apply)


def grey_twice(key, scenes):
    """Scenes of one colour each, taken twice: to draw the real ones takes far longer than to learn from them."""
    colours = jax.random.uniform(key, (scenes, 1, 1, 3)) * jnp.ones((1, 4, 4, 1))
    return colours, colours * 0.9


def test_a_net_learns_and_the_same_seed_learns_the_same(monkeypatch):
    monkeypatch.setattr("discreet.learn.priors.contrast.taken_twice", grey_twice)
    monkeypatch.setattr("discreet.learn.priors.contrast.view", lambda key, pictures: pictures)
    net = small_net()
    heard = []
    body = learn_to_see(net, steps=4, batch=16, seed=3, after=lambda step, loss: heard.append((step, loss)))
    again = learn_to_see(net, steps=4, batch=16, seed=3)
    assert [step for step, _ in heard] == [1, 2, 3, 4]
    assert "head" not in body
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), body, again))
    first = {name: part for name, part in net.init(jax.random.key(3)).items() if name != "head"}
    assert not jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), body, first))
    assert features_of(net, body, jnp.zeros((2, 4, 4, 3))).shape == (2, 8)
