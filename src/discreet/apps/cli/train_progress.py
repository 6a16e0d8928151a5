"""How far a training run is: steps, epsilon so far, examples a second, time left. On stderr, on a terminal only.

All of it is public: examples a second are those expected of a lot, epsilon follows from the number of steps, and a loss
is shown only where a noisy one was paid for.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.console import Console

from discreet.accounting.words import readable
from discreet.core.progress import listening

if TYPE_CHECKING:
    from discreet.learn.plan import TrainPlan

__all__ = ["line", "training"]

_MARKS = 10  # at which epsilon is computed: it takes a moment each


@contextmanager
def training(plan: TrainPlan) -> Iterator[None]:
    """Show how far the run inside is."""
    err = Console(stderr=True)
    if not err.is_terminal:
        yield
        return
    begun: list[float] = []

    @lru_cache
    def spent(mark: int) -> Fraction:
        return plan.spent(-(-plan.recipe.steps * mark // _MARKS))

    with err.status("starting") as status:

        def heard(stage: str, done: float | None) -> None:
            if done is None:
                status.update(stage)
                return
            begun.append(time.monotonic())
            seconds, since = begun[-1] - begun[0], done - 1 / plan.recipe.steps
            mark = -(-int(done * plan.recipe.steps) * _MARKS // plan.recipe.steps)
            told = line(stage, spent(mark), float(plan.recipe.lot) * plan.recipe.steps * since, seconds, done)
            status.update(told if plan.count is None else told.replace("examples/s", "of the sample/s"))

        with listening(heard):
            yield


def line(stage: str, epsilon: Fraction | float, examples: float, seconds: float, done: float) -> str:
    """One line of progress.

    >>> line("training: step 50 of 100, loss about 0.412", 0.8123, 5000, 10, 0.5)
    'training: step 50 of 100, loss about 0.412; epsilon so far at most 0.8123; 500 examples/s; about 10 s left'
    """
    told = f"{stage}; epsilon so far at most {readable(epsilon, 4)}"
    if seconds < 1 or examples <= 0:
        return told
    return f"{told}; {examples / seconds:,.0f} examples/s; about {round(seconds * (1 - done) / done):,} s left"
