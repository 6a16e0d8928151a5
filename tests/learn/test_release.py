"""A released model is used with its function, and reads back what was paid for."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import numpy as np
from train_people import FIXED, table

from discreet.errors import InputError
from discreet.learn.model import Model


def test_a_model_of_ones_own_is_used_with_its_function(curator):
    def lines(params, x):
        return x @ params["w"]

    mine = Model(lines, {"w": np.zeros((8, 2), np.float32)}, name="mine")
    model = curator.train(mine, target="rich", examples=400, **FIXED).plan().release(release="own")
    assert model.params["w"].shape == (8, 2)
    stored = curator.release("own")
    with pytest.raises(InputError, match="using"):
        stored.predict(table(3))
    assert stored.using(mine).predict(table(9)) == model.predict(table(9))


def test_a_model_of_ones_own_that_is_called_like_another_is_not_taken_for_it(curator, tmp_path):
    mine = Model(lambda params, x: x @ params, np.zeros((8, 2), np.float32), name="logistic")
    curator.train(mine, target="rich", examples=400, **FIXED).plan().release(release="own")
    stored = curator.release("own")
    assert stored.save(tmp_path / "w.safetensors").is_file()
    with pytest.raises(InputError, match="using"):
        stored.predict(table(3))


@pytest.mark.parametrize("name", ["", 3, None, "two\nlines", "x" * 201])
def test_a_name_that_cards_cannot_show_is_refused(name):
    with pytest.raises(InputError) as caught:
        Model(lambda params, x: x @ params, np.zeros((8, 2), np.float32), name=name)
    assert caught.value.field == "name"
