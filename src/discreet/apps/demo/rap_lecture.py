"""Relaxed adaptive projection: synthetic rows, and the largest error of their pairs by epsilon."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from discreet.accounting import approx
from discreet.apps.demo.lecture import Beside, Lecture, draw_choices, invented_curator
from discreet.core.loss import ZCDP
from discreet.data.column import Category
from discreet.data.schema import Schema
from discreet.noise.replay import Replay
from discreet.show import Axis, Line, Scale, lines

__all__ = ["show"]

_ROWS, _CODES, _COLUMNS = 5000, 4, 4
_PRICES = ("0.0002", "0.002", "0.02")  # rho
_DELTA = "1e-6"


def show() -> Lecture:
    """Make rows of an invented table at three prices, and compare all pairs of columns."""
    bits = Replay(b"lecture of projection")
    first = draw_choices(bits, _ROWS, [4, 3, 2, 1])
    rows = {"c0": first}
    for number in range(1, _COLUMNS):
        moved = draw_choices(bits, _ROWS, [6, 2, 1, 1])
        rows[f"c{number}"] = (rows[f"c{number - 1}"] + moved) % _CODES
    labels = [f"v{code}" for code in range(_CODES)]
    table = {name: np.array(labels)[codes] for name, codes in rows.items()}
    schema = Schema("rows", {name: Category(labels, nullable=False) for name in rows})
    errors, epsilons = [], []
    with invented_curator(table, schema, epsilon=10, delta=1e-6) as curator:
        for rho in _PRICES:
            made = curator.synthesize("rap", workload="pairs").plan(rho=rho).release(why="lecture").to_arrow()
            errors.append(_largest(made.to_pydict(), table))
            epsilons.append(float(approx(ZCDP(rho), _DELTA).epsilon))
    numbers = (
        Beside(f"largest error at epsilon {epsilons[-1]:.2f}", ".0059 on ADULT", f"{errors[-1]:.4f}, invented rows"),
        Beside(f"largest error at epsilon {epsilons[0]:.2f}", "larger", f"{errors[0]:.4f}"),
    )
    drawn = lines(
        "Largest error of a pair of columns",
        [Line("rap", tuple(zip(epsilons, errors, strict=True)))],
        x=Axis(Scale(0, 1), f"epsilon at delta = {_DELTA}"),
        y=Axis(Scale.around(errors, zero=True), "largest error, share of rows"),
    ).captioned("Largest difference of any cell of any pair of columns between invented rows and synthetic ones.")
    words = f"{_ROWS:,} invented rows of {_COLUMNS} columns, all pairs of them in the workload."
    return Lecture("Relaxed adaptive projection", numbers, words, drawn, "course/synthetic.md")


def _largest(made: Any, true: Any) -> float:
    """The largest difference of a cell of any pair of columns, as a part of all rows."""
    worst = 0.0
    for one, other in combinations(true, 2):
        cells = [_shares(table, one, other) for table in (made, true)]
        worst = max(worst, *(abs(cells[0].get(key, 0.0) - cells[1].get(key, 0.0)) for key in {*cells[0], *cells[1]}))
    return worst


def _shares(table: Any, one: str, other: str) -> dict[tuple[str, str], float]:
    many: dict[tuple[str, str], int] = {}
    for pair in zip(table[one], table[other], strict=True):
        many[pair] = many.get(pair, 0) + 1
    return {pair: count / len(table[one]) for pair, count in many.items()}
