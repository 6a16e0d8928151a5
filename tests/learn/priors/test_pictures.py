"""Made-up pictures: the same from the same key, two of one scene alike and not equal, all between black and white."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import jax
import numpy as np

from discreet.learn.priors.pictures import bent, taken_twice
from discreet.learn.priors.textures import SIZE, grain, shader
from discreet.learn.priors.views import SEEN, view

SCENES = 24


@pytest.fixture(scope="module")
def twice():
    make = jax.jit(taken_twice, static_argnums=1)
    first, second = (np.asarray(pictures) for pictures in make(jax.random.key(5), SCENES))
    return make, first, second


def test_pictures_are_numbers_between_black_and_white(twice):
    _, first, second = twice
    for pictures in (first, second):
        assert pictures.shape == (SCENES, SIZE, SIZE, 3)
        assert np.isfinite(pictures).all()
        assert pictures.min() >= 0
        assert pictures.max() <= 1
        assert np.median(pictures.std(axis=(1, 2, 3))) > 0.03, "flat pictures teach nothing"


def test_the_same_key_makes_the_same_pictures_and_another_makes_others(twice):
    make, first, _ = twice
    again, _ = make(jax.random.key(5), SCENES)
    other, _ = make(jax.random.key(6), SCENES)
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - np.asarray(other)).mean() > 0.05


def test_two_pictures_of_a_scene_are_alike_and_not_equal(twice):
    _, first, second = twice

    def colours(pictures):
        return pictures.mean(axis=(1, 2))

    own = np.abs(colours(first) - colours(second)).mean()
    strange = np.abs(colours(first) - colours(np.roll(second, 1, axis=0))).mean()
    assert own < strange
    assert (np.abs(first - second).max(axis=(1, 2, 3)) > 0.01).all()


def test_a_view_is_a_part_of_its_picture_and_keeps_others_out(twice):
    _, first, _ = twice
    seen = np.asarray(view(jax.random.key(1), first))
    assert seen.shape == (SCENES, SEEN, SEEN, 3)
    assert seen.min() >= 0
    assert seen.max() <= 1
    changed = first.copy()
    changed[0] = 0.5
    np.testing.assert_allclose(np.asarray(view(jax.random.key(1), changed))[1:], seen[1:], atol=1e-5)


def test_textures_come_as_many_as_were_asked_for():
    grains = jax.eval_shape(lambda key: grain(key, 2, 3), jax.random.key(0))
    shades = jax.eval_shape(lambda key: shader(key, 5), jax.random.key(0))
    assert (grains.shape, shades.shape) == ((6, SIZE, SIZE, 3), (5, SIZE, SIZE, 3))


def test_bending_by_nothing_changes_nothing(twice):
    _, first, _ = twice
    np.testing.assert_allclose(np.asarray(bent(jax.random.key(0), first, most=0.0)), first, atol=2e-3)
