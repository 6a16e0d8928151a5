"""Relaxed tables: projections are what they are called, and a fit finds marginals that can be met."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from relaxed_tables import ROWS, SIZES, domain, rows

from discreet.marginals.counts import ArrayCounts
from discreet.noise.replay import Replay, uniforms
from discreet.synth.descent import Target
from discreet.synth.relaxation import PROJECTIONS, RelaxedTable, load
from discreet.synth.tiles import cut


def projected(logits, sizes, projection) -> np.ndarray:
    owner = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return np.asarray(load().project(np.asarray(logits, dtype=np.float32), owner, len(sizes), projection))


def nearest(point: np.ndarray) -> np.ndarray:
    """The nearest point of the simplex, by trying every support."""
    best, found = np.inf, None
    for support in itertools.product((False, True), repeat=len(point)):
        if not any(support):
            continue
        held = np.array(support)
        candidate = np.where(held, point - (point[held].sum() - 1) / held.sum(), 0.0)
        if candidate.min() >= 0 and ((candidate - point) ** 2).sum() < best:
            best, found = ((candidate - point) ** 2).sum(), candidate
    return found


def test_sparsemax_is_the_nearest_point_of_the_simplex():
    sizes = (1, 2, 5, 7)
    chance = np.random.default_rng(3)
    spread = 10.0 ** chance.integers(-2, 2, 40)
    logits = chance.normal(size=(sum(sizes), 40)) * spread
    logits[3:6, :5] = 1.0  # ties
    logits[:, 5] = 0.0
    logits[:, 6] = -1000.0
    logits[8, 7] = 1000.0
    found, start = projected(logits, sizes, "sparsemax"), 0
    for size in sizes:
        block = slice(start, start + size)
        wanted = np.stack([nearest(column) for column in logits[block].T], axis=1)
        assert np.abs(found[block] - wanted).max() < 1e-4
        start += size
    assert (found == 0).any()


def test_softmax_is_softmax():
    logits = np.array([[0.0, 900.0], [1.0, -900.0], [5.0, 5.0]])
    found = projected(logits, (2, 1), "softmax")
    assert found[:, 0] == pytest.approx([1 / (1 + np.e), np.e / (1 + np.e), 1])
    assert found[:, 1] == pytest.approx([1, 0, 1])


def shares(sizes=SIZES, count=ROWS) -> np.ndarray:
    parts = [-np.log(1 - uniforms(Replay(b"shares%d" % size), size * count)).reshape(size, count) for size in sizes]
    return np.concatenate([part / part.sum(axis=0) for part in parts])


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_answers_are_means_of_products(projection):
    marginals = [(0,), (1, 3), (0, 1, 2), (0, 1, 2, 3)]
    start = shares()
    table = RelaxedTable(cut(SIZES, marginals), start, projection)
    assert np.abs(table.shares - start).max() < 1e-5
    blocks = np.split(start, np.cumsum(SIZES)[:-1])
    for columns, answer in zip(marginals, table.answers(), strict=True):
        letters = "abcd"[: len(columns)]
        how = ",".join(f"{letter}r" for letter in letters) + "->" + letters
        assert np.abs(answer - np.einsum(how, *(blocks[column] for column in columns)) / ROWS).max() < 1e-5


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_a_fit_finds_exact_marginals_that_can_be_met(projection):
    marginals = [(0, 1), (1, 2, 3)]
    exact = [ArrayCounts(domain(), rows()).marginal(columns).astype(float) for columns in marginals]
    table = RelaxedTable(cut(SIZES, [*marginals, (0, 2)]), shares(), projection)
    before = table.answers()
    targets = {number: Target(columns, exact[number], np.array(1.0)) for number, columns in enumerate(marginals)}
    left = table.fit(targets, 2000.0, 400, 0.05)
    after = table.answers()
    off = [[np.abs(answers[n] - exact[n] / 2000).sum() for n in (0, 1)] for answers in (before, after)]
    assert max(off[1]) < 0.03 < min(off[0])
    # What it says is left is the mean squared deviation, in variances.
    assert left == pytest.approx(
        sum(((2000 * after[n] - exact[n]) ** 2).sum() for n in (0, 1)) / (exact[0].size + exact[1].size), rel=0.2, abs=1
    )
