"""Which way a parameter goes: all give the same sums, and `explain` says which."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import clip_models
import numpy as np
from clip_models import far, reference, run

from discreet.learn.clip import explain, slack
from discreet.learn.clip import groups as grouping


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


def test_explain_says_where_and_how():
    text = explain(*clip_models.attention())
    assert "['table'] [11x8] lookup 11x8 at 6 places, dense 8x11 at 6 places: sum" in text
    assert "['positions'] [6x8] other uses: copy" in text
    assert "in 2 blocks" not in text
    text = explain(*clip_models.recurrent())
    assert "['unused'] [2] unused: none" in text
    assert "['state'] [6x6] other uses: copy" in text
    assert "['mid'] [6x6] dense 6x6 at 1 place: product" in text
