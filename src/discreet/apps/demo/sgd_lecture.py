"""DP-SGD: accuracy and epsilon by epoch, at three noise levels."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.accounting import approx, training_loss
from discreet.apps.demo.lecture import Beside, Lecture
from discreet.learn import Curve, Recipe, cross_entropy, train
from discreet.noise.replay import Replay, uniforms
from discreet.show import Axis, Line, Scale, lines, stack

__all__ = ["show"]

_ROWS, _TESTED, _LOT, _EPOCHS, _WIDTH = 4000, 2000, 80, 8, 60
_LEVELS = (8, 4, 2)  # noise multipliers
_DELTA = 1e-5


def show() -> Lecture:
    """Train a small model on invented points at three noise levels; count what each epoch cost."""
    import jax.numpy as jnp

    bits = Replay(b"lecture of descent")
    x = (2 * uniforms(bits, (_ROWS + _TESTED) * _WIDTH).reshape(-1, _WIDTH) - 1).astype(np.float32)
    y = (x[:, :20].sum(axis=1) > 0).astype(np.int32)
    start = {"w": jnp.zeros((_WIDTH, 2)), "b": jnp.zeros(2)}
    curves, costs = [], []
    for multiplier in _LEVELS:
        steps = _ROWS // _LOT * _EPOCHS
        recipe = Recipe(examples=_ROWS, lot=_LOT, steps=steps, bound=1.0, multiplier=multiplier, rate=0.5)
        curve = Curve(x[_ROWS:], y[_ROWS:], delta=_DELTA)
        train(_scores, cross_entropy, start, (x[:_ROWS], y[:_ROWS]), recipe, curve=curve)
        name = f"noise multiplier {multiplier}"
        curves.append(Line(name, tuple((point.epoch, point.accuracy) for point in curve.points)))
        costs.append(Line(name, tuple((point.epoch, point.epsilon or 0.0) for point in curve.points)))
    abadi = float(approx(training_loss(4, "0.01", 10_000), _DELTA).epsilon)
    numbers = (
        Beside("lots of 1%, noise 4, 100 epochs, delta 1e-5", "epsilon 1.26", f"{abadi:.2f} (the whole law)"),
        *(
            Beside(f"accuracy at noise {multiplier}", "falls with noise", f"{curve.points[-1][1]:.1%}")
            for multiplier, curve in zip(_LEVELS, curves, strict=True)
        ),
    )
    across = Axis(Scale(0, _EPOCHS), "epoch")
    panels = [
        lines("Accuracy on new points", curves, x=across, y=Axis(Scale(0.4, 1), "", lambda value: f"{value:.0%}")),
        lines("Epsilon spent", costs, x=across),
    ]
    said = "Accuracy on points that were not trained on, and epsilon at delta = 1e-5, after each epoch."
    drawn = stack("DP-SGD by epoch", panels, columns=2, caption=said)
    words = "Looking at accuracy on private rows would cost budget; these points are invented."
    return Lecture("Private descent", numbers, words, drawn, "course/learning.md")


def _scores(params: Any, x: Any) -> Any:
    return x @ params["w"] + params["b"]
