"""Clipped gradients on the integers: no example moves a sum by more than the bound, and none depends on another."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

from fractions import Fraction

import jax.numpy as jnp
import numpy as np
from train_steps import recipe

from discreet.learn import lattice
from discreet.learn.clip import norms
from discreet.learn.lattice import LONGEST, lattice_shares, lattice_sigma


def lattice_sum(rows, mask, bound, square=None, stability=None):
    """The sum of rows, in two arrays as if there were two parameters."""
    with np.errstate(over="ignore"):
        rows = np.asarray(rows, np.float32)
    parts = [jnp.asarray(rows[:, :5]), jnp.asarray(rows[:, 5:])]
    sums = lattice.lattice_sum(parts, jnp.asarray(mask, jnp.float32), bound, LONGEST, square, stability)
    return np.concatenate([np.asarray(part) for part in sums]).astype(np.int64)


def nasty(count, width):
    chance = np.random.default_rng(8)
    rows = chance.normal(size=(count, width)) * np.exp(chance.normal(size=(count, 1)) * 30)
    rows[0] = 0
    rows[1, 0] = np.inf
    rows[2, 1] = np.nan
    rows[3] = 1e300
    rows[4] = 5e-324
    rows[5] = -np.inf
    rows[6] = np.finfo(np.float32).max
    rows[7] = 0
    rows[7, 2] = 1.0
    return rows


@pytest.mark.parametrize(("bound", "stability"), [(1e-3, None), (1.0, None), (37.0, None), (1.0, 0.01), (37.0, 1e-30)])
def test_no_row_moves_the_integers_by_more_than_the_bound(bound, stability):
    rows = nasty(60, 33)
    everyone = np.ones(len(rows))
    whole = lattice_sum(rows, everyone, bound, stability=stability)
    for place in range(len(rows)):
        without = everyone.copy()
        without[place] = 0
        moved = whole - lattice_sum(rows, without, bound, stability=stability)
        assert sum(int(step) ** 2 for step in moved) <= LONGEST**2
        assert np.array_equal(moved, lattice_sum(rows, 1 - without, bound, stability=stability))
    longest = lattice_sum(rows[7:8], np.ones(1), 1e-3)
    assert np.sqrt((longest.astype(float) ** 2).sum()) > 0.999 * LONGEST


def test_what_a_row_adds_does_not_depend_on_the_other_rows():
    rows = nasty(60, 33)
    others = np.random.default_rng(2).permutation(60)
    for place in range(60):
        mixed = rows[others].copy()
        mixed[place] = rows[place]
        only = np.arange(60) == place
        assert np.array_equal(lattice_sum(rows, only, 1.0), lattice_sum(mixed, only, 1.0))


@pytest.mark.parametrize(
    ("beside", "more"),
    [(1, {"report_loss": 2}), (1, {"clipping": "adaptive"}), (2, {"report_loss": 2, "clipping": "adaptive"})],
)
def test_gradient_and_what_stands_beside_it_are_together_no_longer_than_the_bound(beside, more):
    gradient, entry = lattice_shares(recipe(**more))
    assert gradient**2 + beside * entry**2 <= LONGEST**2
    assert gradient**2 + beside * entry**2 > 0.999 * LONGEST**2
    assert lattice_shares(recipe()) == lattice_shares(recipe(clipping="normalise")) == (LONGEST, 0)


def test_normalised_rows_have_the_length_that_is_stated():
    rows = nasty(60, 33)[7:]
    rows = rows[(np.linalg.norm(rows, axis=1) > 1e-10) & (np.linalg.norm(rows, axis=1) < 1e15)]
    for row in rows:
        length = np.linalg.norm(row)
        found = np.linalg.norm(lattice_sum(row[None], np.ones(1), 5.0, stability=0.01).astype(float)) / LONGEST
        assert found == pytest.approx(length / (length + 0.01), rel=1e-3, abs=33 / LONGEST)


def test_a_gradient_that_was_not_clipped_would_be_found_out():
    rows = nasty(60, 33)[8:]
    steps = np.rint(rows * LONGEST)
    assert max((row @ row) for row in steps) > LONGEST**2


def test_the_sigma_on_the_integers_makes_room_for_rounding():
    sigma = lattice_sigma(Fraction(11, 10))
    assert (Fraction(11, 10) * LONGEST) ** 2 + 16 <= sigma**2
    # What is left after rounding with a deviation of 4 is at least the noise that is charged for.
    assert sigma**2 - 16 >= (Fraction(11, 10) * LONGEST) ** 2


def test_lengths_are_checked_on_the_integers_whatever_norm_was_said(monkeypatch):
    """A norm that is said too short gives a vector that is left out; the twin, without the check, lets it in."""
    rows = nasty(60, 33)[7:8]
    for said in (1e-20, 0.5, np.nan, np.inf, 0.0):
        assert not lattice_sum(rows, np.ones(1), 1e-3, jnp.full(1, said)).any()
    true = norms.square_sum
    monkeypatch.setattr(norms, "square_sum", lambda array: 0 * true(array))
    assert lattice_sum(rows, np.ones(1), 1e-3, jnp.full(1, 0.5)).max() > LONGEST
