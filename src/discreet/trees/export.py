"""A hierarchical release as files with a description of their columns, and as a map."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.release import Release, percent
from discreet.errors import InputError
from discreet.show.map import Layer, Map, choropleth
from discreet.trees.estimate import Ends
from discreet.trees.quality import CARE, FLAGS, UNFIT, qualities

if TYPE_CHECKING:
    from discreet.trees.release import TreeRelease
    from discreet.trees.replicates import Replicates

__all__ = ["level_table", "picture", "save_release", "save_replicates"]

_KINDS = ("parquet", "csv")
_MOST_NUMBERS = 300_000  # that a page should carry, each with its two ends


def save_release(release: TreeRelease, folder: str | Path, kind: str) -> list[Path]:
    """Write `LEVEL.KIND`, its totals or its cumulative counts, and `README.json`; the paths written."""
    if kind not in _KINDS:
        raise InputError("kind", kind, among=reversed(_KINDS))
    directory = Path(folder)
    directory.mkdir(parents=True, exist_ok=True)
    paths, described = [], {}
    for name, table, about in _tables(release):
        path = _write(table, directory / f"{name}.{kind}", kind)
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


def save_replicates(replicates: Replicates, folder: str | Path, kind: str) -> list[Path]:
    """Write `LEVEL-replicates.KIND` for each level; the paths written."""
    if kind not in _KINDS:
        raise InputError("kind", kind, among=reversed(_KINDS))
    directory, release = Path(folder), replicates.release
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for level in release.levels:
        table = release.table(level)
        columns = {name: table.columns[name] for name in (*table.keys, *table.outputs)}
        wide = replace(table, columns={**columns, **replicates.columns(level)}, outputs=())
        paths.append(_write(wide, directory / f"{level}-replicates.{kind}", kind))
    return paths


def _write(table: Release, path: Path, kind: str) -> Path:
    if kind == "csv":
        table.to_csv(path)
    else:
        import pyarrow.parquet

        pyarrow.parquet.write_table(table.to_arrow(), path)
    return path


def _tables(release: TreeRelease) -> Iterator[tuple[str, Release, str]]:
    for level in release.levels:
        if release.cumulative:
            yield level, release.sizes(level), "how many groups there are of exactly each size"
            whole = level_table(release, level)
            yield f"{level}-at-least", whole, "how many groups there are of each size or larger (cumulative)"
            continue
        yield level, level_table(release, level), "how many there are in every region and cell"
        if release.measured.cells > 1:
            totals = _with_typical(release.totals(level), release.totals(level, intervals="typical"))
            yield f"{level}-totals", totals, "how many there are in every region, all cells"


def level_table(release: TreeRelease, level: str) -> Release:
    """The table of a level with both kinds of intervals, as files have it."""
    return _with_typical(release.table(level), release.table(level, intervals="typical"))


def _with_typical(table: Release, typical: Release) -> Release:
    """The table with both kinds of intervals; the typical ones by names of their own."""
    (output,) = table.outputs
    more = {f"{output}_typical_{end}": typical.columns[f"{output}_{end}"] for end in ("lower", "upper")}
    return replace(table, columns={**table.columns, **more, f"{output}_quality": _qualities(table)})


def _qualities(table: Release) -> list[str]:
    """The flag of every number, by the interval for each region; the wider side counts where zero cuts the other."""
    (output,) = table.outputs
    value, low, high = (np.array(table.columns[name], float) for name in (output, f"{output}_lower", f"{output}_upper"))
    half = np.maximum((high - low) / 2, high - value)
    spread = np.where(np.isnan(half), np.inf, half) / NormalDist().inv_cdf(0.5 + table.confidence / 2)
    return [str(flag) for flag in qualities(value, spread)]


def _intervals(release: TreeRelease) -> dict[str, str]:
    sure = percent(release.confidence)
    return {
        "_lower, _upper": f"{sure} confidence interval of each region, whatever its true size (not simultaneous)",
        "_typical_lower, _typical_upper": (
            f"shorter: of a level's numbers of about one true size about {sure} lie in theirs; not for one region"
        ),
        "_quality": (
            f"{', '.join(FLAGS)}: by the standard error as a part of the number, up to {percent(round(CARE, 3))}, "
            f"up to {percent(round(UNFIT, 3))}, and beyond"
        ),
    }


_KINDS_SAY = {
    "each": "Intervals hold for each region by itself, whatever its size.",
    "typical": "Intervals are typical ones: of regions of about one size, the stated share lies in theirs.",
}


def picture(release: TreeRelease, *, title: str | None, geometry: Any, intervals: str, ends: Ends | None) -> Map:
    """The map of a release: totals first, then the cells, as many as a page can carry."""
    tree, estimate = release.tree, release.estimate
    levels, cells = _fitting(tree.sizes, estimate.counts[0].shape[1])
    names = [" / ".join(str(label) for label in labels) for labels in product(*(labels for _, labels in release.by))]
    layers = []
    for level in range(levels):
        counts = estimate.counts[level]
        outputs = {}
        if not release.cumulative and counts.shape[1] > 1:
            whole = None if ends is None else (ends.total_lower[level], ends.total_upper[level])
            outputs["total"] = _band(estimate.totals[level], whole)
        for cell, name in enumerate(names[:cells]):
            pair = None if ends is None else (ends.lower[level][:, cell], ends.upper[level][:, cell])
            outputs[_called(release, name)] = _band(counts[:, cell], pair)
        codes = tree.codes[level] if level else (tree.names[0],)
        above = None
        if level:
            higher = tree.codes[level - 1] if level > 1 else (tree.names[0],)
            above = [higher[parent] for parent in tree.parents[level]]
        layers.append(Layer(tree.names[level], codes, outputs, parents=above))
    sentence = (
        f"Every number carries noise that hides any one unit of {release.dataset!r} (cost {release.cost}); "
        f"what was made of the noisy numbers has not seen the data again. {_KINDS_SAY[intervals]}"
    )
    left_out = [f"the level {name}" for name in tree.names[levels:]]
    left_out += [f"{len(names) - cells:,} more cells"] if cells < len(names) else []
    if left_out:
        sentence += f" This page leaves out {' and '.join(left_out)}: the files have them."
    named = title or f"{release.dataset}, by {release.method}"
    return choropleth(layers, title=named, confidence=release.confidence, privacy=sentence, geometry=geometry)


def _fitting(sizes: tuple[int, ...], cells: int) -> tuple[int, int]:
    """How many levels, from the root, and how many cells the page has room for: levels first."""
    levels = 1
    while levels < len(sizes) and 2 * sum(sizes[: levels + 1]) <= _MOST_NUMBERS:
        levels += 1
    return levels, max(1, min(cells, _MOST_NUMBERS // sum(sizes[:levels]) - 1))


def _called(release: TreeRelease, name: str) -> str:
    if release.cumulative:
        return f"groups of at least {name}"
    return name or "count"


def _band(counts: Any, ends: tuple[Any, Any] | None) -> tuple[Any, Any, Any]:
    return (counts, None, None) if ends is None else (counts, *ends)
