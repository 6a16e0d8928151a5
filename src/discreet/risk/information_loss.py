"""What coarsening costs: how much of what a table told is no longer told, by the measures in use."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.risk.coarsening import AnonymizedTable
from discreet.risk.ladder import Ladder
from discreet.risk.records import CodedColumn, classes_of

__all__ = ["ColumnLoss", "InformationLoss", "measure_loss"]


@dataclass(frozen=True, slots=True)
class ColumnLoss:
    """One column: its values before and the groups they are in after, and the parts of what it told that are lost.

    `width`: the normalised certainty penalty, 0 for values as they were and 1 for one group of all. `entropy`: of the
    uncertainty about a row's value that the table took away, how much coarsening gives back.
    """

    name: str
    step: int
    values: int
    groups: int
    width: float
    entropy: float
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InformationLoss:
    """Over all quasi columns and rows; a row left out has lost everything.

    `certainty`: the normalised certainty penalty (what the search makes small). `entropy`: the non-uniform entropy
    loss. `discernibility`: how many other rows a row cannot be told from, on average over rows, a row left out counting
    as all. `average_class`: rows of a class on average, for each row that k asks for.
    """

    certainty: float
    entropy: float
    discernibility: float
    average_class: float
    left_out: int
    columns: tuple[ColumnLoss, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def measure_loss(made: AnonymizedTable) -> InformationLoss:
    """The losses of a table that was coarsened along ladders."""
    rows, left = len(made.kept), made.records.rows
    ladders = made.cut if isinstance(made.cut, tuple) else ()
    columns = tuple(
        _column(name, column, ladder, made.steps[name], made)
        for name, column, ladder in zip(made.quasi, made.columns, ladders, strict=True)
    )
    sizes = classes_of([made.records[name] for name in made.quasi]).sizes.astype(np.float64) if left else np.zeros(0)
    alike = (float(sizes @ sizes) + made.redacted * rows) / rows
    entropy = sum(column.entropy for column in columns) / max(len(columns), 1)
    return InformationLoss(
        certainty=made.loss,
        entropy=(entropy * left + made.redacted) / rows,
        discernibility=alike,
        average_class=left / max(len(sizes), 1) / made.k,
        left_out=made.redacted,
        columns=columns,
    )


def _column(name: str, column: CodedColumn, ladder: Ladder, step: int, made: AnonymizedTable) -> ColumnLoss:
    kept = column.taken(np.flatnonzero(made.kept))
    groups = ladder.groups[step]
    counts = np.bincount(kept.codes, minlength=column.size).astype(np.float64)
    whole = np.bincount(groups, weights=counts)
    there = counts > 0
    # Bits that it takes to tell a value from others of its group, and from all.
    lost = -float(counts[there] @ np.log2(counts[there] / whole[groups][there]))
    most = -float(counts[there] @ np.log2(counts[there] / counts.sum()))
    labels = () if step == 0 else tuple(str(label) for label in ladder.labels[step][:4] if label is not None)
    width = float(ladder.lost(kept, step).mean()) if kept.codes.size else 1.0
    used = int((np.bincount(groups, weights=counts) > 0).sum())
    return ColumnLoss(name, step, int(there.sum()), used, width, abs(lost / most) if most else 0.0, labels)
