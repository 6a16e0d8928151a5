"""How often a model is right, group by group, on rows that are public: noise and clipping cost small groups most.

What a model is right about on private rows is private too: only rows that are anyone's to see are for this. Of others
it is charged (`private_accuracy`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from discreet.errors import InputError, Phrase
from discreet.learn.encoding import place_of, word_of

__all__ = ["GroupAccuracy", "accuracies", "columns_of", "group_label", "group_place"]

_SURE = NormalDist().inv_cdf(0.975)
_MISSING = "missing"


@dataclass(frozen=True, slots=True)
class GroupAccuracy:
    """Right answers among the public rows of one group; `lower` and `upper` are the ends of a 95% interval (Wilson).

    >>> one = GroupAccuracy("f", rows=400, right=360)
    >>> one.accuracy, round(one.lower, 3), round(one.upper, 3)
    (0.9, 0.867, 0.926)
    """

    group: str
    rows: int
    right: int
    paid: str = ""
    """What was paid for it, where the rows are private."""

    @property
    def accuracy(self) -> float:
        """The part that is right."""
        return self.right / self.rows

    @property
    def lower(self) -> float:
        """The lower end."""
        return max(self._middle - self._half, 0.0)

    @property
    def upper(self) -> float:
        """The upper end."""
        return min(self._middle + self._half, 1.0)

    @property
    def _middle(self) -> float:
        return (self.right + _SURE**2 / 2) / (self.rows + _SURE**2)

    @property
    def _half(self) -> float:
        spread = self.right * (self.rows - self.right) / self.rows + _SURE**2 / 4
        return _SURE * math.sqrt(spread) / (self.rows + _SURE**2)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        ends = {"lower": self.lower, "upper": self.upper}
        return {"group": self.group, "rows": self.rows, "right": self.right, "accuracy": self.accuracy, **ends}

    def text(self) -> str:
        """In a few words."""
        return f"{self.group} {self.accuracy:.1%} [{self.lower:.1%}, {self.upper:.1%}] of {self.rows:,}"


def group_label(value: Any) -> str:
    """What the group of a row is called, from its own value alone.

    A column of whole numbers is one of floats in some tables as soon as one row lacks a value: 1 and 1.0 are one group.

    >>> group_label(1.0), group_label("f"), group_label(float("nan"))
    ('1', 'f', 'missing')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return _MISSING
    return word_of(value)


def group_place(value: Any, groups: Sequence[str]) -> int | None:
    """Where the group of a row is among those that are declared, from its own value alone; None if it is in none.

    >>> group_place(1.0, ["False", "True"]), group_place(True, ["False", "True"]), group_place(None, ["missing"])
    (1, 1, 0)
    """
    label = group_label(value)
    return place_of(label if label == _MISSING else value, groups)


def accuracies(truth: Sequence[Any], predicted: Sequence[Any], groups: Sequence[Any]) -> tuple[GroupAccuracy, ...]:
    """Right answers of each group, the largest group first. Rows whose true answer is None count nowhere."""
    if not len(truth) == len(predicted) == len(groups):
        given = Phrase(f"{len(truth):,}, {len(predicted):,} and {len(groups):,}")
        raise InputError("groups", given, "a true answer, a predicted one and a group for each row")
    if all(true is None for true in truth):
        raise InputError("rows", Phrase("none"), "at least one row with a true answer")
    found: dict[str, list[int]] = {}
    for true, told, group in zip(truth, predicted, groups, strict=True):
        if true is not None:
            counts = found.setdefault(group_label(group), [0, 0])
            counts[0] += 1
            counts[1] += bool(true == told)
    listed = [GroupAccuracy(group, rows, right) for group, (rows, right) in found.items()]
    return tuple(sorted(listed, key=lambda one: -one.rows))


def columns_of(rows: Any, *names: str) -> list[list[Any]]:
    """Columns of a table in hand: columns by name, Arrow, pandas or Polars."""
    found = []
    for name in names:
        try:
            column = rows[name]
        except (KeyError, IndexError, TypeError, ValueError):
            known = list(rows) if isinstance(rows, Mapping) else list(getattr(rows, "column_names", ()))
            given = Phrase(f"no column {name!r} among {', '.join(map(str, known)) or 'none'}")
            raise InputError("rows", given, f"rows with the column {name!r}") from None
        for convert in ("to_pylist", "tolist", "to_list"):
            if hasattr(column, convert):
                column = getattr(column, convert)()
                break
        found.append(list(column))
    return found
