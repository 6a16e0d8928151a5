"""Nets for images by name, each with the recipe that it was measured with: a start, not the best for every data set.

| net | what it is | recipe (docs/benchmarks/learn_cifar.md) |
|---|---|---|
| `classic` | two 5x5 convolutions with pooling, two dense layers, tanh | lots of 4,096, 600 steps, rate 4 |
| `wide` | a wide residual net, depth 16, width 4 | lots of 4,096, 1,250 steps, rate 4, four copies of an image |
| `mlp` | one hidden layer of 1,000 | lots of 600, 20 epochs, rate 1 |
| `logistic` | a linear model | lots of 600, 20 epochs, rate 1 |
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from discreet.errors import InputError
from discreet.learn.nets import Net, convolutional, dense, flipped_and_shifted, wide_residual

__all__ = ["NETS", "Preset", "first_parameters", "moved_copies", "preset_named"]

Array = Any
_LEAST = 12  # lots in the data: a smaller data set gets smaller lots


@dataclass(frozen=True)
class Preset:
    """A net for images, and how it is trained unless something else is said."""

    name: str
    lot: int
    steps: int | None = None
    epochs: int | None = None
    rate: float = 1.0
    copies: int = 1
    ema: float = 0.99
    plain_rate: float = 0.05
    """The learning rate without privacy, as a baseline."""

    def net(self, shape: tuple[int, int, int], classes: int) -> Net:
        """The net for images of a shape."""
        match self.name:
            case "classic":
                return convolutional(shape, classes, activation=jnp.tanh)
            case "wide":
                return wide_residual(classes=classes, colours=shape[2], standardise=True)
            case "mlp":
                return _flat(dense((math.prod(shape), 1000, classes)))
        return _flat(dense((math.prod(shape), classes)))

    def recipe(self, examples: int, **said: Any) -> dict[str, Any]:
        """Lot, steps and the rest for about so many images; what is said (and not None) stands."""
        given = {name: value for name, value in said.items() if value is not None}
        lot = given.pop("lot", min(self.lot, max(1, examples // _LEAST)))
        epochs = given.pop("epochs", None)
        steps = given.pop("steps", None)
        if steps is None:
            passes = self.epochs if epochs is None else epochs
            steps = self.steps if passes is None else max(1, round(float(passes) * examples / float(lot)))
        usual = {"bound": 1.0, "rate": self.rate, "copies": self.copies, "ema": self.ema}
        return {"examples": examples, "lot": lot, "steps": steps, **usual, **given}


def _flat(net: Net) -> Net:
    return Net(net.init, lambda params, x: net.apply(params, x.reshape(x.shape[0], -1)))


NETS = {
    one.name: one
    for one in (
        Preset("classic", 4096, steps=600, rate=4.0),
        Preset("wide", 4096, steps=1250, rate=4.0, copies=4, ema=0.995),
        Preset("mlp", 600, epochs=20),
        Preset("logistic", 600, epochs=20),
    )
}


def preset_named(name: str) -> Preset:
    """The net of a name."""
    if name not in NETS:
        raise InputError("net", name, among=NETS)
    return NETS[name]


def moved_copies(copies: int, mirror: bool, *, always: bool = False) -> Any:
    """The maker of copies of an image, moved by up to four pixels and, with `mirror`, mirrored.

    None for one copy, which is the image itself, unless it is `always` to be moved.
    """
    return None if copies == 1 and not always else partial(_moved, copies, mirror)


def _moved(copies: int, mirror: bool, key: Array, batch: tuple[Array, Array]) -> tuple[Array, Array]:
    images, labels = batch
    return flipped_and_shifted(key, images, copies, mirror=mirror), jnp.repeat(labels, copies)


def first_parameters(net: Net, seed: int = 0) -> Any:
    """Where training starts: public, and the same for a seed."""
    return net.init(jax.random.key(seed))
