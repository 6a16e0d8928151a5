"""Rows from noisy marginals that somebody has: no private data, no ledger, no charge.

A graphical model holds as many of the marginals as a tree of bearable size can; rows drawn from it are weighted to
agree with the others. Whoever brings marginals along vouches for what they cost when they were made.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.release import harmless
from discreet.data.column import Column
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.marginals.counts import fold
from discreet.marginals.domain import Domain
from discreet.noise.replay import Replay
from discreet.query.predicate import Predicate
from discreet.synth.descent import Target
from discreet.synth.exclusions import read_conditions, repaired
from discreet.synth.junction import tree_cells
from discreet.synth.model import fit, noisy_total, simplex
from discreet.synth.noisy_marginals import BroughtMarginal, NoisyMarginals, joined_bins
from discreet.synth.parts import MadeColumn
from discreet.synth.rows import ColumnValues, shuffled, to_arrow
from discreet.synth.sample import Codes, deal
from discreet.synth.synthetic import check_rows, row_count
from discreet.synth.weighting import reweight

__all__ = ["FittedRows", "rows_from_marginals"]

CELLS = 50_000
"""How many cells the tree may have."""
_STEPS = 200
_TELLING = 1.5  # times the noise: the squares of a marginal that says something beyond single columns
_CLEAR = 4.0
_POOL = 200_000  # rows that are weighted
_LEAST = 1e-6


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
    codes, total, notes = _fitted(marginals, domain, rows)
    codes, values, changed = repaired(domain, declared, shuffled(codes), conditions, parts)
    if changed:
        notes.append(f"{changed:,} rows could not be and were changed")
    return FittedRows(domain, declared, parts, codes, values, tuple(notes), total)


def _fitted(given: NoisyMarginals, domain: Domain, rows: int | None) -> tuple[Codes, float, list[str]]:
    bins = joined_bins(given.marginals, given.codes)
    sizes = tuple(int(bins[name].max()) + 1 for name in domain.names)
    targets = [_folded(one, bins, domain) for one in given.marginals]
    total = max(noisy_total(targets), 1.0)
    alone = [one for one in targets if len(one.columns) == 1]
    several = [one for one in targets if len(one.columns) > 1]
    single = fit(sizes, alone or several, total=total, steps=_STEPS // 4) if alone else None
    telling = []
    for one in several:
        off = one.values - (one.values.mean() if single is None else single.marginal(one.columns))
        squares = float((off**2 / one.variance).sum())
        if squares >= _TELLING * off.size or bool((np.abs(off) > _CLEAR * np.sqrt(one.variance)).any()):
            noise = float(np.sqrt(one.variance * 2 / np.pi).sum())
            telling.append((noise - float(np.abs(off).sum()), one))
    held, loose = list(alone), list[Target]()
    for _, one in sorted(telling, key=lambda each: each[0]):
        fits = tree_cells(sizes, [*(other.columns for other in held), one.columns]) <= CELLS
        (held if fits else loose).append(one)
    model = fit(sizes, held or several[:1], total=total, steps=_STEPS)
    bits = Replay(b"fitted")
    count = row_count(rows, total)
    made = model.rows(count if not loose else max(min(round(total), _POOL), 1), bits)
    if loose:
        made = reweight(model, made, [*held, *loose]).rows(count, bits)
    notes = [
        f"{len(targets)} marginals: {len(held)} in a tree of {model.cells:,} cells, {len(loose)} by weights, "
        f"{len(several) - len(telling)} say no more than single columns",
        f"about {round(total):,} rows were counted",
    ]
    return _opened(made, bins, given, domain, bits), total, notes


def _folded(one: BroughtMarginal, bins: Mapping[str, NDArray[np.int64]], domain: Domain) -> Target:
    """A marginal in the bins that all have, its columns rising, with the variance of each sum."""
    order = sorted(range(len(one.columns)), key=lambda axis: domain.place(one.columns[axis]))
    values: NDArray[Any] = one.counts.transpose(order)
    many: NDArray[Any] = np.ones(values.shape)
    for axis, place in enumerate(order):
        name = one.columns[place]
        wide = bins[name]
        if name in one.bins:  # which bin of all each of its own bins is in
            wide = np.zeros(values.shape[axis], dtype=np.int64)
            wide[one.bins[name]] = bins[name]
        size = int(bins[name].max()) + 1
        values, many = fold(values, axis, wide, size), fold(many, axis, wide, size)
    columns = tuple(domain.place(one.columns[place]) for place in order)
    return Target(columns, values, np.maximum(many * one.variance, _LEAST))


def _opened(
    rows: Codes, bins: Mapping[str, NDArray[np.int64]], given: NoisyMarginals, domain: Domain, bits: Replay
) -> Codes:
    """Rows of bins as rows of codes: a bin's rows are dealt to its codes as single columns say, evenly if none does."""
    codes = rows.copy()
    for place, name in enumerate(domain.names):
        bin_of = bins[name]
        if np.array_equal(bin_of, np.arange(len(bin_of))):
            continue
        fine = [one for one in given.marginals if one.columns == (name,) and not one.bins]
        best = min(fine, key=lambda one: one.variance, default=None)
        shares = np.ones(len(bin_of))
        if best is not None:
            for one in range(int(bin_of.max()) + 1):
                inside = np.flatnonzero(bin_of == one)
                mass = float(best.counts[inside].sum())
                if mass > 0:
                    shares[inside] = simplex(best.counts[inside], mass)
        table = np.zeros((int(bin_of.max()) + 1, len(bin_of)))
        table[bin_of, np.arange(len(bin_of))] = shares
        codes[:, place] = deal(table, rows[:, place], bits)
    return codes
