"""Slots: an example is always computed at the same place of a batch, whoever else is in the lot."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import jax.numpy as jnp
import numpy as np
from train_steps import SECRET, examples, recipe, start, step_of

from discreet.learn import step as step_module
from discreet.learn.lattice import LONGEST
from discreet.learn.lot import microbatches
from discreet.learn.slots import arrange, slot_count, slots_of


def test_a_slot_follows_from_the_bits_of_an_example_alone():
    x, y = examples()
    slots = np.asarray(slots_of((x, y), 16))
    turned = np.random.default_rng(2).permutation(200)
    assert np.array_equal(slots[turned], slots_of((x[turned], y[turned]), 16))
    assert np.array_equal(slots[:7], slots_of((x[:7], y[:7]), 16))
    assert np.bincount(slots, minlength=16).min() > 0
    assert not np.array_equal(slots, slots_of((x, y + 1), 16))
    assert len(set(np.asarray(slots_of(jnp.arange(64.0, dtype=jnp.bfloat16)[:, None], 64)).tolist())) > 20
    assert len(set(np.asarray(slots_of(np.arange(64, dtype=np.int8), 64)).tolist())) > 20


def test_every_example_is_in_one_batch_at_its_slot():
    places, slots = np.arange(100, 150), np.random.default_rng(1).integers(0, 8, 50)
    parts = arrange(places, slots, 8)
    assert len(parts) == np.bincount(slots).max()
    seen = {int(part.places[slot]): slot for part in parts for slot in np.flatnonzero(part.mask)}
    assert seen == dict(zip(places.tolist(), slots.tolist(), strict=True))
    assert arrange(places[:0], slots[:0], 8) == []
    assert slot_count(10**9) == 64


def moved(places, missing):
    """What a lot's integers lose with one example, by a step on a machine whose numbers depend on the slot."""
    x, y = examples()
    step, params = step_of(recipe(noise="exact", lot=50, microbatch=64)), start()
    data = step.place((x, y))
    lots = [places, np.delete(places, missing), places[missing : missing + 1]]
    sums = [step.sum_lot(params, data, microbatches(lot, 64), SECRET, 0) for lot in lots]
    return sums[0] - sums[1], sums[2]


def skewed(monkeypatch):
    true = step_module.by_layers

    def by_layers(losses, params, batch, copies=1):
        each, square, values = true(losses, params, batch, copies)
        off = 1 + 1e-4 * jnp.arange(square.shape[0])
        return [leaf * off.reshape(-1, *[1] * (leaf.ndim - 1)) for leaf in each], square * off**2, values

    monkeypatch.setattr(step_module, "by_layers", by_layers)


def test_an_example_takes_with_it_what_it_adds_and_nothing_else(monkeypatch):
    skewed(monkeypatch)
    for missing in (0, 17, 49):
        lost, alone = moved(np.arange(50, 100), missing)
        assert np.array_equal(lost, alone)
        assert sum(int(step) ** 2 for step in lost) <= LONGEST**2


def test_slots_by_order_of_arrival_are_caught(monkeypatch):
    """The twin: with the first example all others move to other slots, and their numbers with them."""
    skewed(monkeypatch)
    monkeypatch.setattr(step_module, "slots_of", lambda batch, count: jnp.arange(batch[0].shape[0]) % count)
    lost, alone = moved(np.arange(50, 100), 0)
    assert not np.array_equal(lost, alone)
