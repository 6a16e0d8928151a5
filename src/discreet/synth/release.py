"""A published synthetic table: rows to use anywhere, at no further cost."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.publication import Publication, rows_table
from discreet.core.release import Release, harmless, plural, with_notes, write_notes
from discreet.data.column import Column, column_from
from discreet.data.schema import Schema
from discreet.errors import InputError, MissingExtraError
from discreet.ledger.door import Answer
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Noisy
from discreet.query.predicate import Predicate, checked, predicate_from
from discreet.show import Table
from discreet.synth.exclusions import holds, repaired
from discreet.synth.parts import MadeColumn, agreed, plain_columns
from discreet.synth.record import domain_from, synthetic_from
from discreet.synth.rows import ColumnValues, key_column, to_arrow
from discreet.synth.sample import Codes
from discreet.synth.sampler import Sampler, draw_until, read_subset
from discreet.synth.synthetic import Synthetic, check_rows, cut_note

if TYPE_CHECKING:
    from discreet.synth.noisy_marginals import NoisyMarginals
    from discreet.synth.proposals import ProposedCondition
    from discreet.synth.report import Report

__all__ = ["SyntheticRelease"]

_SHOWN = 10
_GROUP = 2**17  # rows of a file that are written at once, and can be read so


@dataclass(frozen=True)
class SyntheticRelease(Publication):
    """Rows that are nobody's, as the ledger holds them: the same rows whenever they are read.

    `codes` are the rows as numbers, in the columns of `domain`; `measured` the noisy marginals they were made from.
    """

    method: str
    domain: Domain
    declared: dict[str, Column]
    """Of attributes and columns."""
    parts: tuple[MadeColumn, ...]
    """The columns, and the attributes each is made of."""
    impossible: tuple[Predicate, ...]
    keys: tuple[tuple[str, str | int], ...]
    made: Synthetic
    sampler: Sampler | None = field(default=None, compare=False)
    """What more rows are made from; None where an older version recorded less."""
    subset: Predicate | None = None
    """What all rows meet, where it was asked for: others that were drawn are left out."""
    most: int | None = None

    @classmethod
    def read(cls, answer: Answer, cost: str, remaining: str) -> SyntheticRelease:
        """From an answer on the ledger."""
        result: Any = answer.result
        entry = result["synth"]
        drawn: Any = answer.measured
        domain, declared = domain_from(entry["domain"])
        parts = tuple(MadeColumn.from_json(one) for one in entry.get("columns", ())) or plain_columns(domain)
        declared |= {one["name"]: column_from(one["name"], one["declared"]) for one in entry.get("columns", ())}
        schema = Schema(answer.dataset, declared)
        query: Any = answer.query
        sampler = None
        if "sampler" in entry:
            workload = query["synth"]["workload"]
            sampler = Sampler.from_json(entry["sampler"], domain, workload, drawn, entry["method"])
        return cls(
            **answer.provenance(cost, remaining),
            method=entry["method"],
            domain=domain,
            declared=declared,
            parts=parts,
            impossible=tuple(checked(predicate_from(one), schema) for one in entry["impossible"]),
            keys=tuple((name, form) for name, form in entry["keys"]),
            made=synthetic_from(entry["made"], drawn),
            sampler=sampler,
            stale=answer.stale,
            caveats=answer.caveats,
        )

    @cached_property
    def _rows(self) -> tuple[Codes, dict[str, ColumnValues], int]:
        codes, drawn, changed = repaired(self.domain, self.declared, self.made.codes, self.impossible, self.parts)
        if self.subset is None:
            return codes, drawn, changed
        rows = np.flatnonzero(holds(self.subset, drawn, self.domain))[: self.most]
        return codes[rows], {name: one.taken(rows) for name, one in drawn.items()}, changed

    @property
    def codes(self) -> Codes:
        """The rows as codes, one column for each of the domain's."""
        return self._rows[0]

    @property
    def drawn(self) -> dict[str, ColumnValues]:
        """Values of attributes and columns as numbers: codes of categories and booleans, days or seconds since 1970."""
        return self._rows[1]

    @property
    def counts(self) -> ArrayCounts:
        """Counts of the synthetic rows, any marginal of them."""
        return ArrayCounts(self.domain, self.codes)

    @property
    def measured(self) -> tuple[Noisy, ...]:
        """The noisy marginals."""
        return self.made.measured

    @property
    def total(self) -> float:
        """How many rows the private table is estimated to have."""
        return self.made.total

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, keys first."""
        return (*(name for name, _ in self.keys), *(one.name for one in self.parts))

    @property
    def notes(self) -> tuple[str, ...]:
        """How the rows were made, what is left out of them, and whether they may be of earlier data."""
        return (*self.remarks, *(note.rstrip(".") for note in super().notes))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What there is to know about how the rows were made."""
        changed = self._rows[2]
        fixed = (f"{changed:,} rows were impossible and were changed",) if changed else ()
        about = f"about {round(self.total):,} rows were counted" if self.total >= 1 else "hardly a row was counted"
        sifted: tuple[str, ...] = ()
        if self.subset is not None:
            sifted = (f"{len(self.made.codes):,} rows were drawn for {len(self):,} that meet the condition",)
        cut = cut_note(len(self.made.codes), self.total)
        return (*self.made.notes, about, *(() if cut is None else (cut,)), *fixed, *sifted)

    def __len__(self) -> int:
        return len(self.made.codes if self.subset is None else self.codes)

    def sample(
        self, rows: int | None = None, where: str | Predicate | Mapping[str, Any] | None = None
    ) -> SyntheticRelease:
        """More rows of this release, or rows that meet a condition, from what is on record: free.

        `where` is a condition on the columns, "sector = 'care' and age >= 30", or values by column,
        {"sector": "care"}. Without `rows` there are as many as there seem to be in the private table. The same request
        gives the same rows.
        """
        check_rows(rows)
        if self.sampler is None:
            hint = "Publish it again by the plan that it was paid with: curator.publish(id, rows=...). That is free."
            raise InputError("release", self.id, "one that was recorded with what more rows are made from", hint)
        if where is None:
            return replace(self, made=self._drawn(self.sampler, rows), subset=None, most=None)
        condition = read_subset(where, Schema(self.dataset, self.declared), [one.name for one in self.parts])
        if rows is None:
            return self._sifted(None, condition, None)
        sifted: dict[int, SyntheticRelease] = {}

        def draw(many: int) -> int:
            sifted[many] = self._sifted(many, condition, rows)
            return len(sifted[many])

        return sifted[draw_until(draw, rows)]

    def _sifted(self, many: int | None, condition: Predicate, most: int | None) -> SyntheticRelease:
        """Those of so many rows that meet a condition, at most so many of them."""
        if self.sampler is None:
            return self
        return replace(self, made=self._drawn(self.sampler, many), subset=condition, most=most)

    def _drawn(self, sampler: Sampler, rows: int | None) -> Synthetic:
        """Other rows of codes, whose parts agree on what is missing."""
        made = sampler.rows(rows)
        return replace(made, codes=agreed(self.domain, self.parts, made.codes))

    @cached_property
    def _table(self) -> Any:
        return self._group(0, len(self))

    def _group(self, first: int, end: int) -> Any:
        """Some rows as an Arrow table."""
        import pyarrow

        found = {name: key_column(form, end).slice(first) for name, form in self.keys}
        for one in self.parts:
            found[one.name] = to_arrow(self.declared[one.name], self.drawn[one.name].taken(slice(first, end)))
        return with_notes(pyarrow.table(found), self.table_notes())

    def tables(self) -> dict[str, Release]:
        """The rows, as a table."""
        return {"rows": rows_table(self._table.to_pydict(), self)}

    @property
    def heading(self) -> str:
        """What it is, in a few words."""
        return f"{plural(len(self), 'synthetic row')}, by {self.method}"

    def shown(self) -> tuple[Any, ...]:
        """The first rows."""
        rows = [[_cell(value) for value in row.values()] for row in self._group(0, min(len(self), _SHOWN)).to_pylist()]
        caption = f"{len(rows)} of {len(self):,}. No row belongs to a person; any resemblance is chance."
        return (Table.of(self.columns, rows, caption, numbers=()),)

    def to_dict(self) -> dict[str, Any]:
        """Plain values that say what it is, without its rows."""
        summary = {**super().to_dict(), "method": self.method, "rows": len(self)}
        return {**summary, "columns": list(self.columns), "notes": list(self.notes)}

    def to_arrow(self) -> Any:
        """A pyarrow table, of the declared types."""
        return self._table

    def to_pandas(self) -> Any:
        """A pandas frame; its notes are in `attrs`."""
        frame = self._table.to_pandas()
        frame.attrs["notes"] = [note.to_dict() for note in self.table_notes()]
        return frame

    def to_polars(self) -> Any:
        """A Polars frame."""
        try:
            import polars
        except ImportError:
            raise MissingExtraError("polars", "polars") from None
        return polars.from_arrow(self._table)

    def to_csv(self, path: str | Path | None = None) -> str:
        """The rows as CSV; a missing value is empty, and text that a spreadsheet would run as a formula is quoted."""
        columns = [column.to_pylist() for column in self._table.columns]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([harmless(name) for name in self.columns])
        writer.writerows([harmless(value) for value in row] for row in zip(*columns, strict=True))
        if path is not None:
            Path(path).write_bytes(out.getvalue().encode())
            write_notes(path, self.table_notes())
        return out.getvalue()

    def save(self, path: str | Path) -> Path:
        """Write the rows to a .csv or .parquet file."""
        place = Path(path)
        match place.suffix.lower():
            case ".csv":
                self.to_csv(place)
            case ".parquet":
                import pyarrow.parquet

                with pyarrow.parquet.ParquetWriter(place, self._group(0, 0).schema) as file:
                    for first in range(0, max(len(self), 1), _GROUP):
                        file.write_table(self._group(first, min(first + _GROUP, len(self))))
            case ending:
                raise InputError("path", ending or str(place), "a file that ends in .csv or .parquet")
        return place

    def report(
        self, asks: Iterable[str | Predicate] | None = None, *, copies: int = 6, confidence: float = 0.95
    ) -> Report:
        """How good the rows are, from the release alone: free, and fit to be published.

        `asks` are questions, "age >= 25 and sex = 'F'" for a share or "mean(pay) where age >= 25"; without any, some
        are chosen. `copies` says how many other tables are drawn to show how much is chance.
        """
        from discreet.synth.report import report

        return report(self, asks, copies=copies, confidence=confidence)

    def compare(
        self,
        real: Any,
        asks: Iterable[str | Predicate] | None = None,
        *,
        not_private: bool = False,
        target: str | None = None,
        copies: int = 6,
        confidence: float = 0.95,
    ) -> Report:
        """How near the rows are to the real ones: for the owner's eyes, not a release.

        `real` is a table that the caller has in hand. Nothing in the report is private, so `not_private=True` must be
        said. `target` is the column that a model learns to predict from synthetic rows.
        """
        from discreet.synth.report import compare

        return compare(self, real, asks, not_private=not_private, target=target, copies=copies, confidence=confidence)

    def marginals(self) -> NoisyMarginals:
        """The noisy marginals that the rows were made from, for `save` to a file: others may make rows of them."""
        from discreet.synth.noisy_marginals import NoisyMarginals

        return NoisyMarginals.of_release(self)

    def propose_conditions(self, *, most: int = 20, confidence: float = 0.95) -> tuple[ProposedCondition, ...]:
        """Conditions that hardly a row of the data seems to meet, from the noisy marginals alone: free.

        They are for a person to confirm, and then to be given as `impossible`; nothing is applied by itself.
        """
        from discreet.synth.proposals import proposed_conditions

        return proposed_conditions(self, most=most, confidence=confidence)

    def __repr__(self) -> str:
        head = self._table.slice(0, _SHOWN)
        shown = [list(self.columns), *([_cell(value) for value in row.values()] for row in head.to_pylist())]
        widths = [max(len(row[place]) for row in shown) for place in range(len(self.columns))]
        lines = ["  ".join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)).rstrip() for row in shown]
        if len(self) > _SHOWN:
            lines.append(f"... {len(self) - _SHOWN:,} more rows")
        lines += [f"Note: {note.text}" for note in self.table_notes()]
        return "\n".join([*lines, f"[synthetic rows of {self.dataset!r}, by {self.method}; {self.about}]"])


def _cell(value: Any) -> str:
    return "-" if value is None else f"{value:.12g}" if isinstance(value, float) else str(value)
