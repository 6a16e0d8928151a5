"""Redaction and coarsening to a target k, with what is lost by it: the old way, done well, and measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.release import harmless
from discreet.errors import InputError
from discreet.risk.criteria import Criteria
from discreet.risk.ladder import Ladder, label_all, ladder_of
from discreet.risk.lattice import least_coarse
from discreet.risk.measures import PROMISE, read_names
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
    criteria: Criteria = field(default_factory=Criteria)
    tried: int = 0
    """Combinations of steps that were looked at."""
    stopped: bool = False
    """Whether the search was interrupted."""

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

    def without(self, names: Iterable[str]) -> AnonymizedTable:
        """The same without some columns, such as those that name people."""
        gone = set(names)
        rest = {name: column for name, column in self.records.columns.items() if name not in gone}
        return replace(self, records=Records(rest, self.records.rows))

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
            f"{self.criteria} on {', '.join(self.quasi)} by {self.method} ({how}). {self.redacted:,} rows left out; "
            f"{self.loss:.1%} of the information in these columns is lost.{beware}{drop}\n{PROMISE}"
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
    sensitive: str | Iterable[str] | None = None,
    diverse: int = 1,
    close: float = 1.0,
    beta: float = math.inf,
    person: str | None = None,
    drop: Iterable[str] = (),
    seconds: float | None = None,
    start: Mapping[str, int] | None = None,
) -> AnonymizedTable:
    """Make every row look like at least k - 1 others on the `quasi` columns.

    "lattice" coarsens whole columns along their ladders and leaves out up to the part `redact` of the rows, with the
    least loss that is found within `seconds` (or a stated amount of work). "mondrian" cuts the table into boxes and
    leaves nothing out. With `sensitive`, every class keeps at least `diverse` different values of each (l-diversity);
    with the lattice a class is also at most `close` away from everybody (t-closeness), and no value is more than
    1 + `beta` times as common in it (beta-likeness). With `person`, the column that says whose row it is, k counts
    people (lattice). `drop` names columns to leave out altogether, such as names. `start` are steps to try
    first, those of another coarsening of this table.
    """
    if method not in METHODS:
        raise InputError("method", method, among=METHODS)
    if isinstance(diverse, bool) or not isinstance(diverse, int) or diverse < 1:
        raise InputError("diverse", diverse, "a whole number of at least 1")
    criteria = Criteria(k, diverse, close, beta)
    if not 0 <= redact < 1:
        raise InputError("redact", redact, "a part of the rows, at least 0 and below 1")
    if seconds is not None and not seconds > 0:
        raise InputError("seconds", seconds, "more than zero")
    names = tuple(dict.fromkeys([name.strip() for name in quasi.split(",")] if isinstance(quasi, str) else quasi))
    dropped = set(drop)
    everything = Records.read(data)
    if not names:
        raise InputError("quasi", [], "at least one column that an outsider may know")
    columns = [everything[name] for name in names]
    secrets = () if sensitive is None else read_names(sensitive, "sensitive")
    _check(everything, criteria, names, secrets, person, method)
    rest = {name: column for name, column in everything.columns.items() if name not in dropped}
    if method == "mondrian":
        found = boxes(columns, k, everything[secrets[0]] if secrets else None, diverse)
        made, loss = _label_boxes(names, columns, found)
        cut: tuple[Ladder, ...] | Boxes = found
        kept = np.ones(everything.rows, dtype=bool)
        steps: dict[str, int] = {}
        least, tried, stopped = False, 0, False
    else:
        chosen = dict(ladders or {})
        climbs = tuple(ladder_of(name, column, chosen.get(name)) for name, column in zip(names, columns, strict=True))
        cut = climbs
        hidden = [everything[name] for name in secrets]
        whose = None if person is None else everything[person]
        most = int(redact * everything.rows)
        first = None if start is None else tuple(start[name] for name in names)
        given: dict[str, Any] = {"secrets": hidden, "person": whose, "start": first, "seconds": seconds}
        node = least_coarse(columns, climbs, criteria, most, **given)
        kept, loss, least, tried, stopped = ~node.redacted, node.loss, node.least, node.tried, node.stopped
        steps = dict(zip(names, node.steps, strict=True))
        made = {
            name: climb.climb(column, step)
            for name, column, climb, step in zip(names, columns, climbs, node.steps, strict=True)
        }
    records = Records({**rest, **{name: made[name] for name in names if name not in dropped}}, everything.rows)
    taken = records.taken(np.flatnonzero(kept))
    how: dict[str, Any] = {"least": least, "criteria": criteria, "tried": tried, "stopped": stopped}
    return AnonymizedTable(taken, names, kept, k, loss, method, steps, tuple(columns), cut, **how)


def _check(
    everything: Records,
    criteria: Criteria,
    names: Sequence[str],
    secrets: Sequence[str],
    person: str | None,
    method: str,
) -> None:
    """Refuse what cannot be had."""
    if both := sorted(set(secrets) & set(names)):
        raise InputError("sensitive", both, "different from the quasi columns")
    if person is not None and person in (*names, *secrets):
        raise InputError("person", person, "a column that is neither quasi nor sensitive")
    whose = None if person is None else len(np.unique(everything[person].codes))
    if whose is not None and criteria.k > whose:
        raise InputError("k", criteria.k, f"at most the {whose:,} people there are")
    if criteria.k > everything.rows:
        raise InputError("k", criteria.k, f"at most the {everything.rows:,} rows there are")
    if criteria.of_secrets and not secrets:
        field, value = ("diverse", criteria.l) if criteria.l > 1 else ("close", criteria.t)
        raise InputError(field, value, "left out without a sensitive column, whose values are to differ")
    for name in secrets:
        if criteria.l > (there := len(np.unique(everything[name].codes))):
            raise InputError("diverse", criteria.l, f"at most the {there:,} values that {name} has")
    if method == "mondrian" and (criteria.compares or person is not None or len(secrets) > 1):
        hint = "Only method='lattice' keeps t, beta, people or several sensitive columns."
        raise InputError("method", method, "lattice for these criteria", hint)


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
