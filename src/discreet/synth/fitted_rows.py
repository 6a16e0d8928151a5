"""Rows from noisy marginals that somebody has: no private data, no ledger, no charge.

Whoever brings marginals along vouches for what they cost when they were made.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.release import harmless
from discreet.data.column import Column
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.marginals.domain import Domain
from discreet.query.predicate import Predicate
from discreet.synth.exclusions import read_conditions, repaired
from discreet.synth.fitted_codes import fit_codes
from discreet.synth.noisy_marginals import NoisyMarginals
from discreet.synth.parts import MadeColumn
from discreet.synth.rows import ColumnValues, shuffled, to_arrow
from discreet.synth.sample import Codes
from discreet.synth.synthetic import check_rows

__all__ = ["FittedRows", "rows_from_marginals"]


@dataclass(frozen=True, eq=False)
class FittedRows:
    """Rows made from noisy marginals: the same ones whenever they are made."""

    domain: Domain
    declared: Mapping[str, Column]
    parts: tuple[MadeColumn, ...]
    codes: Codes
    values: Mapping[str, ColumnValues]
    notes: tuple[str, ...]
    total: float
    """How many rows the marginals are of, as far as noise lets one see."""

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(one.name for one in self.parts)

    def to_arrow(self) -> Any:
        """A pyarrow table, of the declared types."""
        import pyarrow

        return pyarrow.table({name: to_arrow(self.declared[name], self.values[name]) for name in self.columns})

    def to_pandas(self) -> Any:
        """A pandas frame."""
        return self.to_arrow().to_pandas()

    def to_csv(self, path: str | Path | None = None) -> str:
        """The rows as CSV; a missing value is empty, and text that a spreadsheet would run as a formula is quoted."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([harmless(name) for name in self.columns])
        columns = [column.to_pylist() for column in self.to_arrow().columns]
        writer.writerows([harmless(value) for value in row] for row in zip(*columns, strict=True))
        if path is not None:
            Path(path).write_bytes(out.getvalue().encode())
        return out.getvalue()

    def save(self, path: str | Path) -> None:
        """Write a .csv or .parquet file."""
        suffix = Path(path).suffix.lower()
        if suffix == ".parquet":
            import pyarrow.parquet

            pyarrow.parquet.write_table(self.to_arrow(), path)
        elif suffix == ".csv":
            self.to_csv(path)
        else:
            raise InputError("path", str(path), "a file that ends in .csv or .parquet")


def rows_from_marginals(
    schema: Schema,
    marginals: NoisyMarginals | Mapping[str, Any] | str | Path,
    *,
    rows: int | None = None,
    impossible: Iterable[str | Predicate] = (),
) -> FittedRows:
    """Rows that agree with noisy marginals, which may be those of a release, of an earlier one or of another system.

    `marginals` are a `NoisyMarginals`, its plain values, or the path of its JSON file. `rows` is how many rows to make,
    by default as many as there seem to be. Conditions that are `impossible` are met by no row.

    Guarantee
        Sees the marginals and public facts only, and costs nothing: what the marginals cost was paid by whoever made
        them. Nothing here checks that they are noisy.
    """
    check_rows(rows)
    if isinstance(marginals, str | Path):
        marginals = NoisyMarginals.load(marginals)
    elif not isinstance(marginals, NoisyMarginals):
        marginals = NoisyMarginals.from_dict(marginals)
    domain, declared = marginals.domain(schema)
    parts = marginals.columns(domain, schema)
    declared |= {one.name: schema.column(one.name) for one in parts if one.name not in declared}
    conditions = read_conditions(impossible, schema, domain, parts)
    fitted = fit_codes(domain.sizes, marginals.evidence(domain), rows)
    codes, values, changed = repaired(domain, declared, shuffled(fitted.codes), conditions, parts)
    notes = [*fitted.notes, f"about {round(fitted.total):,} rows were counted"]
    if changed:
        notes.append(f"{changed:,} rows were impossible and were changed")
    return FittedRows(domain, declared, parts, codes, values, tuple(notes), fitted.total)
