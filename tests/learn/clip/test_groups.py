"""Which way a parameter goes: all give the same sums, and `explain` says which."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import clip_models
import jax
import numpy as np
from clip_models import far, reference, run

from discreet.learn.clip import explain, slack
from discreet.learn.clip import groups as grouping
from discreet.learn.clip.flat import trace
from discreet.learn.clip.sites import find_sites


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


@pytest.mark.parametrize("model", [clip_models.stacked, clip_models.packed])
def test_parts_of_a_parameter_that_do_not_meet_are_measured_apart(model):
    flat, _ = trace(*model(), copies=1)
    sites, _ = find_sites(flat)
    for one in grouping.group(flat, sites, examples=12):
        for other in sites:
            if other not in one.sites:
                assert not any(site.meets(other) for site in one.sites)
    shared = [one for one in grouping.group(flat, sites, examples=12) if len(one.sites) > 1]
    assert len(shared) == {"stacked": 0, "packed": 2}[model.__name__]
    assert all(one.way == "sum" for one in shared)


def test_only_what_no_other_turn_or_site_shares_is_measured_in_passing():
    def passing(losses, params, batch, keep=None):
        flat, _ = trace(losses, params, batch, copies=1)
        return sum(one.passing for one in grouping.group(flat, find_sites(flat)[0], 12, keep))

    assert passing(*clip_models.checkpointed()) == 5  # query, key, value, out and the convolution
    assert passing(*clip_models.checkpointed(), keep=True) == passing(*clip_models.stacked()) == 0
    losses, *rest = clip_models.lstm()
    assert passing(jax.checkpoint(losses), *rest) == 1  # the head: all turns share the gates
