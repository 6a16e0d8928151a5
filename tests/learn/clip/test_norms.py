"""Norms that are never too small, sums that are never made in few bits; and twins in which they are."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import clip_models
import jax
import numpy as np
from clip_models import contribution, run, widest_step

from discreet.learn.clip import HOW, norms


def test_the_bound_is_caught_when_norms_come_out_short(monkeypatch):
    """The twin: with norms a thousandth short the same check must fail."""
    true = norms.square_sum
    monkeypatch.setattr(norms, "square_sum", lambda array: 0.998 * true(array))
    assert contribution(clip_models.mlp(), how="vmap", bound=0.01) > 0.01


@pytest.mark.parametrize("how", HOW)
def test_a_normalised_gradient_has_the_stated_length_and_is_never_longer_than_the_bound(how):
    losses, params, batch = clip_models.mlp()
    measured = float(run(losses, params, batch, how=how).norms[0])
    for bound in (0.01, 50.0):
        for row in (None, 0.0, 1e30, np.nan):
            length = contribution(clip_models.mlp(), row, how=how, bound=bound, stability=0.25)
            assert length <= bound
        found = contribution(clip_models.mlp(), how=how, bound=bound, stability=0.25)
        assert found == pytest.approx(bound * measured / (measured + 0.25), rel=1e-3)


def test_a_normalised_gradient_whose_norm_comes_out_short_is_caught(monkeypatch):
    """The twin: with norms a thousandth short the same check must fail."""
    true = norms.square_sum
    monkeypatch.setattr(norms, "square_sum", lambda array: 0.998 * true(array))
    assert contribution(clip_models.mlp(), how="vmap", bound=0.01, stability=1e-9) > 0.01


def test_a_sum_that_multiplies_instead_of_leaving_out_is_caught(monkeypatch):
    """The twin: zero times NaN is NaN, and the check above sees it."""
    monkeypatch.setattr(norms, "only", lambda counts, array: array)
    losses, params, batch = clip_models.mlp()
    made = run(losses, params, (batch[0].at[4].set(np.nan), batch[1]))
    assert any(np.isnan(leaf).any() for leaf in jax.tree.leaves(made.total))


@pytest.mark.parametrize(
    ("kind", "how", "model"),
    [
        *(("bfloat16", how, model) for how in (*HOW, "checkpoint") for model in ("low", "cast")),
        *(("bfloat16", how, model) for how in ("auto", "checkpoint") for model in ("made", "looked up")),
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
