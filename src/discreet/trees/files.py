"""A hierarchical release as files: tables of every level, totals beside them, and a description of their columns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.release import Release, percent
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.trees.release import TreeRelease

__all__ = ["save_release"]

_KINDS = ("parquet", "csv")


def save_release(release: TreeRelease, folder: str | Path, kind: str) -> list[Path]:
    """Write `LEVEL.KIND`, its totals or its cumulative counts, and `README.json`; the paths written."""
    if kind not in _KINDS:
        raise InputError("kind", kind, among=reversed(_KINDS))
    directory = Path(folder)
    directory.mkdir(parents=True, exist_ok=True)
    paths, described = [], {}
    for name, table, about in _tables(release):
        path = directory / f"{name}.{kind}"
        if kind == "csv":
            table.to_csv(path)
        else:
            import pyarrow.parquet

            pyarrow.parquet.write_table(table.to_arrow(), path)
        paths.append(path)
        described[path.name] = {"holds": about, "columns": list(table.columns)}
    about_all = {
        "release": release.id,
        "dataset": release.dataset,
        "cost": release.cost,
        "mechanism": release.mechanism,
        "method": release.method,
        "confidence": release.confidence,
        "files": described,
        "intervals": _intervals(release),
        "notes": list(release.notes),
    }
    described_in = directory / "README.json"
    described_in.write_text(json.dumps(about_all, indent=2) + "\n", encoding="utf-8")
    return [*paths, described_in]


def _tables(release: TreeRelease) -> Iterator[tuple[str, Release, str]]:
    for level in release.levels:
        if release.cumulative:
            yield level, release.sizes(level), "how many groups there are of exactly each size"
            whole = _with_average(release.table(level), release.table(level, intervals="average"), "at_least")
            yield f"{level}-at-least", whole, "how many groups there are of each size or larger (cumulative)"
            continue
        table = _with_average(release.table(level), release.table(level, intervals="average"), "count")
        yield level, table, "how many there are in every region and cell"
        if release.measured.cells > 1:
            totals = release.totals(level), release.totals(level, intervals="average")
            yield f"{level}-totals", _with_average(*totals, "count"), "how many there are in every region, all cells"


def _with_average(table: Release, average: Release, output: str) -> Release:
    """The table with both kinds of intervals; those of the level by names of their own."""
    more = {f"{output}_average_{end}": average.columns[f"{output}_{end}"] for end in ("lower", "upper")}
    return replace(table, columns={**table.columns, **more})


def _intervals(release: TreeRelease) -> dict[str, str]:
    sure = percent(release.confidence)
    return {
        "_lower, _upper": f"{sure} confidence interval of each region, whatever its true size (not simultaneous)",
        "_average_lower, _average_upper": (
            f"shorter: about {sure} of a level's numbers lie in theirs, fewer among regions that are unlike the others"
        ),
    }
