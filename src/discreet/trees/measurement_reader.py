"""Reading noisy measurement files back: every method, rule, interval, sum and map, for free and without a ledger."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.note import Note
from discreet.core.signature import typed
from discreet.data.column import Text
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase, kind_of
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.inputs import read_confidence
from discreet.mechanisms.record import noise_to
from discreet.trees.ask import RULES
from discreet.trees.declaration import resolve_rules
from discreet.trees.magnitude import Magnitude
from discreet.trees.measurement import Level, Margin, Measurement, Noise
from discreet.trees.measurement_file import (
    COUNTS,
    DESCRIPTION,
    FORMAT,
    MARGINS,
    NUMBERS,
    POOLED,
    REGIONS,
    TOTALS,
    VERSION,
    cell_column,
    label_type,
    margin_query,
    written,
)
from discreet.trees.queries import margin_axes
from discreet.trees.release import TreeRelease
from discreet.trees.rules import Rules
from discreet.trees.tree import Hierarchy

__all__ = ["law_from", "read_measurements", "read_regions"]

_SCHEMA = Schema("measurements", {"level": Text()})  # rules name levels and cells, and no columns of a table
_LAWS = {"laplace": Laplace, "gaussian": Gaussian}
_TEXTS = ("release", "dataset", "cost", "protects", "mechanism", "digest", "data", "method", "counted", "stale")


@typed
def read_measurements(
    folder: str | Path, *, method: str | None = None, rules: Rules | None = None, confidence: float | None = None
) -> TreeRelease:
    """A hierarchy made of noisy measurement files, as `TreeRelease.save_measurements` wrote them. Costs nothing.

    By the method, the rules and the confidence of the release it came from, unless others are given: the numbers are
    then those of the release. No ledger is needed and nothing private is read: the noisy numbers were paid for.
    """
    directory = Path(folder)
    for name in (DESCRIPTION, REGIONS, NUMBERS):
        if not (directory / name).is_file():
            raise InputError("folder", str(folder), f"a folder with {DESCRIPTION}, {REGIONS} and {NUMBERS}")
    about = _description(directory / DESCRIPTION)
    tree = read_regions(directory / REGIONS, [level["name"] for level in about["levels"]])
    by = tuple((one["column"], tuple(one["labels"])) for one in about["cells"])
    levels = _levels(directory / NUMBERS, about["levels"], tree, by)
    shape = tuple(len(labels) for _, labels in by) if any(level.margins for level in levels) else ()
    measured = Measurement(tree, levels, about["cumulative"], shape, about[POOLED])
    release = TreeRelease(
        id=about["release"],
        **{
            name: about[name]
            for name in ("dataset", "cost", "mechanism", "digest", "data", "stale", "protects", "counted")
        },
        remaining="",
        replayed=True,
        caveats=about["notes"],
        confidence=about["confidence"],
        by=by,
        cumulative=about["cumulative"],
        method=about["method"],
        measured=measured,
        _published=None,
        rules=resolve_rules(about["rules"], tree, by),
        largest=about["largest"],
        magnitude=about["measure"],
        step=about["step"],
        rounding=about["rounding"],
    )
    return release.again(about["method"] if method is None else method, rules=rules, confidence=confidence)


def _description(path: Path) -> dict[str, Any]:
    """What the files hold, with every field checked."""
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise InputError(DESCRIPTION, Phrase("no JSON"), "as it was written") from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InputError(f"{DESCRIPTION}: format", _got(about, "format"), f"{FORMAT!r}")
    if about.get("version") != VERSION:
        raise InputError(f"{DESCRIPTION}: version", about.get("version"), f"{VERSION}: all that is read here")
    for name in _TEXTS:
        if not isinstance(about.get(name), str):
            raise InputError(f"{DESCRIPTION}: {name}", about.get(name), "text")
    _read_magnitude(about)
    if not isinstance(about.setdefault(POOLED, ""), str):
        raise InputError(f"{DESCRIPTION}: {POOLED}", kind_of(about[POOLED]), "text, or left out")
    about[POOLED] = bool(about[POOLED])
    largest = about.setdefault("largest", None)
    if largest is not None and (type(largest) is not int or largest < 1):
        raise InputError(f"{DESCRIPTION}: largest", largest, "the last size of groups, or left out")
    about["confidence"] = float(read_confidence(about.get("confidence", "")))
    if not isinstance(about.get("cumulative"), bool):
        raise InputError(f"{DESCRIPTION}: cumulative", about.get("cumulative"), "true or false")
    for name, fields in (("cells", ("column", "labels")), ("levels", ("name", COUNTS, TOTALS))):
        listed = about.get(name)
        if not isinstance(listed, list) or not all(isinstance(one, dict) and set(fields) <= set(one) for one in listed):
            raise InputError(f"{DESCRIPTION}: {name}", kind_of(listed), f"a list of objects with {', '.join(fields)}")
    for one in about["cells"]:
        if not isinstance(one["column"], str) or not isinstance(one["labels"], list) or not one["labels"]:
            raise InputError(f"{DESCRIPTION}: cells", kind_of(one["labels"]), "columns, each with a list of labels")
    names = [level["name"] for level in about["levels"]]
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise InputError(f"{DESCRIPTION}: levels", names, "levels with different names, the root first")
    for level in about["levels"]:
        for query in (COUNTS, TOTALS):
            level[query] = law_from(level[query], f"{DESCRIPTION}: {query} of {level['name']}")
        margins = level.setdefault(MARGINS, {})
        if not isinstance(margins, dict):
            raise InputError(f"{DESCRIPTION}: {MARGINS} of {level['name']}", kind_of(margins), "an object by query")
        columns = tuple(one["column"] for one in about["cells"])
        found: dict[tuple[int, ...], Noise] = {}
        for query, entry in margins.items():
            field = f"{DESCRIPTION}: {MARGINS} of {level['name']}"
            axes, noise = margin_axes(query.removeprefix("by "), columns, field), law_from(entry, field)
            if not 0 < len(axes) < len(columns) or noise is None or axes in found:
                raise InputError(field, query, "a margin of some but not all columns, each once, with its noise")
            found[axes] = noise
        level[MARGINS] = found
    declared = about.get("declared", [])
    if not isinstance(declared, list) or not all(isinstance(one, str) for one in declared):
        raise InputError(f"{DESCRIPTION}: declared", kind_of(declared), "a list of sentences, one for each rule")
    about["rules"] = replace(RULES.read(about.get("rules", {}), _SCHEMA), declared=tuple(declared))
    try:
        about["notes"] = tuple(map(Note.from_dict, about.get("notes", ())))
    except (KeyError, TypeError):
        raise InputError(f"{DESCRIPTION}: notes", kind_of(about["notes"]), "a list of notes") from None
    return about


def _read_magnitude(about: dict[str, Any]) -> None:
    """What is summed, and in which units; files of counts do not say."""
    entry = about.get("measure")
    about["measure"] = Magnitude.from_dict(entry)
    if entry is not None and about["measure"] is None:
        raise InputError(f"{DESCRIPTION}: measure", kind_of(entry), "an object with the name of a column")
    for name in ("step", "rounding"):
        text = about.get(name, "1")
        try:
            about[name] = Fraction(text)
        except (TypeError, ValueError, ZeroDivisionError):
            about[name] = Fraction(0)
        if about[name] <= 0 or (about[name] / about["step"]).denominator != 1:
            raise InputError(
                f"{DESCRIPTION}: {name}", text, "a number above zero, as text, rounding a multiple of step"
            )


def _got(about: Any, name: str) -> Any:
    return about.get(name) if isinstance(about, dict) else kind_of(about)


def law_from(entry: Any, field: str) -> Noise | None:
    """The noise that a description states; None where it states none."""
    if entry is None:
        return None
    law = entry.get("noise") if isinstance(entry, dict) else None
    if not isinstance(law, str) or law not in _LAWS:
        raise InputError(f"{field}: noise", law, among=_LAWS)
    try:
        scale = Fraction(entry["scale"])
        return Laplace(scale) if law == "laplace" else Gaussian(scale)
    except (InputError, KeyError, TypeError, ValueError, ZeroDivisionError):
        raise InputError(f"{field}: scale", entry.get("scale"), "a fraction that is not negative, as text") from None


def _table(path: Path, columns: list[str]) -> Any:
    """A Parquet file that has these columns, opened."""
    import pyarrow
    import pyarrow.parquet

    words = [name for name in ("level", "region", "query", "noise", "scale") if name in columns]
    try:
        file = pyarrow.parquet.ParquetFile(path, read_dictionary=words)
        names = file.schema_arrow.names
    except (pyarrow.ArrowException, OSError, ValueError):
        raise InputError(path.name, Phrase("no Parquet file"), "a Parquet file, as it was written") from None
    for name in columns:
        if name not in names:
            raise InputError(path.name, Phrase(f"no column {name!r}"), f"a table with {', '.join(columns)}")
    return file


def read_regions(path: Path, names: list[str]) -> Hierarchy:
    """The regions, in their places."""
    import pyarrow

    file = _table(path, ["level", "position", "region", "parent"])
    try:
        columns = {
            name: file.read([name]).column(name).to_pylist() for name in ("level", "position", "region", "parent")
        }
    except pyarrow.ArrowException:
        raise InputError(REGIONS, Phrase("a damaged file"), "a Parquet file, as it was written") from None
    levels: dict[str, dict[Any, tuple[Any, Any]]] = {name: {} for name in names}
    for level, position, code, parent in zip(*columns.values(), strict=True):
        if level not in levels:
            raise InputError(f"{REGIONS}: level", level, among=names)
        if type(position) is not int or position in levels[level]:
            raise InputError(f"{REGIONS}: position", position, f"a whole number, each once in {level}")
        levels[level][position] = (code, parent)
    codes: list[tuple[str, ...]] = []
    parents: list[Any] = []
    for depth, name in enumerate(names):
        regions = [levels[name][position] for position in sorted(levels[name])]
        if sorted(levels[name]) != list(range(len(regions))) or not regions or (depth == 0 and len(regions) != 1):
            wanted = "one region, in position 0" if depth == 0 else "positions from 0 on, none left out"
            raise InputError(f"{REGIONS}: {name}", Phrase(f"{len(regions):,} regions"), wanted)
        here = tuple(code for code, _ in regions)
        if not all(isinstance(code, str) and code for code in here) or len(set(here)) < len(here):
            raise InputError(
                f"{REGIONS}: {name}", Phrase("a code twice, or none"), "regions with a code each, each once"
            )
        codes.append(here if depth else ("",))
        parents.append(_parents(regions, codes[depth - 1] if depth > 1 else (names[0],), name) if depth else _NONE)
    return Hierarchy(tuple(names), tuple(codes), tuple(parents))


_NONE = np.zeros(0, np.int64)


def _parents(regions: list[tuple[Any, Any]], above: tuple[str, ...], name: str) -> Any:
    places = {code: place for place, code in enumerate(above)}
    for _, parent in regions:
        if parent not in places:
            raise InputError(f"{REGIONS}: parent of a {name}", parent, "the code of a region of the level above")
    found = np.array([places[parent] for _, parent in regions], dtype=np.int64)
    if (np.diff(found) < 0).any() or len(np.unique(found)) < len(above):
        raise InputError(
            f"{REGIONS}: {name}",
            Phrase("regions out of order, or a parent without any"),
            "regions in the order of the regions they lie in",
        )
    return found


class _Numbers:
    """The noisy numbers of one question to one level, as they are read; each has to come once."""

    def __init__(self, shape: tuple[int, ...], noise: Noise, axes: tuple[int, ...]) -> None:
        self.shape, self.noise, self.axes, self.rows = shape, noise, axes, 0
        size = math.prod(shape)
        self.values, self.seen = np.zeros(size, np.int64), np.zeros(size, bool)

    def add(self, places: Any, values: Any) -> None:
        self.values[places], self.seen[places] = values, True
        self.rows += len(places)

    def array(self, what: str) -> Any:
        if self.rows != self.seen.size or not self.seen.all():
            said = Phrase(f"{self.rows:,} rows, {int(self.seen.sum()):,} of them different")
            raise InputError(f"{NUMBERS}: {what}", said, f"one row for each of {self.seen.size:,} numbers")
        return self.values.reshape(self.shape)


def _levels(
    path: Path, described: list[dict[str, Any]], tree: Hierarchy, by: tuple[tuple[str, tuple[Any, ...]], ...]
) -> tuple[Level, ...]:
    import pyarrow

    awaited: dict[tuple[int, str], _Numbers] = {}
    for place, level in enumerate(described):
        size, every = tree.sizes[place], tuple(range(len(by)))
        for query, shape, axes in ((COUNTS, (size, _cells(by, every)), every), (TOTALS, (size,), ())):
            if level[query] is not None:
                awaited[place, query] = _Numbers(shape, level[query], axes)
        for axes, noise in level[MARGINS].items():
            awaited[place, margin_query(by, axes)] = _Numbers((size, _cells(by, axes)), noise, axes)
    keys = [cell_column(name) for name, _ in by]
    columns = ["level", "region", *keys, "query", "value", "noise", "scale"]
    file = _table(path, columns)
    try:
        for batch in file.iter_batches(columns=columns, batch_size=1 << 20):
            _sort_in(batch, awaited, tree, by)
    except pyarrow.ArrowException:
        raise InputError(NUMBERS, Phrase("columns of other types, or a damaged file"), "as it was written") from None

    def numbers(place: int, query: str) -> tuple[Any, Noise | None]:
        found = awaited.get((place, query))
        return (None, None) if found is None else (found.array(f"{query} of {tree.names[place]}"), found.noise)

    def margin(place: int, query: str) -> Margin:
        wanted = awaited[place, query]
        return Margin(wanted.axes, wanted.array(f"{query} of {tree.names[place]}"), wanted.noise)

    return tuple(
        Level(
            *numbers(place, COUNTS),
            *numbers(place, TOTALS),
            tuple(margin(place, margin_query(by, axes)) for axes in described[place][MARGINS]),
        )
        for place in range(tree.depth)
    )


def _cells(by: tuple[tuple[str, tuple[Any, ...]], ...], axes: tuple[int, ...]) -> int:
    return math.prod(len(by[axis][1]) for axis in axes)


def _sort_in(
    batch: Any, awaited: dict[tuple[int, str], _Numbers], tree: Hierarchy, by: tuple[tuple[str, tuple[Any, ...]], ...]
) -> None:
    """Put rows, in whatever order they come, where they belong."""
    import pyarrow

    levels = _places(batch.column("level"), list(tree.names), "level")
    known = [*dict.fromkeys([COUNTS, TOTALS, *(query for _, query in awaited)])]
    queries = _places(batch.column("query"), known, "query")
    values = batch.column("value")
    if not pyarrow.types.is_integer(values.type) or values.null_count:
        raise InputError(f"{NUMBERS}: value", Phrase(f"a column of {values.type}"), "whole numbers, none missing")
    numbers = values.to_numpy(zero_copy_only=False).astype(np.int64)
    for level, query in np.unique(np.stack([levels, queries]), axis=1).T.tolist():
        chosen = np.flatnonzero((levels == level) & (queries == query))
        wanted = awaited.get((level, known[query]))
        if wanted is None:
            said = Phrase(f"{known[query]} of {tree.names[level]}")
            raise InputError(NUMBERS, said, f"of what {DESCRIPTION} has noise for")
        picked = pyarrow.array(chosen)
        ((law, scale),) = noise_to(wanted.noise).items()
        for name, said_there in (("noise", law), ("scale", scale)):
            stated = batch.column(name).take(picked).unique().to_pylist()
            if other := [one for one in stated if one != said_there]:
                field = f"{NUMBERS}: {name} of {known[query]} of {tree.names[level]}"
                raise InputError(field, other[0], f"{said_there}, as {DESCRIPTION} has it")
        codes = list(tree.codes[level]) if level else [tree.names[0]]
        places = _places(batch.column("region").take(picked), codes, f"region of a {tree.names[level]}")
        for name, labels in (by[axis] for axis in wanted.axes):
            kind = label_type(labels)
            here = [written(label, kind) for label in labels]
            column = batch.column(cell_column(name)).take(picked)
            places = places * len(labels) + _places(column, here, cell_column(name))
        wanted.add(places, numbers[chosen])


def _places(column: Any, values: list[Any], name: str) -> Any:
    """Where each entry of a column stands among the values it may have."""
    import pyarrow
    import pyarrow.compute

    coded = isinstance(column, pyarrow.DictionaryArray)
    plain = column.dictionary if coded else column
    known = pyarrow.array(values, plain.type)
    found = pyarrow.compute.index_in(plain, known)
    if coded:
        found = found.take(column.indices)
    if found.null_count:
        odd = column.filter(pyarrow.compute.is_null(found))[0].as_py()
        raise InputError(f"{NUMBERS}: {name}", odd, among=values)
    return found.to_numpy(zero_copy_only=False).astype(np.int64)
