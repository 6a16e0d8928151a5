"""The trainer on a model where every example pushes a number of its own, as far as clipping lets it.

Noise is independent from number to number, so one training is as many runs as there are numbers. (A model of one's own
is audited from one run, by canaries: `discreet.audit.one_run`.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import evolve

from discreet.audit.claim import AnyClaim
from discreet.audit.gate import Subject
from discreet.audit.outputs import Pair, buffered
from discreet.learn import Recipe, train

__all__ = ["planted", "subjects"]

_COPIES = 500
# As private as Gaussian noise of mu = 1: four steps that see every example.
_RECIPE = Recipe(examples=_COPIES + 1, lot=_COPIES + 1, steps=4, bound=1, multiplier=2, rate=1.0, noise="exact")
# Two groups, each whole in two of the four steps: noise in two bands is made for two rounds.
_BANDED = evolve(_RECIPE, lot=Fraction(_COPIES + 1, 2), bands=2, multiplier=Fraction(3, 2))
_SAMPLED = evolve(_RECIPE, lot=Fraction(_COPIES + 1, 2), multiplier=Fraction(1))


def subjects() -> Iterator[Subject]:
    """Exact noise and noise on the device, whole lots, sampled ones, and noise in bands."""
    yield _subject("DP-SGD", _RECIPE)
    yield _subject("DP-SGD, noise on the device", evolve(_RECIPE, noise="device"))
    yield _subject("DP-SGD, sampled", _SAMPLED)
    yield _subject("DP-SGD, noise in bands", _BANDED)


def planted() -> Iterator[Subject]:
    """Half of the noise that the recipe promises."""
    yield replace(_subject("DP-SGD", _RECIPE, Fraction(1, 2)), planted="half noise")
    yield replace(_subject("DP-SGD, noise in bands", _BANDED, Fraction(1, 2)), planted="half noise")


def _subject(name: str, recipe: Recipe, share: Fraction = Fraction(1)) -> Subject:
    def attack() -> tuple[AnyClaim, Sequence[Pair]]:
        used = evolve(recipe, multiplier=recipe.multiplier * share)
        pair = Pair(buffered(_pushed(used, True)), buffered(_pushed(used, False)), "an example that is there, or not")
        return recipe.cost, [pair]

    return Subject(name, "trainer", attack, 4_000)


def _pushed(recipe: Recipe, inside: bool) -> Callable[[], Any]:
    """How far training has moved each copy's number, with or without the example that pushes it."""
    import jax.numpy as jnp

    rows = np.eye(_COPIES + 1, dtype=np.float32)  # the last is always there
    ours = rows if inside else rows[-1:]

    def run() -> Any:
        params = jnp.zeros(_COPIES + 1, dtype=jnp.float32)
        done = train(_apply, _loss, params, (ours, np.ones(len(ours), dtype=np.float32)), recipe)
        return np.asarray(done.params, dtype=np.float64)[:_COPIES] * float(recipe.lot)

    return run


def _apply(params: Any, x: Any) -> Any:
    return x @ params


def _loss(outputs: Any, y: Any) -> Any:
    return -1000.0 * outputs * y  # far beyond the bound: the clipped gradient is a step of length one
