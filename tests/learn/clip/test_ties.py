"""One table looked up and multiplied with: its norm comes from inner products, cross terms included."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import clip_models
import jax.numpy as jnp
import numpy as np
from clip_models import SOME, far, normal, reference, run, worst_norm

from discreet.learn.clip import explain, groups, slack, ties


def both_ways():
    """A table looked up, multiplied with from both sides, and looked up out of bounds."""
    rng = clip_models.chance()
    params = {"table": normal(rng, 9, 5, scale=0.6)}
    batch = jnp.asarray(rng.integers(0, 12, (clip_models.EXAMPLES, 4)))

    def losses(params, batch):
        x = params["table"].at[batch].get(mode="fill", fill_value=0.0)
        y = jnp.tanh(x @ params["table"].T)
        x = x + jnp.tanh(y @ params["table"]) + params["table"].at[batch[:, ::-1]].get(mode="clip")
        return jnp.log(jnp.exp(x).sum(axis=(1, 2)))

    return losses, params, batch


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(groups, "_ties_pay", lambda sites: True)


@pytest.mark.parametrize("model", [clip_models.attention, both_ways])
def test_norms_and_sums_of_tied_uses_are_right(model, always):
    losses, params, batch = model()
    assert "tied" in explain(losses, params, batch)
    assert worst_norm(model) < 1e-6
    made = run(losses, params, batch, SOME)
    total, lengths = reference(model, SOME)
    np.testing.assert_allclose(made.norms, lengths, rtol=2e-5)
    assert far(made.total, total) < slack(params) + 3e-4


@pytest.mark.parametrize("model", [clip_models.attention, both_ways])
def test_tied_uses_without_their_cross_term_are_caught(model, always, monkeypatch):
    """The twin: pairs of places of one use only."""
    monkeypatch.setattr(ties, "combinations_with_replacement", lambda uses, _: [(use, use) for use in uses])
    assert worst_norm(model) > 1e-3


def test_large_tables_are_not_written_out():
    def losses(params, batch):
        return (params["table"][batch] @ params["table"].T).max(axis=2).sum(axis=1)

    assert "tied" in explain(losses, {"table": jnp.zeros((5000, 8))}, jnp.zeros((4, 3), int))
    assert "sum" in explain(losses, {"table": jnp.zeros((20, 8))}, jnp.zeros((4, 3), int))
