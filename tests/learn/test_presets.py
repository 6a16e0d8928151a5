"""Nets for images by name, with recipes that fit the data."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from discreet.errors import InputError
from discreet.learn.presets import NETS, first_parameters, moved_copies, preset_named


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("shape", [(8, 8, 1), (12, 9, 3)])
def test_every_net_gives_a_score_for_each_class(name, shape):
    net = preset_named(name).net(shape, 4)
    outputs = jax.eval_shape(lambda x: net.apply(first_parameters(net), x), jax.ShapeDtypeStruct((2, *shape), float))
    assert outputs.shape == (2, 4)


def test_what_is_said_stands_and_the_rest_is_the_preset():
    recipe = preset_named("classic").recipe(50_000, rate=None, bound=0.5, lot=None)
    assert (recipe["lot"], recipe["steps"], recipe["rate"], recipe["bound"]) == (4096, 600, 4.0, 0.5)


def test_a_smaller_data_set_gets_smaller_lots():
    assert preset_named("wide").recipe(1200)["lot"] == 100
    assert preset_named("mlp").recipe(60_000)["steps"] == 2000
    assert preset_named("mlp").recipe(60_000, epochs=2)["steps"] == 200
    assert preset_named("classic").recipe(60_000, lot=600, epochs=1)["steps"] == 100


def test_a_misspelt_net_gets_the_right_one_named():
    with pytest.raises(InputError, match="Did you mean `classic`"):
        preset_named("clasic")


def test_copies_are_the_image_moved_and_have_its_label():
    assert moved_copies(1, True) is None
    x, y = np.arange(2 * 6 * 6).reshape(2, 6, 6, 1).astype(np.float32), np.array([3, 4])
    copies, labels = moved_copies(2, False)(jax.random.key(1), (x, y))
    assert copies.shape == (4, 6, 6, 1)
    assert labels.tolist() == [3, 3, 4, 4]
    assert set(np.asarray(copies[0]).ravel().tolist()) <= set(x[0].ravel().tolist())
    assert moved_copies(1, True, always=True)(jax.random.key(1), (x, y))[0].shape == x.shape
