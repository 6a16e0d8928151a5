"""A hierarchical release as files with a description of their columns."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.filename import file_name
from discreet.core.release import Release, percent, write_notes
from discreet.errors import InputError
from discreet.trees.dictionary import File, Published, csvw, describe, facts, parquet_table, to_markdown
from discreet.trees.intervals.each import bounds_of, known_bounds
from discreet.trees.quality import CARE, FLAGS, UNFIT, qualities
from discreet.trees.queries import margin_axes
from discreet.trees.sizes import SIZE_NAME, size_name

if TYPE_CHECKING:
    from discreet.trees.release import TreeRelease
    from discreet.trees.replicates import Replicates

__all__ = [
    "Tables",
    "archive",
    "level_table",
    "open_folder",
    "save_release",
    "save_replicates",
    "table_parquet",
    "totals_table",
    "write_table",
]

_KINDS = ("parquet", "csv")


def save_release(release: TreeRelease, folder: str | Path, kind: str) -> list[Path]:
    """Write `LEVEL.KIND`, its totals or its cumulative counts, `dictionary.md` and `README.json`; the paths written."""
    directory = open_folder(folder, kind)
    tables, sidecars, files = [], [], []
    made = Tables(release)
    for name, table in made.items():
        path = directory / f"{file_name(name)}.{kind}"
        files.append(describe(release, path.name, table, made.about(name)))
        sidecars += write_table(release, table, path, files[-1])
        tables.append(path)
    about_all = {
        **facts(release),
        "dictionary": "dictionary.md",
        "files": {file.name: {"holds": file.holds, "columns": [field.name for field in file.fields]} for file in files},
        "intervals": _intervals(release),
        "notes": list(release.notes),
    }
    dictionary, readme = directory / "dictionary.md", directory / "README.json"
    dictionary.write_text(to_markdown(release, files), encoding="utf-8")
    readme.write_text(json.dumps(about_all, indent=2) + "\n", encoding="utf-8")
    return [*tables, *sidecars, dictionary, readme]


def save_replicates(replicates: Replicates, folder: str | Path, kind: str) -> list[Path]:
    """Write `LEVEL-replicates.KIND` for each level; the paths written."""
    directory, release = open_folder(folder, kind), replicates.release
    tables, sidecars = [], []
    for level in release.levels:
        table = release.table(level)
        columns = {name: table.columns[name] for name in (*table.keys, *table.outputs)}
        wide = replace(table, columns={**columns, **replicates.columns(level)}, outputs=())
        path = directory / f"{file_name(level)}-replicates.{kind}"
        about = "The published numbers, and replicates of them for errors of one's own statistics"
        sidecars += write_table(release, wide, path, describe(release, path.name, wide, about))
        tables.append(path)
    return [*tables, *sidecars]


def archive(write: Callable[[Path], Any]) -> bytes:
    """The files that something writes into a folder, as the content of a ZIP file."""
    out = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        write(Path(folder))
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                packed.write(path, path.relative_to(folder).as_posix())
    return out.getvalue()


def open_folder(folder: str | Path, kind: str) -> Path:
    """The folder for files of a kind, made if it is not there."""
    if kind not in _KINDS:
        raise InputError("kind", kind, among=reversed(_KINDS))
    directory = Path(folder)
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def write_table(release: Published, table: Release, path: Path, file: File) -> list[Path]:
    """Write a table with what its columns mean; the file beside it, if that is where it says so."""
    if path.suffix == ".csv":
        path.write_bytes(table.to_csv().encode())
        beside = write_notes(path, table.notes, csvw(release, file))
        return [] if beside is None else [beside]
    import pyarrow.parquet

    pyarrow.parquet.write_table(parquet_table(release, file, table), path)
    return []


class Tables(Mapping[str, Release]):
    """The tables of a release under the names that their files have, each made when it is looked at."""

    def __init__(self, release: TreeRelease) -> None:
        self._made = dict([*_tables(release), *_target_tables(release)])

    def __getitem__(self, name: str) -> Release:
        return self._made[name][0]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __contains__(self, name: object) -> bool:
        return name in self._made

    def about(self, name: str) -> str:
        """What the table of a name holds."""
        return self._made[name][1]


def _tables(release: TreeRelease) -> Iterator[tuple[str, tuple[Callable[[], Release], str]]]:
    for level in release.levels:
        if release.cumulative:
            exactly = partial(_sizes_table, release, level)
            yield level, (exactly, "How many groups there are of exactly each size")
            whole = partial(level_table, release, level)
            yield f"{level}-at-least", (whole, "How many groups there are of each size or larger (cumulative)")
            continue
        what = "How many there are" if release.magnitude is None else f"The {release.quantity}"
        yield level, (partial(level_table, release, level), f"{what} in every region and cell")
        if release.measured.cells > 1:
            totals = partial(totals_table, release, level)
            yield f"{level}-totals", (totals, f"{what} in every region, all cells")
        for query in release.queries:
            margin = partial(_margin_table, release, level, query)
            yield f"{level}-by-{query.replace(' ', '-')}", (margin, f"Margins of the cells, by {query}")


def _target_tables(release: TreeRelease) -> Iterator[tuple[str, tuple[Callable[[], Release], str]]]:
    """Tables of regions that are none of the tree's."""
    what = "How many there are" if release.magnitude is None else f"The {release.quantity}"
    for name in (family.name for family in release.targets):
        yield name, (partial(_target_table, release, name, False), f"{what} in every {name} and cell")
        if release.measured.cells > 1:
            totals = partial(_target_table, release, name, True)
            yield f"{name}-totals", (totals, f"{what} in every {name}, all cells")


def _target_table(release: TreeRelease, name: str, totals: bool) -> Release:
    from discreet.trees.targets import target_deviations

    family = next(one for one in release.targets if one.name == name)
    return _with_quality(
        release, release.target(name, totals=totals), target_deviations(release, family, totals=totals)
    )


def table_parquet(release: TreeRelease, name: str) -> bytes:
    """The Parquet file of a table, with all that `save_release` says in it."""
    import pyarrow.parquet

    made, out = Tables(release), io.BytesIO()
    table = made[name]
    file = describe(release, f"{name}.parquet", table, made.about(name))
    pyarrow.parquet.write_table(parquet_table(release, file, table), out)
    return out.getvalue()


def level_table(release: TreeRelease, level: str) -> Release:
    """The table of a level with both kinds of intervals, as files have it."""
    table = _with_typical(release.table(level), release.table(level, intervals="typical"))
    table = _with_quality(release, table, _deviations(release, level, totals=False))
    return table if release.cumulative else _with_size_names(release, table)


def totals_table(release: TreeRelease, level: str) -> Release:
    """The table of a level's totals with both kinds of intervals, as files have it."""
    table = _with_typical(release.totals(level), release.totals(level, intervals="typical"))
    return _with_quality(release, table, _deviations(release, level, totals=True))


def _sizes_table(release: TreeRelease, level: str) -> Release:
    variance = release.covariance.linear.variance[release.tree.level(level)][:, None]
    many = np.full((1, release.measured.cells), 2.0)
    many[:, -1] = 1.0  # the largest size is no difference
    table = _with_quality(release, release.sizes(level), np.sqrt(many * variance))
    return _with_size_names(release, table)


def _with_size_names(release: TreeRelease, table: Release) -> Release:
    """The table with names of sizes beside them: the last stands for all that are larger, too."""
    if release.largest is None or SIZE_NAME in table.columns:
        return table
    columns = {}
    for name, values in table.columns.items():
        columns[name] = values
        if name == "size":
            columns[SIZE_NAME] = [size_name(size, release.largest) for size in values]
    return replace(table, columns=columns)


def _margin_table(release: TreeRelease, level: str, query: str) -> Release:
    shape = tuple(len(labels) for _, labels in release.by)
    axes = margin_axes(query, tuple(name for name, _ in release.by), "by")
    _, variance = release.covariance.linear.margin(release.tree.level(level), axes, shape)
    return _with_quality(release, release.margin(level, query), np.sqrt(variance))


def _with_typical(table: Release, typical: Release) -> Release:
    """The table with both kinds of intervals; the typical ones by names of their own."""
    (output,) = table.outputs
    more = {f"{output}_typical_{end}": typical.columns[f"{output}_{end}"] for end in ("lower", "upper")}
    return replace(table, columns={**table.columns, **more})


def _deviations(release: TreeRelease, level: str, *, totals: bool) -> NDArray[np.float64]:
    """The standard error of every number before zero and bounds cut anything; none where a number is public."""
    place, linear = release.tree.level(level), release.covariance.linear
    variance = linear.total_variance[place] if totals else np.repeat(linear.variance[place], release.measured.cells)
    if not release.rules.declared:
        return np.sqrt(variance)
    low, high, least, most = bounds_of(known_bounds(release.measured, release.rules), place)
    return np.where(least == most if totals else (low == high).ravel(), 0.0, np.sqrt(variance))


def _with_quality(release: TreeRelease, table: Release, deviations: NDArray[np.float64]) -> Release:
    """The table with flags, by standard errors in steps: one for each number, or for as many in turn."""
    (output,) = table.outputs
    values = np.array(table.columns[output], float)
    spread = np.repeat(deviations.ravel() * float(release.step), values.size // max(deviations.size, 1))
    return replace(table, columns={**table.columns, f"{output}_quality": qualities(values, spread).tolist()})


def _intervals(release: TreeRelease) -> dict[str, str]:
    sure = percent(release.confidence)
    return {
        "_lower, _upper": f"{sure} confidence interval of each region, whatever its true size (not simultaneous)",
        "_typical_lower, _typical_upper": (
            "shorter where a level has many regions: of its numbers of about one true size about "
            f"{sure} lie in theirs; not for one region"
        ),
        "_quality": (
            f"{', '.join(FLAGS)}: by the standard error as a part of the number, up to {percent(round(CARE, 3))}, "
            f"up to {percent(round(UNFIT, 3))}, and beyond"
        ),
    }
