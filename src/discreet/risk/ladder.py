"""Coarser and coarser: a column's values step by step in wider groups, up to one group of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.risk.records import CodedColumn

__all__ = ["ANY", "Ladder", "label_all", "ladder_of"]

ANY = "*"
_STEPS = 6


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """For every step: which group each value falls in, and what the groups are called. Step 0 is the values."""

    groups: tuple[NDArray[np.int64], ...]
    labels: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int:
        return len(self.groups)

    def climb(self, column: CodedColumn, step: int) -> CodedColumn:
        """The column at a step."""
        return CodedColumn(self.groups[step][column.codes], self.labels[step], column.ordered)

    def loss(self, column: CodedColumn, step: int) -> float:
        """The part of what the column told that is lost at a step, on average over rows."""
        return float(self.lost(column, step).mean())

    def lost(self, column: CodedColumn, step: int) -> NDArray[np.float64]:
        """What each row loses at a step: 0 for the values, 1 for one group of all.

        (values in its group - 1) / (values - 1), the normalised certainty penalty.
        """
        group = self.groups[step]
        width = np.bincount(group)[group]
        return np.asarray((width - 1) / max(column.size - 1, 1))[column.codes]


def ladder_of(name: str, column: CodedColumn, how: Any = None) -> Ladder:
    """A ladder: from widths for numbers, (5, 10, 20); from a mapping of values to groups (each a name or a list of
    names, finest first); otherwise doubled widths for numbers, shortened codes for text of one length, and one step
    to `ANY` for other names.
    """
    if isinstance(how, Mapping):
        return _from_mapping(name, column, how)
    numbers = all(isinstance(value, int | float) for value in column.values if value is not None)
    if how is not None:
        if not numbers or not column.ordered:
            raise InputError(f"ladders.{name}", how, "a dictionary of values to groups: the column holds no numbers")
        return _widths(name, column, how, own=True)
    if numbers and column.ordered:
        there = [value for value in column.values if value is not None]
        span = float(max(there) - min(there)) if there else 0.0
        unit = 1.0 if all(isinstance(value, int) for value in there) else 10.0 ** np.floor(np.log10(span / 100 or 1))
        nice = [unit * factor * 10**power for power in range(9) for factor in (2, 5, 10)]
        return _widths(name, column, [width for width in nice if width < span][:_STEPS])
    lengths = {len(value) if isinstance(value, str) else 0 for value in column.values if value is not None}
    if len(lengths) == 1 and (length := lengths.pop()) > 1:
        kept = range(length - 1, 0, -1)
        return _build(column, [[_cut(value, left, length) for value in column.values] for left in kept])
    return _build(column, [])


def label_all(values: Sequence[Any]) -> str:
    """What one group of all values is called: codes of one length keep the signs that all of them begin with.

    >>> label_all([19104, 19139]), label_all(["red", "blue"])
    ('191**', '*')
    """
    words = [str(value) if isinstance(value, int | str) and not isinstance(value, bool) else "" for value in values]
    if len({len(word) for word in words}) != 1:
        return ANY
    same = next((place for place, signs in enumerate(zip(*words, strict=True)) if len(set(signs)) > 1), 0)
    return words[0][:same] + ANY * (len(words[0]) - same) if 0 < same < len(words[0]) else ANY


def _cut(value: Any, left: int, length: int) -> Any:
    return None if value is None else value[:left] + ANY * (length - left)


def _widths(name: str, column: CodedColumn, widths: Sequence[Any], *, own: bool = False) -> Ladder:
    steps = []
    for width in widths:
        if isinstance(width, bool) or not isinstance(width, int | float) or not 0 < width < float("inf"):
            raise InputError(f"ladders.{name}", width, "widths above zero")
        whole = all(isinstance(value, int) for value in column.values if value is not None) and width == int(width)
        steps.append([_band(value, int(width) if whole else width, whole) for value in column.values])
    return _build(column, steps, name if own else None)


def _band(value: Any, width: float, whole: bool) -> Any:
    if value is None:
        return None
    low = value // width * width
    return f"{low}-{low + width - 1}" if whole else f"[{low:g}, {low + width:g})"


def _from_mapping(name: str, column: CodedColumn, groups: Mapping[Any, Any]) -> Ladder:
    chains = []
    for value in column.values:
        if value is not None and value not in groups:
            raise InputError(f"ladders.{name}", value, "a group for every value of the column")
        chain = groups.get(value, [])
        chains.append(list(chain) if isinstance(chain, list | tuple) else [chain])
    depth = max(len(chain) for chain in chains)
    padded = [[*chain, *[chain[-1] if chain else None] * (depth - len(chain))] for chain in chains]
    return _build(column, [[chain[step] for chain in padded] for step in range(depth)], name)


def _build(column: CodedColumn, steps: list[list[Any]], name: str | None = None) -> Ladder:
    """Values, the steps given (those that change nothing left out), and one group of all.

    A step must put whole groups of the step before together; with `name` one that does not is refused, else left out.
    """
    groups, labels = [np.arange(column.size)], [column.values]
    for step in [*steps, [label_all(column.values)] * column.size]:
        named = tuple(dict.fromkeys(step))
        place = {label: index for index, label in enumerate(named)}
        group = np.array([place[label] for label in step], dtype=np.int64)
        merged = len(named) < len(labels[-1])
        nested = len({(int(a), int(b)) for a, b in zip(groups[-1], group, strict=True)}) == len(labels[-1])
        if not nested and name is not None:
            allowed = "steps that each put whole groups of the step before together, such as 5, 10, 20"
            raise InputError(f"ladders.{name}", Phrase(f"one that does not, step {len(groups)}"), allowed)
        if merged and nested:
            groups.append(group)
            labels.append(named)
    return Ladder(tuple(groups), tuple(labels))
