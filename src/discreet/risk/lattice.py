"""The least coarsening of whole columns that makes a table k-anonymous, found and known to be the least."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.risk.classes import classes_of
from discreet.risk.ladder import Ladder
from discreet.risk.records import Coded

__all__ = ["Node", "least_coarse"]

_NODES = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A step for every column, the rows left out, and the part of what the columns told that is lost."""

    steps: tuple[int, ...]
    redacted: NDArray[np.bool_]
    loss: float


def least_coarse(columns: Sequence[Coded], ladders: Sequence[Ladder], k: int, redact: int) -> Node:
    """The steps with the least loss under which at most `redact` rows must be left out for classes of k or more.

    A row left out has lost everything, one that is kept what coarsening takes from it. Candidates are tried by what
    coarsening alone loses over all rows, which leaving rows out never makes smaller, so the search may stop where that
    reaches the best found. Rows in classes below k never become more when a column gets coarser: a candidate below one
    that failed fails too and is not tried.
    """
    many = int(np.prod([len(ladder) for ladder in ladders]))
    if many > _NODES:
        raise InputError("ladders", f"{many:,} combinations of steps", f"at most {_NODES:,}", "Give fewer steps.")
    rows = len(columns[0].codes)
    distinct = classes_of(columns)
    first = np.zeros(len(distinct.sizes), dtype=np.int64)
    first[distinct.of] = np.arange(rows)
    kinds = [column.taken(first) for column in columns]
    losses = [
        [ladder.loss(column, step) for step in range(len(ladder))]
        for column, ladder in zip(columns, ladders, strict=True)
    ]
    nodes = sorted(
        itertools.product(*(range(len(ladder)) for ladder in ladders)),
        key=lambda steps: sum(losses[place][step] for place, step in enumerate(steps)),
    )
    best: Node | None = None
    failed: list[tuple[int, ...]] = []
    for steps in nodes:
        lost = sum(losses[place][step] for place, step in enumerate(steps)) / len(steps)
        if best is not None and lost >= best.loss:
            break
        if any(all(a <= b for a, b in zip(steps, worse, strict=True)) for worse in failed):
            continue
        classes = classes_of(
            [ladder.climbed(kind, step) for ladder, kind, step in zip(ladders, kinds, steps, strict=True)]
        )
        small = np.bincount(classes.of, weights=distinct.sizes)[classes.of] < k
        out = int(distinct.sizes[small].sum())
        if out > redact:
            failed.append(steps)
            continue
        each = sum(ladder.lost(kind, step) for ladder, kind, step in zip(ladders, kinds, steps, strict=True))
        total = float(distinct.sizes @ np.where(small, 1.0, each / len(steps))) / rows
        if best is None or total < best.loss:
            best = Node(steps, small[distinct.of], total)
    if best is None:
        raise InputError("k", k, f"at most the {rows:,} rows there are")
    return best
