"""A step: sums that do not depend on how a lot is cut, examples that do not see each other, noise also on nothing."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import math

import jax.numpy as jnp
import numpy as np
from train_steps import SECRET, examples, flat, linear, one_by_one, recipe, start, step_of

from discreet.learn import step as step_module
from discreet.learn.lattice import LONGEST
from discreet.learn.lot import capacity, microbatches
from discreet.learn.objective import cross_entropy
from discreet.learn.trainer import losses_of


@pytest.mark.parametrize(
    ("noise", "microbatch", "how"),
    [("device", None, "auto"), ("device", 4, "ghost"), ("device", 4, "vmap"), ("device", 4, "microbatch"),
     ("exact", None, "auto"), ("exact", 4, "auto")],
)  # fmt: skip
def test_a_lot_sums_to_the_same_in_any_parts(noise, microbatch, how):
    x, y = examples()
    one = recipe(microbatch=microbatch, bound=0.5, noise=noise, how=how)
    places = np.array([0, 3, 4, 9, 50, 199])
    step, params = step_of(one), start()
    total = step.sum_lot(params, step.place((x, y)), microbatches(places, capacity(one)), SECRET, 0)
    found = flat(total) if noise == "device" else total * (0.5 / LONGEST)
    # With exact noise gradients are clipped a little shorter, by what rounding may hide.
    assert np.allclose(found, one_by_one(params, x, y, places, 0.5), atol=1e-5 if noise == "device" else 1e-4)


def test_an_empty_lot_still_gets_noise():
    for noise in ("device", "exact"):
        one = recipe(noise=noise)
        step, params = step_of(one), start()
        total = step.sum_lot(params, step.place(examples()), [], SECRET, 0)
        assert not np.any(flat(total))
        noisy = step.add_noise(total, params, SECRET, 0)
        assert np.abs(flat(noisy.gradient)).min() > 0


def centred(key, batch):
    """An augmentation that looks at the whole batch it is shown."""
    x, y = batch
    return x - 1e3 * x.sum(0), y


def moved_by_one_row(noise) -> float:
    """How far one more row moves a sum of clipped gradients under `centred`, as a part of the bound."""
    one = recipe(examples=41, lot=41, noise=noise)
    losses = losses_of(lambda params, x: x @ params, lambda outputs, y: outputs[:, 0] * y)
    step, params = step_of(one, losses, augment=centred), jnp.zeros((1, 1))
    rows, last = np.zeros((40, 1), np.float32), np.ones((1, 1), np.float32)
    sums = []
    for x in (rows, np.concatenate([rows, last])):
        data = x, np.ones(len(x), np.float32)
        step.check(params, data)
        total = step.sum_lot(params, step.place(data), microbatches(np.arange(len(x)), 64), SECRET, 0)
        sums.append(flat(total) if noise == "device" else total / LONGEST)
    return float(np.linalg.norm(sums[1] - sums[0]))


@pytest.mark.parametrize("noise", ["device", "exact"])
def test_augmentation_sees_one_example_at_a_time(noise):
    assert 0.9 < moved_by_one_row(noise) <= 1


def test_augmentation_of_a_whole_batch_is_found_out(monkeypatch):
    """The twin: shown all examples at once, the same augmentation lets one row move those of all others."""
    monkeypatch.setattr(step_module, "augmented", lambda augment, key, batch: augment(key, batch))
    assert moved_by_one_row("device") > 10


def test_sums_of_neighbours_stay_within_the_premise():
    """Every neighbour of a lot, by the device's own sums: the difference is within the bound and its allowance."""
    x, y = examples(120)
    one = recipe(noise="device", microbatch=128, bound=0.5)
    step, params = step_of(one), start()
    everyone = np.arange(120)

    def summed(places):
        total = step.sum_lot(params, step.place((x, y)), microbatches(places, 128), SECRET, 0)
        return flat(total[0]).astype(np.float64)

    whole_lot = summed(everyone)
    moved = [np.linalg.norm(whole_lot - summed(np.delete(everyone, place))) for place in everyone]
    assert max(moved) <= 0.5 * (1 + 1 / 1024)
    assert max(moved) > 0.49


@pytest.mark.parametrize("report_loss", [None, 0.5])
@pytest.mark.parametrize(("clipping", "bound"), [("normalise", None), ("adaptive", 1e-3), ("adaptive", 0.8)])
def test_no_example_moves_what_a_step_sums_by_more_than_the_noise_is_for(clipping, bound, report_loss):
    assert 0.99 < farthest_move(clipping, bound, report_loss) <= 1


def farthest_move(clipping, bound, report_loss) -> float:
    """How far one example moves gradient, loss and count together on the integers, as a part of LONGEST."""
    x, y = examples(60)
    one = recipe(noise="exact", clipping=clipping, report_loss=report_loss)
    step, params = step_of(one), start()
    now = None if bound is None else jnp.float32(bound)

    def summed(places):
        return step.sum_lot(params, step.place((x, y)), microbatches(places, 64), SECRET, 0, now)

    everyone = np.arange(60)
    whole = summed(everyone)
    moved = [whole - summed(np.delete(everyone, place)) for place in everyone]
    return max(math.isqrt(sum(int(entry) ** 2 for entry in row)) for row in moved) / LONGEST


def test_a_count_that_the_noise_was_not_widened_for_is_found_out(monkeypatch):
    """The planted bug: the gradient keeps the whole length, and the count is added beside it."""
    monkeypatch.setattr(step_module, "lattice_shares", lambda recipe: (LONGEST, LONGEST // 8))
    assert farthest_move("adaptive", 1e-3, None) > 1.007


@pytest.mark.parametrize("noise", ["device", "exact"])
def test_the_share_within_an_adaptive_bound_is_counted(noise):
    x, y = examples(200)
    one = recipe(lot=200, noise=noise, clipping="adaptive", report_loss=5, multiplier="1/1000")
    step, params = step_of(one), start()
    lengths = [np.linalg.norm(one_by_one(params, x, y, [place], 1e9)) for place in range(200)]
    for bound in (0.5, float(np.median(lengths)) * 1.0001, 100.0):
        now = jnp.float32(bound)
        total = step.sum_lot(params, step.place((x, y)), microbatches(np.arange(200), 64), SECRET, 0, now)
        noisy = step.add_noise(total, params, SECRET, 0, now)
        assert noisy.within == pytest.approx(np.mean(np.array(lengths) <= bound), abs=1e-3)
        assert noisy.loss == pytest.approx(one_loss(params, x, y), abs=1e-2)
        clipped = one_by_one(params, x, y, range(200), bound)
        assert np.allclose(flat(noisy.gradient), clipped, atol=0.02 * bound)


def one_loss(params, x, y):
    return float(np.minimum(losses_of(linear, cross_entropy)(params, (x, y)), 5).mean())


def test_an_adaptive_bound_goes_to_the_quantile_and_no_farther_than_stated():
    step = step_of(recipe(clipping="adaptive", quantile=0.75))
    here = jnp.float32(1.0)
    assert float(step._next_bound(here, 0.75)) == 1.0
    assert float(step._next_bound(here, 0.5)) == pytest.approx(math.exp(0.05))
    assert float(step._next_bound(here, 1.0)) == pytest.approx(math.exp(-0.05))
    assert float(step._next_bound(here, -1e9)) == pytest.approx(math.exp(0.35))
    assert float(step._next_bound(jnp.float32(2.0**20), 0.0)) == 2.0**20
