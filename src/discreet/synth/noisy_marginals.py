"""Noisy marginals as a file: what a release measured, for others to use, and what others bring along.

A JSON file says what the codes of each column stand for, and lists marginals: columns, counts, the variance of the
noise. docs/guides/synthetic.md has the format. Whatever is read from such a file is public already.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.column import Boolean, Category, Column, Date, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase, kind_of
from discreet.marginals.counts import Bins
from discreet.marginals.domain import Attribute, Domain, lattice_of
from discreet.marginals.meter import Noisy
from discreet.marginals.partition import Labels, Partition
from discreet.query.key import Bin, Key
from discreet.synth.calibration import Evidence
from discreet.synth.parts import MadeColumn, plain_columns

if TYPE_CHECKING:
    from discreet.synth.release import SyntheticRelease

__all__ = ["BroughtMarginal", "NoisyMarginals"]

FORMAT = "discreet-marginals"
VERSION = 1
_MOST_CELLS = 2**24
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class BroughtMarginal:
    """Noisy counts of some columns, one axis a column; where a column has `bins`, the axis is of these."""

    columns: tuple[str, ...]
    counts: NDArray[np.float64]
    variance: float
    bins: Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class NoisyMarginals:
    """Noisy marginals of one table, and what the codes of its columns stand for.

    A code is a value, None for a missing one, or [from, to]: all values from the first up to, and not with, the second.
    """

    codes: Mapping[str, tuple[Any, ...]]
    marginals: tuple[BroughtMarginal, ...]
    steps: Mapping[str, str]
    """For columns of numbers, the distance between two values, if it is not the declared one."""
    made: tuple[MadeColumn, ...] = ()
    """Columns that are made of several of these; none if all are as they are."""

    @classmethod
    def of_release(cls, release: SyntheticRelease) -> NoisyMarginals:
        """What was measured for a release: free, as it was published with the rows."""
        made, domain = release.made, release.domain
        marginals = []
        for place, noisy in enumerate(made.measured):
            bins = made.bins if made.bins is not None and place >= made.fine else None
            marginals.append(_brought(noisy, bins, domain))
        codes = {one.name: tuple(_code(label) for label in one.labels) for one in domain.attributes}
        steps = {one.name: str(one.partition.unit) for one in domain.attributes if one.partition is not None}
        parts = () if all(one.plain for one in release.parts) else release.parts
        return cls(codes, tuple(marginals), steps, parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        columns = []
        for name, codes in self.codes.items():
            entry: dict[str, Any] = {"name": name, "codes": [_plain(code) for code in codes]}
            columns.append(entry | ({"step": self.steps[name]} if name in self.steps else {}))
        marginals = []
        for one in self.marginals:
            counts = np.rint(one.counts).astype(np.int64) if np.all(one.counts == np.rint(one.counts)) else one.counts
            entry = {"columns": list(one.columns), "counts": counts.tolist(), "variance": one.variance}
            marginals.append(entry | ({"bins": {k: v.tolist() for k, v in one.bins.items()}} if one.bins else {}))
        whole = {"format": FORMAT, "version": VERSION, "columns": columns, "marginals": marginals}
        return whole | ({"made": [one.to_json() for one in self.made]} if self.made else {})

    @classmethod
    def from_dict(cls, entry: Any) -> NoisyMarginals:
        """From plain values, checked."""
        if not isinstance(entry, Mapping) or entry.get("format") != FORMAT:
            raise InputError("marginals", kind_of(entry), f'an object with "format": "{FORMAT}"')
        if entry.get("version") != VERSION:
            raise InputError("marginals.version", entry.get("version"), f"{VERSION}, the version that is read here")
        columns = _objects(entry, "columns", ("name", "codes"))
        codes = {str(one["name"]): tuple(_coded(code) for code in _list(one["codes"], "codes")) for one in columns}
        if len(codes) != len(columns) or not codes or not all(codes.values()):
            raise InputError("marginals.columns", list(codes), "different columns, each with codes")
        steps = {str(one["name"]): str(one["step"]) for one in columns if "step" in one}
        marginals = tuple(_marginal(one, codes) for one in _objects(entry, "marginals", ("columns", "counts")))
        covered = {name for one in marginals for name in one.columns}
        if missing := [name for name in codes if name not in covered]:
            raise InputError("marginals", missing[0], "marginals in which every column is at least once")
        made = _objects(entry, "made", ("name", "parts")) if "made" in entry else []
        parts = tuple(MadeColumn(str(one["name"]), tuple(map(str, one["parts"])), one.get("base")) for one in made)
        return cls(codes, marginals, steps, parts)

    def save(self, path: str | Path) -> None:
        """Write a JSON file."""
        Path(path).write_text(json.dumps(self.to_dict()), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> NoisyMarginals:
        """Read a JSON file."""
        try:
            return cls.from_dict(json.loads(Path(path).read_text(encoding="utf-8-sig")))
        except (OSError, UnicodeDecodeError, RecursionError, json.JSONDecodeError):
            raise InputError("marginals", str(path), "a JSON file that can be read") from None

    def domain(self, schema: Schema) -> tuple[Domain, dict[str, Column]]:
        """The codes as a domain, read against what a schema declares, and the declarations they amount to."""
        declared = {name: _declared(name, schema) for name in self.codes}
        found, columns = [], {}
        for name, codes in self.codes.items():
            attribute, columns[name] = _attribute(name, declared[name], codes, self.steps.get(name))
            found.append(attribute)
        return Domain(tuple(found)), columns

    def evidence(self, domain: Domain) -> list[Evidence]:
        """The marginals by places of columns, rising."""
        found = []
        for one in self.marginals:
            order = sorted(range(len(one.columns)), key=lambda axis: domain.place(one.columns[axis]))
            names = [one.columns[axis] for axis in order]
            counts = one.counts.transpose(order)
            variance = np.full(counts.size, one.variance)
            bins = tuple(one.bins.get(name) for name in names)
            found.append(Evidence(tuple(map(domain.place, names)), counts.shape, counts.ravel(), variance, bins))
        return found

    def columns(self, domain: Domain, schema: Schema) -> tuple[MadeColumn, ...]:
        """The columns of the table, and what each is made of."""
        made = self.made or plain_columns(domain)
        used = [part for one in made for part in one.parts]
        names = [one.name for one in made]
        if sorted(used) != sorted(domain.names) or len(set(names)) != len(names):
            raise InputError("marginals.made", used, "columns in which every column with codes is once")
        for one in made:
            if one.base is not None and one.base not in names:
                raise InputError("marginals.made", one.base, "a column of the table", among=names)
            schema.column(one.name, "marginals.made")
        return made


def _declared(name: str, schema: Schema) -> Column:
    try:
        return schema.column(name, "marginals")
    except InputError:  # whatever is wrong with it as an expression, it is none of the schema's columns
        hint = "Marginals are read against the schema of the table that they are of."
        raise InputError("marginals", name, "of declared columns", hint, among=list(schema.columns)) from None


def _brought(noisy: Noisy, bins: Bins | None, domain: Domain) -> BroughtMarginal:
    names = tuple(domain.names[column] for column in noisy.columns)
    merged = {} if bins is None else {domain.names[one]: np.asarray(bins[one]) for one in noisy.columns}
    merged = {name: one for name, one in merged.items() if not np.array_equal(one, np.arange(len(one)))}
    return BroughtMarginal(names, noisy.values.astype(np.float64), float(noisy.variance), merged)


def _code(label: Any) -> Any:
    return [label.start, label.end] if isinstance(label, Bin) else label


def _plain(code: Any) -> Any:
    """A code as JSON."""
    match code:
        case [start, end]:
            return [_plain(start), _plain(end)]
        case date():
            return code.isoformat()
        case Fraction():
            return int(code) if code.denominator == 1 else float(code)
        case _:
            return code


def _coded(value: Any) -> Any:
    if isinstance(value, list):
        if len(value) != 2 or any(isinstance(one, (list, dict, bool)) or one is None for one in value):
            raise InputError("marginals.codes", value, "[from, to], two numbers or days")
        return tuple(value)
    if isinstance(value, (dict, float)) and not (isinstance(value, float) and math.isfinite(value)):
        raise InputError("marginals.codes", kind_of(value), "a value, null, or [from, to]")
    return value


def _list(value: Any, field: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"marginals.{field}", kind_of(value), "a list")
    return value


def _objects(entry: Mapping[str, Any], field: str, needed: Sequence[str]) -> list[Mapping[str, Any]]:
    """A list of objects with these fields."""
    found = _list(entry.get(field), field)
    for one in found:
        if not isinstance(one, Mapping) or any(name not in one for name in needed):
            raise InputError(f"marginals.{field}", kind_of(one), f"objects with {' and '.join(needed)}")
    return found


def _marginal(entry: Mapping[str, Any], codes: Mapping[str, Sequence[Any]]) -> BroughtMarginal:
    names = tuple(map(str, _list(entry["columns"], "columns")))
    for name in names:
        if name not in codes:
            raise InputError("marginals.columns", name, "a column with codes", among=list(codes))
    if not names or len(set(names)) != len(names):
        raise InputError("marginals.columns", list(names), "different columns, at least one")
    bins = {}
    given = entry.get("bins", {})
    for name in given if isinstance(given, Mapping) else {}:
        one = np.array(_list(given[name], "bins"))
        whole = one.dtype.kind == "i" and one.shape == (len(codes[name]),) if name in names else False
        if not whole or not np.array_equal(np.unique(one), np.arange(one.max() + 1)):
            raise InputError(f"marginals.bins.{name}", Phrase("some list"), "a bin for each code, numbered from 0")
        bins[name] = one.astype(np.int64)
    shape = tuple(int(bins[name].max()) + 1 if name in bins else len(codes[name]) for name in names)
    if math.prod(shape) > _MOST_CELLS:
        raise InputError("marginals.counts", list(names), f"columns of at most {_MOST_CELLS:,} cells together")
    try:
        counts = np.array(entry["counts"], dtype=np.float64)
        variance = float(entry.get("variance", math.nan))
    except (TypeError, ValueError):
        raise InputError("marginals.counts", kind_of(entry["counts"]), "numbers, and a variance") from None
    if counts.size != math.prod(shape) or not np.isfinite(counts).all():
        size = Phrase(f"{counts.size:,} counts of {', '.join(names)}")
        raise InputError(
            "marginals.counts", size, f"{math.prod(shape):,} finite numbers, the last column moving fastest"
        )
    if not variance >= 0 or not math.isfinite(variance):
        raise InputError(
            "marginals.variance", entry.get("variance"), "the variance of the noise on each count, 0 or more"
        )
    return BroughtMarginal(names, counts.reshape(shape), variance, bins)


def _attribute(name: str, column: Column, codes: Sequence[Any], step: str | None) -> tuple[Attribute, Column]:
    field = f"marginals.columns.{name}"
    missing = codes[-1] is None
    known = codes[:-1] if missing else codes
    if any(code is None for code in known):
        raise InputError(field, Phrase("null in the middle"), "codes of which null, for a missing value, is the last")
    match column:
        case Category() | Text():
            values = tuple(map(str, known))
            if isinstance(column, Category) and (strange := [one for one in values if one not in column.values]):
                raise InputError(field, strange[0], "values that the schema declares", among=column.values)
            labels = (*values, None) if missing else values
            found = Category(values or ["(no value was found)"], nullable=missing)
            return Attribute(name, Key(name), labels, False, missing), found
        case Boolean():
            if list(known) != [False, True]:
                raise InputError(field, list(known), "[false, true], with null at the end if any may be missing")
            return Attribute(name, Key(name), tuple(codes), False, missing), replace(column, nullable=missing)
        case Integer() | Real() | Date():
            cut = _partition(field, column, known, step)
            kind = "date" if isinstance(column, Date) else "real" if isinstance(column, Real) else "integer"
            return Attribute(name, Key(name), Labels(cut, missing, kind), True, missing, cut), column
        case _:
            hint = "Its day and its time of day are columns of their own."
            raise InputError(field, Phrase("a timestamp"), "a column of numbers, days or categories", hint)


def _partition(field: str, column: Integer | Real | Date, codes: Sequence[Any], step: str | None) -> Partition:
    """Points and runs of them, one after the other without a gap."""
    _, unit, _ = lattice_of(column)
    try:
        unit = unit if step is None else Fraction(step)
        ends = [_ends(code, unit) for code in codes]
    except (ValueError, ZeroDivisionError, TypeError):
        raise InputError(field, Phrase("codes"), "numbers or days, or [from, to] of them") from None
    if not ends or unit <= 0:
        raise InputError(field, Phrase("no code"), "at least one value")
    origin = ends[0][0]
    lower, upper = _number(column.lower), _number(column.upper)
    starts, at = [], origin
    for (start, end), code in zip(ends, codes, strict=True):
        if start != at or end <= start or (start - origin) % unit != 0:
            allowed = f"codes that follow each other without a gap, in steps of {float(unit):.12g}"
            raise InputError(field, _plain(list(code) if isinstance(code, tuple) else code), allowed)
        starts.append(int((start - origin) / unit))
        at = end
    last = math.ceil((at - origin) / unit) - 1
    most = (upper - origin) // unit  # the last run may end beyond it, as even bins do
    if origin < lower or starts[-1] > most:
        raise InputError(field, Phrase("codes outside them"), "within the bounds that the schema declares")
    return Partition.of_starts(origin, unit, min(last, int(most)), starts)


def _ends(code: Any, unit: Fraction) -> tuple[Fraction, Fraction]:
    if isinstance(code, tuple | list):
        return _number(code[0]), _number(code[1])
    return _number(code), _number(code) + unit


def _number(value: Any) -> Fraction:
    """A number as it is written; a day as the number of days since 1970."""
    if isinstance(value, bool):
        raise ValueError("no number")
    if isinstance(value, str):
        value = date.fromisoformat(value)
    if isinstance(value, date):
        return Fraction((value - _EPOCH).days)
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)
