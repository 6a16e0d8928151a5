"""Norms of every kind of model, however they are found, are those that vmap finds; forgotten cross terms are seen."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import clip_models
import numpy as np
from clip_models import worst_norm

from discreet.learn.clip import passes
from discreet.learn.clip.norms import Measured
from discreet.learn.clip.sites import Site

MODELS = [*clip_models.PLAIN, *clip_models.NESTED]


@pytest.mark.parametrize("model", MODELS)
def test_norms_are_those_of_vmap(model):
    assert worst_norm(model) < 1e-6


@pytest.mark.parametrize("model", [clip_models.mlp, clip_models.attention, clip_models.stacked])
def test_norms_taken_in_passing_are_those_of_vmap(model):
    assert worst_norm(model, "checkpoint") < 1e-6


def test_few_bits_round_norms_as_vmap_does():
    losses, params, batch = clip_models.halved()
    made, plain = (clip_models.run(losses, params, batch, how=how).norms for how in ("auto", "vmap"))
    np.testing.assert_allclose(made, plain, rtol=0.02)


@pytest.mark.parametrize("model", [clip_models.attention, clip_models.unrolled, clip_models.packed])
def test_a_norm_that_forgets_the_cross_term_of_two_uses_is_caught(model, monkeypatch):
    """The twin: uses of one weight measured apart."""
    monkeypatch.setattr(Site, "meets", lambda site, other: False)
    assert worst_norm(model) > 1e-3


@pytest.mark.parametrize("model", [clip_models.lstm, clip_models.looped])
def test_a_norm_that_forgets_the_cross_terms_of_turns_is_caught(model, monkeypatch):
    """The twin: turns of a scan that share a weight measured one by one."""
    true = passes.measure

    def forgetful(way, sites, given, pulled, kernel, operands):
        (site,) = sites
        if not site.scans:
            return true(way, sites, given, pulled, kernel, operands)
        turns = [array.reshape(array.shape[0], -1, *array.shape[1 + len(site.scans) :]) for array in (*given, *pulled)]
        square = 0
        for turn in range(turns[0].shape[1]):
            a, e = (array[:, turn] for array in turns)
            square = square + true("again", [site.turn], [a], [e], kernel, operands).square
        return Measured(square)

    monkeypatch.setattr(passes, "measure", forgetful)
    assert worst_norm(model) > 1e-3
