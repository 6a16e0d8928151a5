"""DP-SGD: accuracy and epsilon by epoch, at three noise levels."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.accounting import approx, training_loss
from discreet.apps.demo.lecture import Beside, Lecture
from discreet.learn import Recipe, cross_entropy, train
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
    every = _ROWS // _LOT
    curves, costs = [], []
    for multiplier in _LEVELS:
        recipe = Recipe(examples=_ROWS, lot=_LOT, steps=every * _EPOCHS, bound=1.0, multiplier=multiplier, rate=0.5)
        right: list[tuple[float, float]] = []

        def look(state: Any, right: list[tuple[float, float]] = right) -> None:
            if state.step % every == 0:
                guessed = np.asarray(_scores(state.params, x[_ROWS:])).argmax(axis=1)
                right.append((state.step / every, float((guessed == y[_ROWS:]).mean())))

        train(_scores, cross_entropy, start, (x[:_ROWS], y[:_ROWS]), recipe, after=look)
        curves.append(Line(f"noise {multiplier}", tuple(right)))
        spent = [
            (float(epoch), float(approx(training_loss(multiplier, recipe.probability, every * epoch), _DELTA).epsilon))
            for epoch in (1, _EPOCHS // 2, _EPOCHS)
        ]
        costs.append(Line(f"noise {multiplier}", tuple(spent)))
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
    said = "Accuracy on points that were not trained on, and epsilon at delta = 1e-5, by epoch and noise level."
    drawn = stack("DP-SGD by epoch", panels, columns=2, description=said)
    words = "Looking at accuracy on private rows would cost budget; these points are invented."
    return Lecture("Private descent", numbers, words, drawn, "course/learning.md")


def _scores(params: Any, x: Any) -> Any:
    return x @ params["w"] + params["b"]
