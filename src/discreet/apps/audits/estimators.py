"""Sums in the leaves of random trees: each row has leaves of its own, so one fit is as many runs as there are rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.claim import AnyClaim
from discreet.audit.gate import Subject
from discreet.audit.outputs import Pair, buffered
from discreet.core.loss import Pure
from discreet.learn.estimators import DPRandomForestRegressor
from discreet.learn.estimators.forest_regressor import UNIT, leaf_parts, release_leaves
from discreet.learn.estimators.plan import read_price
from discreet.learn.estimators.sums import SumMeter

__all__ = ["planted", "subjects"]

_NAME = DPRandomForestRegressor.__name__
_RUNS = 20_000
_TREES, _ROWS = 2, 1000
_CLAIM = Pure(Fraction(9, 10))  # of an epsilon of 1: the other tenth is for the slope


def subjects() -> Iterator[Subject]:
    """The sums that `DPRandomForestRegressor` releases."""
    yield Subject(_NAME, "estimator", lambda: _attack(1), _RUNS)


def planted() -> Iterator[Subject]:
    """A row that counts twice: once for its target and once more for being there."""
    yield Subject(_NAME, "estimator", lambda: _attack(2), _RUNS, planted="wrong sensitivity")


def _attack(times: int) -> tuple[AnyClaim, Sequence[Pair]]:
    inside, outside = buffered(_sums(times, True)), buffered(_sums(times, False))
    return _CLAIM, [Pair(inside, outside, "a row with the highest target in each leaf, or none")]


def _sums(times: int, inside: bool) -> Callable[[], Any]:
    """Of each row's leaves, in every tree, the noisy sums of both parts."""
    leaves = np.repeat(np.arange(_ROWS if inside else 0)[:, None], _TREES, axis=1)
    parts = times * leaf_parts(np.full(len(leaves), UNIT // 2, dtype=np.int64))

    def run() -> Any:
        table = release_leaves(leaves, parts, _ROWS, SumMeter(read_price(1, None, None)))
        return np.moveaxis(table, 0, 1).reshape(_ROWS, -1)

    return run
