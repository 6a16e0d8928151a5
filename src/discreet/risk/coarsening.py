"""Redaction and coarsening to a target k, with what is lost by it: the old way, done well, and measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.release import harmless
from discreet.errors import InputError
from discreet.risk.ladder import Ladder, label_all, ladder_of
from discreet.risk.lattice import least_coarse
from discreet.risk.measures import PROMISE
from discreet.risk.mondrian import Boxes, boxes
from discreet.risk.records import CodedColumn, Records

__all__ = ["METHODS", "AnonymizedTable", "anonymize"]

METHODS = ("lattice", "mondrian")

_NAMED = 4  # more values than these are shown by the first and the last


@dataclass(frozen=True, slots=True, eq=False)
class AnonymizedTable:
    """The table after coarsening, the rows that were left out, and the part of the quasi columns' detail lost."""

    records: Records
    quasi: tuple[str, ...]
    kept: NDArray[np.bool_]
    k: int
    loss: float
    method: str
    steps: dict[str, int]
    columns: tuple[CodedColumn, ...]
    """The quasi columns as they were: what a value falls into can be asked of values of other tables."""
    cut: tuple[Ladder, ...] | Boxes
    least: bool = False
    """Whether no other steps lose less: known of the lattice, unless there were too many to look at."""

    @property
    def redacted(self) -> int:
        """Rows left out."""
        return int((~self.kept).sum())

    @property
    def untouched(self) -> tuple[str, ...]:
        """Other columns, shown as they were, with values that fewer than k rows share: names and numbers of people."""
        others = [name for name in self.records.columns if name not in self.quasi]
        counted = {name: np.bincount(self.records[name].codes) for name in others}
        return tuple(name for name, counts in counted.items() if ((counts > 0) & (counts < self.k)).any())

    def to_arrow(self, spelled: Callable[[Any], Any] = lambda value: value) -> Any:
        """The rows that may be shown, in the order they had; values spelled another way if asked."""
        import pyarrow as pa

        taken = {}
        for name, column in self.records.columns.items():
            values = [spelled(value) for value in column.values]
            mixed = len({type(value) for value in values if value is not None}) > 1
            shown = [None if value is None else str(value) for value in values] if mixed else values
            taken[name] = pa.array(shown).take(pa.array(column.codes))
        return pa.table(taken)

    def write(self, path: Any) -> None:
        """To .csv or .parquet; text that a spreadsheet would run as a formula is quoted."""
        from pathlib import Path

        import pyarrow.csv
        import pyarrow.parquet

        place = Path(path)
        match place.suffix.lower():
            case ".csv":
                pyarrow.csv.write_csv(self.to_arrow(harmless), place)
            case ".parquet":
                pyarrow.parquet.write_table(self.to_arrow(), place)
            case _:
                raise InputError("out", place.name, "a file that ends in .csv or .parquet")

    def explain(self) -> str:
        """What was done, and what it does not promise."""
        how = f"each column coarsened to one step: {self.steps}" if self.steps else "boxes of nearby rows"
        if self.steps and not self.least:
            how += "; not known to be the least loss: too many combinations of steps to try all"
        left = ", ".join(self.untouched)
        beware = "" if not left else f"\nShown as they were, with values that fewer than {self.k} rows share: {left}. "
        drop = "" if not left else "Drop what an outsider may know of these, or coarsen it too."
        return (
            f"k = {self.k} on {', '.join(self.quasi)} by {self.method} ({how}). {self.redacted:,} rows left out; "
            f"{self.loss:.1%} of what these columns told is lost.{beware}{drop}\n{PROMISE}"
        )

    def __str__(self) -> str:
        return self.explain()


def anonymize(
    data: Any,
    *,
    quasi: Iterable[str],
    k: int,
    method: str = "lattice",
    ladders: Mapping[str, Any] | None = None,
    redact: float = 0.01,
    sensitive: str | None = None,
    diverse: int = 1,
    drop: Iterable[str] = (),
) -> AnonymizedTable:
    """Make every row look like at least k - 1 others on the `quasi` columns.

    "lattice" coarsens whole columns along their ladders and leaves out up to the part `redact` of the rows, with the
    least loss there is. "mondrian" cuts the table into boxes and leaves nothing out; with `sensitive`, every box keeps
    at least `diverse` different values of it. `drop` names columns to leave out altogether, such as names.
    """
    if method not in METHODS:
        raise InputError("method", method, among=METHODS)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InputError("k", k, "a whole number of at least 1")
    if not 0 <= redact < 1:
        raise InputError("redact", redact, "a part of the rows, at least 0 and below 1")
    names = tuple(dict.fromkeys([name.strip() for name in quasi.split(",")] if isinstance(quasi, str) else quasi))
    dropped = set(drop)
    everything = Records.read(data)
    if not names:
        raise InputError("quasi", [], "at least one column that an outsider may know")
    columns = [everything[name] for name in names]
    if k > everything.rows:
        raise InputError("k", k, f"at most the {everything.rows:,} rows there are")
    rest = {name: column for name, column in everything.columns.items() if name not in dropped}
    if isinstance(diverse, bool) or not isinstance(diverse, int) or diverse < 1:
        raise InputError("diverse", diverse, "a whole number of at least 1")
    if diverse > 1 and sensitive is None:
        raise InputError("diverse", diverse, "left out without a sensitive column, whose values are to differ")
    if sensitive is not None and diverse > (there := len(np.unique(everything[sensitive].codes))):
        raise InputError("diverse", diverse, f"at most the {there:,} values that {sensitive} has")
    if method == "mondrian":
        found = boxes(columns, k, None if sensitive is None else everything[sensitive], diverse)
        made, loss = _label_boxes(names, columns, found)
        cut: tuple[Ladder, ...] | Boxes = found
        kept = np.ones(everything.rows, dtype=bool)
        steps: dict[str, int] = {}
        least = False
    else:
        if diverse > 1:
            raise InputError("diverse", diverse, "1 for the lattice", "Use method='mondrian' for diverse classes.")
        chosen = dict(ladders or {})
        climbs = tuple(ladder_of(name, column, chosen.get(name)) for name, column in zip(names, columns, strict=True))
        cut = climbs
        node = least_coarse(columns, climbs, k, int(redact * everything.rows))
        kept, loss, least = ~node.redacted, node.loss, node.least
        steps = dict(zip(names, node.steps, strict=True))
        made = {
            name: climb.climb(column, step)
            for name, column, climb, step in zip(names, columns, climbs, node.steps, strict=True)
        }
    records = Records({**rest, **{name: made[name] for name in names if name not in dropped}}, everything.rows)
    taken = records.taken(np.flatnonzero(kept))
    return AnonymizedTable(taken, names, kept, k, loss, method, steps, tuple(columns), cut, least)


def _label_boxes(
    names: Sequence[str], columns: Sequence[CodedColumn], cut: Boxes
) -> tuple[dict[str, CodedColumn], float]:
    made, losses = {}, []
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        low, high = cut.low[:, place], cut.high[:, place]
        labels = [_label_span(column, int(a), int(b)) for a, b in zip(low, high, strict=True)]
        named = tuple(dict.fromkeys(labels))
        index = {label: code for code, label in enumerate(named)}
        codes = np.array([index[label] for label in labels], dtype=np.int64)[cut.of]
        made[name] = CodedColumn(codes, named, column.ordered)
        losses.append(float((high - low)[cut.of].mean()) / max(column.size - 1, 1))
    return made, sum(losses) / len(losses)


def _label_span(column: CodedColumn, low: int, high: int) -> Any:
    """The values of a box as one label."""
    if low == high:
        return column.values[low]
    if low == 0 and high == column.size - 1:
        return label_all(column.values)
    named = ["(missing)" if value is None else str(value) for value in column.values[low : high + 1]]
    return " or ".join(named) if len(named) <= _NAMED and not column.ordered else f"{named[0]}..{named[-1]}"
