"""What training would refuse is refused before anything is spent: a model is tried on shapes alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.errors import InputError, Phrase
from discreet.learn.encoding import Encoding
from discreet.learn.model import Model
from discreet.learn.noise import settled
from discreet.learn.optimizer import optimizer_of
from discreet.learn.per_example import Augment, Losses
from discreet.learn.recipe import Recipe
from discreet.learn.step import Step
from discreet.learn.train import check_given

__all__ = ["refuse_early", "refuse_on_table"]

Tree = Any


def refuse_early(losses: Losses, params: Tree, data: Tree, recipe: Recipe, augment: Augment | None = None) -> None:
    """Raise what the first step would raise, of any data of these shapes. Nothing is computed and no data is read."""
    check_given(params, recipe, augment)
    recipe = settled(recipe, params)
    step = Step(losses, recipe, optimizer_of(recipe), augment)
    try:
        step.checked(params, data)
        step.traced(params, data)
    except InputError:
        raise
    except Exception as problem:  # whatever a model raises while it is traced
        hint = f"JAX says: {problem}"[:500]
        allowed = "a function of examples whose gradient JAX can compute"
        raise InputError("model", Phrase("one that fails"), allowed, hint) from None


def refuse_on_table(model: Model, encoding: Encoding, recipe: Recipe) -> None:
    """The same for the examples of a table."""
    kind = np.int32 if encoding.classes else np.float32
    two = np.zeros((2, encoding.width), dtype=np.float32), np.zeros(2, dtype=kind)
    refuse_early(model.losses, model.params, two, recipe)
