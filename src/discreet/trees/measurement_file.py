"""The noisy measurement file: what was drawn for a hierarchy, in an open format, for tables of anybody's own.

A folder of three files: `measurements.parquet`, one row for every noisy number with the law of its noise;
`regions.parquet`, the tree; `measurements.json`, what both hold and where they came from. The noisy numbers are what
was paid for. All that is published is made of them, so that whoever has the files can make it again, by any method,
without a ledger. The format is documented in docs/guides/hierarchy-files.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.mechanisms.record import noise_to
from discreet.trees.ask import RULES
from discreet.trees.measurement import Level, Noise
from discreet.trees.queries import margin_name
from discreet.trees.tree import Hierarchy

if TYPE_CHECKING:
    from discreet.trees.release import TreeRelease

__all__ = [
    "COUNTS",
    "DESCRIPTION",
    "FORMAT",
    "MARGINS",
    "NUMBERS",
    "POOLED",
    "REGIONS",
    "TOTALS",
    "VERSION",
    "cell_column",
    "law_to",
    "margin_query",
    "save_measurements",
    "write_regions",
]

FORMAT: Final = "discreet measurements"
VERSION: Final = 1
NUMBERS, REGIONS, DESCRIPTION = "measurements.parquet", "regions.parquet", "measurements.json"
COUNTS, TOTALS, MARGINS, POOLED = "counts", "totals", "margins", "pooled"

_BLOCK = 1 << 20  # rows written at a time: large trees do not have to fit in memory twice


def save_measurements(release: TreeRelease, folder: str | Path) -> list[Path]:
    """Write the noisy numbers of a release, the tree, and what they are; the paths written."""
    directory = Path(folder)
    directory.mkdir(parents=True, exist_ok=True)
    write_regions(release.tree, directory / REGIONS)
    _write_numbers(release, directory / NUMBERS)
    described = json.dumps(description(release), indent=1, ensure_ascii=False)
    (directory / DESCRIPTION).write_text(described + "\n", encoding="utf-8")
    return [directory / name for name in (NUMBERS, REGIONS, DESCRIPTION)]


def cell_column(name: str) -> str:
    """The column of the numbers that holds a cell's label of that name: none of its own columns can be called so."""
    return f"cell_{name}"


def description(release: TreeRelease) -> dict[str, Any]:
    """What the files hold and where they came from, as plain values."""
    levels = zip(release.tree.names, release.tree.sizes, release.measured.levels, strict=True)
    return {
        "format": FORMAT,
        "version": VERSION,
        "release": release.id,
        "dataset": release.dataset,
        "cost": release.cost,
        "protects": release.protects,
        "mechanism": release.mechanism,
        "digest": release.digest,
        "data": release.data,
        "method": release.method,
        "confidence": release.confidence,
        "counted": release.counted,
        **({} if release.largest is None else {"largest": release.largest}),
        **_magnitude(release),
        "cumulative": release.cumulative,
        **({POOLED: _POOLED} if release.measured.pooled else {}),
        "cells": [{"column": name, "labels": list(labels)} for name, labels in release.by],
        "levels": [
            {
                "name": name,
                "regions": size,
                COUNTS: law_to(level.noise),
                TOTALS: law_to(level.totals_noise),
                **_margins(release, level),
            }
            for name, size, level in levels
        ],
        "rules": RULES.write(release.rules),
        "declared": list(release.rules.declared),
        "notes": [note.to_dict() for note in release.caveats],
        "stale": release.stale,
        "files": {NUMBERS: _NUMBERS, REGIONS: _REGIONS},
    }


_NUMBERS = {
    "level": "name of the level",
    "region": "code of the region; the root's is the name of its level",
    cell_column("NAME"): "label of the cell, one column for each name among `cells`; missing where summed over",
    "query": f"`{COUNTS}` of single cells; `{TOTALS}` over all cells of a region, or `by NAME x NAME`, the margin of "
    "some columns, measured as queries of their own",
    "value": "the true count plus noise: a whole number, which may be negative; of sums, how many times `step`",
    "noise": "`laplace` or `gaussian`: the discrete law of that name, on whole numbers",
    "scale": "its parameter, exactly, as a fraction: P(k) ~ exp(-|k|/scale), or P(k) ~ exp(-k^2 / (2 scale^2))",
    "variance": "the variance of the noise",
}
_POOLED = (
    "Regions with a single child equal it and were measured once: their rows, and those of that child, hold one "
    "answer. Its noise is Laplace's with 1 / scale the sum of those stated for the levels; `scale` and `variance` are "
    "more than it has."
)
_REGIONS = {
    "level": "name of the level, the root first",
    "position": "place of the region in its level, from 0",
    "region": "code of the region; the root's is the name of its level",
    "parent": "code of the region of the level above that it lies in; missing for the root",
}


def _magnitude(release: TreeRelease) -> dict[str, Any]:
    """What is summed, what the noisy numbers and what published ones are multiples of, where rows are not counted."""
    if release.magnitude is None:
        return {}
    units = {"step": str(release.step), "rounding": str(release.rounding)}
    return {"measure": release.magnitude.to_dict(), **units}


def _margins(release: TreeRelease, level: Level) -> dict[str, Any]:
    return (
        {MARGINS: {margin_query(release.by, one.axes): law_to(one.noise) for one in level.margins}}
        if level.margins
        else {}
    )


def margin_query(by: tuple[tuple[str, tuple[Any, ...]], ...], axes: tuple[int, ...]) -> str:
    """What a question for the margin of some columns is called."""
    return f"by {margin_name(tuple(name for name, _ in by), axes)}"


def law_to(noise: Noise | None) -> dict[str, Any] | None:
    """The law of a noise, with its parameter as text and its variance."""
    if noise is None:
        return None
    ((name, scale),) = noise_to(noise).items()
    return {"noise": name, "scale": scale, "variance": float(noise.variance)}


def _codes(tree: Hierarchy, level: int) -> list[str]:
    return list(tree.codes[level]) if level else [tree.names[0]]


def write_regions(tree: Hierarchy, path: Path) -> None:
    """Write the tree."""
    import pyarrow
    import pyarrow.parquet

    parts = []
    for level, name in enumerate(tree.names):
        codes = _codes(tree, level)
        above = [None] if level == 0 else np.array(_codes(tree, level - 1), object)[tree.parents[level]].tolist()
        columns = {
            "level": pyarrow.array([name] * len(codes), pyarrow.string()),
            "position": np.arange(len(codes), dtype=np.int64),
            "region": pyarrow.array(codes, pyarrow.string()),
            "parent": pyarrow.array(above, pyarrow.string()),
        }
        parts.append(pyarrow.table(columns))
    pyarrow.parquet.write_table(pyarrow.concat_tables(parts), path)


def _write_numbers(release: TreeRelease, path: Path) -> None:
    import pyarrow.parquet

    writer = None
    for table in _blocks(release):
        if writer is None:
            writer = pyarrow.parquet.ParquetWriter(path, table.schema, store_schema=False)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _blocks(release: TreeRelease) -> Iterator[Any]:
    """The noisy numbers, level by level, so many rows at a time."""
    measured = release.measured
    for place, level in enumerate(measured.levels):
        for one in level.queries(tuple(range(len(release.by)))):
            axes, values, noise = one.axes, one.values, one.noise
            query = COUNTS if values is level.counts else margin_query(release.by, axes) if axes else TOTALS
            codes, flat = _codes(release.tree, place), values.reshape(len(values), -1)
            step = max(1, _BLOCK // flat.shape[1])
            for start in range(0, len(flat), step):
                part = flat[start : start + step]
                yield _block(release, place, codes[start : start + step], query, part, noise, _labels(release, axes))


def _labels(release: TreeRelease, axes: tuple[int, ...]) -> dict[str, list[Any]]:
    """The label of every cell of a margin, by column."""
    told = [release.by[axis] for axis in axes]
    rows = list(product(*(labels for _, labels in told)))
    return {name: [row[place] for row in rows] for place, (name, _) in enumerate(told)}


def _block(
    release: TreeRelease,
    level: int,
    codes: list[str],
    query: str,
    values: Any,
    noise: Noise,
    cells: Mapping[str, list[Any]],
) -> Any:
    import pyarrow

    def repeated(word: str) -> Any:
        return pyarrow.DictionaryArray.from_arrays(np.zeros(values.size, np.int32), pyarrow.array([word]))

    ((law, scale),) = noise_to(noise).items()
    many = values.shape[1]
    columns = {
        "level": repeated(release.levels[level]),
        "region": pyarrow.DictionaryArray.from_arrays(
            np.repeat(np.arange(len(codes), dtype=np.int32), many), pyarrow.array(codes, pyarrow.string())
        ),
    }
    for name, labels in release.by:
        kind = label_type(labels)
        if name not in cells:
            columns[cell_column(name)] = pyarrow.nulls(values.size, kind)
        else:
            known = pyarrow.array([written(label, kind) for label in cells[name]], kind)
            columns[cell_column(name)] = known.take(pyarrow.array(np.tile(np.arange(many), len(values))))
    columns["query"] = repeated(query)
    columns["value"] = pyarrow.array(values.ravel())
    columns["noise"], columns["scale"] = repeated(law), repeated(scale)
    columns["variance"] = pyarrow.array(np.full(values.size, float(noise.variance)))
    return pyarrow.table(columns)


def label_type(labels: tuple[Any, ...]) -> Any:
    """The type of a column of labels: text where they are of several types."""
    import pyarrow

    try:
        found = pyarrow.array(list(labels)).type
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        return pyarrow.string()
    return pyarrow.string() if pyarrow.types.is_null(found) else found


def written(label: Any, kind: Any) -> Any:
    """A label as its column has it."""
    import pyarrow

    return str(label) if label is not None and pyarrow.types.is_string(kind) else label
