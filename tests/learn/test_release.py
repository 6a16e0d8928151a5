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
