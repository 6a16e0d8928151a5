"""How good a model was on public examples, and what had been spent, after each epoch of a run.

All states of a run are paid for by its price, so what they do on public examples costs nothing more. A curve is empty
until its run has ended: one that is stopped may be made again under the same charge with other noise, and then nobody
may have seen anything of the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from discreet.accounting.pld import COARSE, privacy_loss
from discreet.accounting.words import readable
from discreet.core.exact import Number, as_written
from discreet.errors import InputError, Phrase, kind_of
from discreet.learn.objective import check_labels
from discreet.learn.recipe import Recipe
from discreet.learn.row_keys import predictor
from discreet.learn.step import State
from discreet.show import Axis, Line, Picture, Scale, lines, stack

__all__ = ["Curve", "CurvePoint", "accuracy_of"]

_MOST = 40  # points
_AT_ONCE = 500  # examples that are looked at together


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """After a step: how many epochs these were, what was spent (None without privacy), the share of right answers."""

    step: int
    epoch: float
    epsilon: float | None
    accuracy: float


class Curve:
    """Accuracy on public examples `x` of classes `y`, and epsilon at `delta`, after each epoch of one run.

    Guarantee
        `points` are computed from the states of the run, all of which its price covers, and from `x` and `y`, which
        must be public. Nothing can be read before the run has ended, or after one that failed.
        Proof: docs/proofs/training.md.
    """

    def __init__(self, x: Any, y: Any, *, delta: Number | None = None) -> None:
        self._x, self._y = np.asarray(x), np.asarray(y)
        if len(self._x) != len(self._y) or not len(self._y):
            raise InputError("test", Phrase(f"{len(self._x):,} and {len(self._y):,}"), "as many examples as labels")
        self._delta = None if delta is None else as_written(delta, "delta")
        self._seen: list[tuple[int, float]] = []
        self._points: tuple[CurvePoint, ...] = ()
        self._look: Any = None
        self._every, self._steps = 1, 0

    @property
    def points(self) -> tuple[CurvePoint, ...]:
        """One for each epoch, of a run that has ended; none where a stored model was read again."""
        return self._points

    def check_apart(self, arrays: Iterable[Any]) -> None:
        """Refuse the arrays of a private run, whole or from their first row on, given as public examples by mistake.

        It looks at where arrays are in memory, and not at what is in them. A copy cannot be told.
        """
        if any(_begins(one) == _begins(self._x) for one in arrays):
            hint = "Accuracy on private rows is not paid for. Keep rows that are public, and train on the others."
            raise InputError("curve", Phrase("a curve of the data"), "a curve of public examples", hint)

    @contextmanager
    def watching(self, apply: Any, recipe: Recipe, spent: Callable[[int], Fraction] | None = None) -> Iterator[None]:
        """Around a run. What was seen of it can be read when it has ended well, and is forgotten otherwise.

        `spent` tells epsilon after some steps, from above, where more was bought than the steps.
        """
        self._begin(apply, recipe.steps, float(1 / recipe.probability))
        try:
            yield
            self._points = self._priced(recipe, spent)
        finally:
            self._seen = []

    @contextmanager
    def watching_plain(self, apply: Any, steps: int, epoch: float) -> Iterator[None]:
        """The same around a run without privacy, whose epoch has so many steps."""
        self._begin(apply, steps, epoch)
        yield
        self._points = tuple(CurvePoint(step, step / epoch, None, right) for step, right in self._seen)

    def _begin(self, apply: Any, steps: int, epoch: float) -> None:
        self._look, self._steps, self._seen, self._points = jax.jit(predictor(apply)), steps, [], ()
        self._every = max(1, math.ceil(epoch), math.ceil(steps / _MOST))

    def after(self, state: State) -> None:
        """Look at a state of the run, at the end of an epoch."""
        self.look(state.step, state.params if state.average is None else state.average)

    def look(self, step: int, params: Any) -> None:
        """Look at parameters after a step."""
        if step % self._every == 0 or step == self._steps:
            self._seen.append((step, accuracy_of(self._look, params, self._x, self._y)))

    def _priced(self, recipe: Recipe, spent: Callable[[int], Fraction] | None) -> tuple[CurvePoint, ...]:
        epsilon = spent if spent is not None else self._spent(recipe)
        return tuple(
            CurvePoint(step, float(step * recipe.probability), None if epsilon is None else float(epsilon(step)), right)
            for step, right in self._seen
        )

    def _spent(self, recipe: Recipe) -> Callable[[int], Fraction] | None:
        """Epsilon by steps: on a coarse grid of losses, which never tells too little, and at the end as priced."""
        if self._delta is None or not self._seen:
            return None
        whole, delta = recipe.epsilon(self._delta), self._delta

        def spent(step: int) -> Fraction:
            if step == recipe.steps:
                return whole
            return min(Fraction(privacy_loss(recipe.cost_of(step), COARSE).epsilon(delta)), whole)

        return spent

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain values."""
        return [asdict(point) for point in self._points]

    def picture(self, title: str = "Accuracy and epsilon by epoch") -> Picture:
        """Two curves, one below the other: right answers on public examples, and what had been spent."""
        if not self._points:
            raise InputError("curve", Phrase("one without points"), "that of a run which has ended")
        across = Axis(Scale.around(point.epoch for point in self._points), "epoch")
        rights = tuple((point.epoch, 100 * point.accuracy) for point in self._points)
        up = Axis(Scale.around(right for _, right in rights), "accuracy on public examples, %")
        parts = [lines("accuracy", [Line("accuracy", rights)], x=across, y=up)]
        spent = tuple((point.epoch, point.epsilon) for point in self._points if point.epsilon is not None)
        if spent:
            most = Axis(
                Scale.around([0.0, *(epsilon for _, epsilon in spent)]), f"epsilon at delta {_text(self._delta)}"
            )
            parts.append(lines("epsilon", [Line("epsilon", spent)], x=across, y=most))
        return stack(title, parts, description=f"{title}: {len(self._points)} points")

    def save(self, path: str | Path, title: str = "Accuracy and epsilon by epoch") -> Path:
        """Write the picture to a file: .svg, .html, .png or .pdf."""
        return self.picture(title).save(path)


def accuracy_of(apply: Any, params: Any, x: NDArray[Any], y: NDArray[Any]) -> float:
    """The share of examples whose class has the largest score."""
    right = 0
    for first in range(0, len(x), _AT_ONCE):
        part = x[first : first + _AT_ONCE]
        full = np.concatenate([part, np.zeros((_AT_ONCE - len(part), *part.shape[1:]), part.dtype)])
        scores = np.asarray(apply(params, full))[: len(part)]
        if scores.ndim != 2:
            raise InputError("apply", kind_of(scores), "a model with a score for each class")
        check_labels(y, scores.shape[1])
        right += int((scores.argmax(axis=1) == y[first : first + len(part)]).sum())
    return right / len(x)


def _begins(array: Any) -> int:
    """Where the first number of an array is."""
    return int(np.asarray(array).__array_interface__["data"][0])


def _text(delta: Fraction | None) -> str:
    return "" if delta is None else readable(delta)
