"""Noise drawn on the device: its tail, its law, its price, and what it is added to."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats

from chance import LEVEL, frequency_fits

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from train_steps import SECRET, examples, flat, recipe, start, step_of  # noqa: E402

from discreet.core.loss import Approx, Composed  # noqa: E402
from discreet.errors import InputError  # noqa: E402
from discreet.learn import noise as noise_module  # noqa: E402
from discreet.learn.card import Card  # noqa: E402
from discreet.learn.lot import microbatches  # noqa: E402
from discreet.learn.noise import MIDDLE, SMALL, add_noise, device_key, settle_noise  # noqa: E402
from discreet.learn.recipe import DEVICE_DELTA, Recipe  # noqa: E402
from discreet.learn.sampler import (  # noqa: E402
    REACH,
    VARIANCE,
    draw_integers,
    integers_of,
    lattice_length,
    thresholds,
)

SIGMA = math.sqrt(VARIANCE)


def whole(column):
    return sum(int(word) << (32 * (3 - place)) for place, word in enumerate(column))


def forced(*words):
    """The three parts of one entry, each from the same words."""
    return jnp.asarray(np.tile(np.array(words, dtype=np.uint32)[None, :, None], (3, 1, 1)))


def single_precision(bits):
    """The noise of 0.1, as `jax.random.normal` makes it of 32 random bits: 23 of them count."""
    uniform = (bits >> np.uint32(9) | np.uint32(0x3F800000)).view(np.float32) - np.float32(1)
    lowest = np.nextafter(np.float32(-1), np.float32(0))
    return np.sqrt(np.float32(2)) * special.erfinv(np.maximum(lowest, uniform * (1 - lowest) + lowest))


def test_the_tail_reaches_13_deviations_and_that_of_single_precision_ends_at_5_42():
    most, least = (2**32 - 1,) * 4, (0,) * 4
    assert int(integers_of(forced(*most))[0][0]) == REACH
    assert REACH / SIGMA > 13
    assert int(integers_of(forced(*least))[0][0]) / SIGMA < -13
    ends = single_precision(np.array([0, 2**32 - 1], dtype=np.uint32))
    assert 5.3 < np.abs(ends).max() < 5.43


@pytest.mark.parametrize("deviations", [6, 8.5, 10])
def test_beyond_any_point_of_the_tail_lies_the_mass_that_should(deviations):
    """One part: words that stand at a tail of the true law come out at that place, to a step."""
    tail = stats.norm.sf(deviations)
    word = int(Fraction(tail) * 2**128)
    words = [(word >> (32 * (3 - place))) & 0xFFFFFFFF for place in range(4)]
    found = int(integers_of(forced(*words))[0][0]) / (1 + 128 + 128**2)
    assert found == pytest.approx(-512 * deviations, abs=1)


def test_every_threshold_is_the_chance_of_less():
    table = thresholds()
    chances = [whole(column) for column in table.T]
    assert chances == sorted(chances)
    assert chances[0] == 0
    assert chances[-1] < 2**128
    masses = np.diff(np.array([*chances, 2**128], dtype=object)) / 2**128
    x = np.arange(-6656, 6657)
    law = np.exp(-(x**2) / (2 * 512**2))
    assert np.abs(masses.astype(float) - law / law.sum()).max() < 1e-18
    assert all(abs(low + high - 2**128) <= 1 for low, high in zip(chances[1:], reversed(chances[1:]), strict=True))
    # 1e-34 an entry: three parts, half a unit for each of their values, and the tails left out.
    short = Fraction(len(x), 2**129) + Fraction(2 * stats.norm.sf(13))
    assert 3 * short < Fraction(1, 10**34)


def test_two_words_are_enough_where_they_say_so():
    chance = np.random.default_rng(0)
    words = chance.integers(0, 2**32, size=(3, 4, 2000), dtype=np.uint32)
    short, doubt = integers_of(jnp.asarray(words[:, :2]))
    assert not bool(doubt)
    assert np.array_equal(short, integers_of(jnp.asarray(words))[0])
    tied = thresholds()[:, 5000]
    assert bool(integers_of(forced(*tied[:2]))[1])
    above, below = [int(integers_of(forced(*tied[:2], *rest))[0][0]) for rest in ((2**32 - 1,) * 2, (0, 0))]
    assert above > below


def test_words_in_doubt_are_settled_by_more_of_them(monkeypatch):
    tied = thresholds()[:2, 5000]
    drawn = []

    def bits(key, shape, kind):
        drawn.append(shape)
        return jnp.asarray(np.tile(tied[None, :, None], (3, 1, shape[2])))

    monkeypatch.setattr(jax.random, "bits", bits)
    found = draw_integers(device_key(SECRET, 0), 3)
    assert drawn == [(3, 2, 3), (3, 2, 3)]
    assert np.array_equal(found, integers_of(jnp.tile(jnp.asarray(np.tile(tied, 2))[None, :, None], (3, 1, 3)))[0])


@pytest.mark.statistical
def test_numbers_have_the_law_and_the_tail_that_is_claimed():
    drawn = np.asarray(jax.jit(draw_integers, static_argnums=1)(device_key(SECRET, 7), 400_000)) / SIGMA
    assert stats.kstest(drawn, "norm").pvalue > LEVEL
    assert stats.kstest(drawn * 1.04, "norm").pvalue < LEVEL
    beyond = int((np.abs(drawn) > 3.5).sum())
    assert frequency_fits(beyond, len(drawn), 2 * stats.norm.sf(3.5))
    cut = np.clip(drawn, -3.4, 3.4)  # must fail: a tail that ends
    assert not frequency_fits(int((np.abs(cut) > 3.5).sum()), len(drawn), 2 * stats.norm.sf(3.5))


@pytest.mark.statistical
def test_given_a_rare_first_word_the_tail_goes_on_and_that_of_0_1_does_not():
    """Among draws below 2^-28 of the mass, half are below the median of that tail; single precision has none there."""
    chance = np.random.default_rng(1)
    words = chance.integers(0, 2**32, size=(3, 4, 4000), dtype=np.uint32)
    words[2, 0] = chance.integers(0, 2**4, size=4000)  # the highest part decides
    found = np.asarray(integers_of(jnp.asarray(words))[0]) / SIGMA
    middle = stats.norm.isf(2.0**-29)
    assert frequency_fits(int((found < -middle).sum()), 4000, 0.5)
    old = single_precision(words[2, 0])  # must fail: nothing is left beyond where it ends
    assert not frequency_fits(int((old < -middle).sum()), 4000, 0.5)


def sum_law(sigma, stride, reach=400):
    axis = np.arange(-reach, reach + 1)
    one = np.exp(-(axis**2) / (2 * sigma**2))
    spread = np.zeros(stride * 2 * reach + 1)
    spread[::stride] = one
    law = np.convolve(one, spread)
    return law / law.sum()


def test_a_sum_of_parts_has_the_law_of_one_number_if_strides_are_short():
    for stride, within in ((4, True), (16, False)):  # deviation 16: four steps of a stride, and one
        law = sum_law(16, stride)
        axis = np.arange(len(law)) - len(law) // 2
        variance = 16**2 * (1 + stride**2)
        ideal = np.exp(-(axis**2) / (2 * variance))
        ideal /= ideal.sum()
        middle = np.abs(axis) < 3 * math.sqrt(variance)
        ratio = law[middle] / ideal[middle]
        assert (np.abs(ratio - 1).max() < 1e-11) == within


@pytest.mark.parametrize("multiplier", [Fraction(1, 2), Fraction(1), Fraction(37, 10), Fraction(90)])
@pytest.mark.parametrize("size", [1, 1000, 2_750_000])
def test_the_bound_on_the_lattice_makes_room_for_rounding(multiplier, size):
    length = lattice_length(multiplier, size)
    farthest = length * (1 + Fraction(1, 1024)) + math.isqrt(size) + 1
    assert (multiplier * farthest) ** 2 <= VARIANCE - 16
    assert (multiplier * farthest * Fraction(101, 100)) ** 2 > VARIANCE


def test_noise_too_large_for_the_lattice_is_refused_early():
    with pytest.raises(InputError, match="exact"):
        lattice_length(Fraction(10_000), 10**6)


def test_what_comes_out_is_whole_steps_of_the_rounded_sum_and_noise():
    keys, multiplier = device_key(SECRET, 1), Fraction(1)
    steps = lattice_length(multiplier, 4)
    sums = jnp.asarray([0.0, 1e-9, 3.0, -2.5])
    noisy = np.asarray(add_noise(sums, keys, 1.0, multiplier), dtype=np.float64) * steps
    near = np.asarray(add_noise(sums + 1e-9, keys, 1.0, multiplier), dtype=np.float64) * steps
    drawn = np.asarray(draw_integers(keys, 4), dtype=np.float64)
    assert np.allclose(noisy, np.rint(np.asarray(sums, dtype=np.float64) * steps) + drawn, rtol=1e-6, atol=2)
    assert np.array_equal(noisy, near)  # less than half a step is not seen at all


@pytest.mark.parametrize("size", [0.0, 1e5, 3e9, 2.0**40, -7e8])
def test_sums_of_any_size_are_added_exactly(size):
    value = np.float32(size)
    found = noise_module._added(jnp.full(3, value), jnp.asarray([-5000, 1, 4097], jnp.int32))
    exact = np.float64(value) + np.array([-5000, 1, 4097])
    assert np.allclose(np.asarray(found, dtype=np.float64), exact, rtol=2e-7)
    assert np.isfinite(np.asarray(noise_module._added(jnp.asarray([np.nan, np.inf]), jnp.zeros(2, jnp.int32)))).all()


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


def test_what_noise_on_the_device_is_short_of_is_charged_and_told():
    device, exact = recipe(noise="device"), recipe(noise="exact")
    assert device.noise_delta() == 5 * DEVICE_DELTA
    assert device.cost == Composed([device.cost.losses[0], Approx(0, 5 * DEVICE_DELTA)])
    assert exact.noise_delta() < device.noise_delta() < Fraction(1, 10**20)
    assert recipe().cost == device.cost  # not named yet: the larger of the two
    card = Card.of_recipe(device, 1e-5, name="linear", dataset="d")
    assert card.to_dict()["delta_of_noise"] == "5.4976e-22"
    assert "5.4976e-22 for the law of the noise" in card.to_markdown()
    assert any("premise" in limit for limit in card.limits)
    within = Recipe.within(1, 1e-5, lot=100, steps=50, examples=10_000, bound=1, noise="device")
    assert within.epsilon(1e-5) <= 1


def test_noise_that_is_not_named_is_exact_for_small_models_and_on_a_cpu(monkeypatch):
    small, middle, large = ({"w": np.zeros(size)} for size in (SMALL, MIDDLE, MIDDLE + 1))
    assert [settle_noise(recipe(), one).noise for one in (small, middle, large)] == ["exact", "exact", "device"]
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert [settle_noise(recipe(), one).noise for one in (small, middle, large)] == ["exact", "device", "device"]
    for named in ("device", "exact"):
        assert settle_noise(recipe(noise=named), large).noise == named


def test_a_recipe_of_0_1_is_read_and_says_what_its_noise_was():
    entry = recipe(noise="device").to_dict()
    assert Recipe.from_dict(entry) == recipe(noise="device")
    del entry["sampler"]
    old = Recipe.from_dict(entry)
    assert old.noise == "float"
    assert Recipe.from_dict({**entry, "noise": "exact"}).noise == "exact"
    assert any("5.42" in limit for limit in Card.of_recipe(old, 1e-5, name="m", dataset="d").limits)
    with pytest.raises(InputError, match="read from runs of version"):
        settle_noise(old, start())


def test_lots_whose_sums_single_precision_cannot_hold_take_exact_noise():
    large = {"examples": 100_000, "lot": 2**14 + 1, "steps": 1, "bound": 1, "multiplier": 1}
    with pytest.raises(InputError, match="16,384"):
        Recipe(**large, noise="device")
    many = {"w": np.zeros(2_000_000, np.float32)}  # a model that is large enough for the device
    assert settle_noise(Recipe(**large), many).noise == "exact"
    assert settle_noise(Recipe(**{**large, "lot": 2**14}), many).noise == "device"
