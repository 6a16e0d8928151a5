"""The same rows as files in every layout that people keep them in: what is counted must not depend on it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow
import pyarrow.csv
import pyarrow.parquet

ODD = ["x*", "x[a]", "xa", "x?", "xb", "[!a]", "**", "it's", "{a,b}", "é", "a b", "%41", "~", "[", "_1=2"]
Layout = Callable[[Path, pyarrow.Table], Path]


def parts(table: pyarrow.Table, many: int) -> Iterator[pyarrow.Table]:
    """The rows in so many parts, by chance."""
    chance = random.Random(many)
    chosen = [chance.randrange(many) for _ in range(len(table))]
    return (table.filter(pyarrow.array([one == part for one in chosen])) for part in range(many))


def write(table: pyarrow.Table, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.parquet.write_table(table, path)


def several(names: list[str], ending: str = "parquet") -> Layout:
    """Files of these names."""

    def layout(folder: Path, table: pyarrow.Table) -> Path:
        for name, part in zip(names, parts(table, len(names)), strict=True):
            write(part, folder / f"{name}.{ending}")
        return folder

    return layout


def linked(folder: Path, table: pyarrow.Table) -> Path:
    """A file that has three names."""
    several(["2024-01", "2024-02"])(folder, table)
    (folder / "latest.parquet").symlink_to("2024-02.parquet")
    (folder / "again.parquet").hardlink_to(folder / "2024-01.parquet")
    return folder


def in_folders_of(column: str) -> Layout:
    """A folder for each value of a column, which files do not store, as Hive and Spark write them."""

    def layout(folder: Path, table: pyarrow.Table) -> Path:
        words = table[column].to_pylist()
        for word in dict.fromkeys(words):
            rows = table.filter(pyarrow.array([one == word for one in words])).drop_columns([column])
            named = "__HIVE_DEFAULT_PARTITION__" if word is None else word
            write(rows, folder / f"{column}={named}" / "part-0.parquet")
        return folder

    return layout


def drifting(column: str, kind: pyarrow.DataType, most: int) -> Layout:
    """A file that stores a column of whole numbers as another type, for the rows whose number that type can hold."""

    def layout(folder: Path, table: pyarrow.Table) -> Path:
        fits = pyarrow.array([number is None or abs(number) < most for number in table[column].to_pylist()])
        place = table.column_names.index(column)
        small = table.filter(fits)
        write(small.set_column(place, column, small[column].cast(kind)), folder / "small.parquet")
        write(table.filter(pyarrow.compute.invert(fits)), folder / "wide.parquet")
        return folder

    return layout


def lacking(column: str) -> Layout:
    """A file without a column, for the rows where it is missing anyway, and one where it is of no type."""

    def layout(folder: Path, table: pyarrow.Table) -> Path:
        gaps = table[column].is_null()
        write(table.filter(pyarrow.compute.invert(gaps)), folder / "a.parquet")
        first, second = parts(table.filter(gaps), 2)
        write(first.drop_columns([column]), folder / "b.parquet")
        place = second.column_names.index(column)
        write(second.set_column(place, column, pyarrow.nulls(len(second))), folder / "c.parquet")
        return folder

    return layout


def reordered(folder: Path, table: pyarrow.Table) -> Path:
    """Columns in another order in each file."""
    for number, part in enumerate(parts(table, 3)):
        write(part.select(table.column_names[number:] + table.column_names[:number]), folder / f"{number}.parquet")
    return folder


LAYOUTS: dict[str, Layout] = {
    "several files": several(["a", "b", "c"]),
    "a folder named like a file": several(["visits.parquet/part-0", "visits.parquet/part-1"]),
    "folders named like files": several(["a.parquet/b.parquet/c", "a.parquet/d.pq/e", "f"]),
    "odd names": several(ODD),
    "odd folders": several([f"{name}/{name}" for name in ODD[:-1]]),
    "links": linked,
    "folders of a category": in_folders_of("o"),
    "folders of text": in_folders_of("h"),
    "narrow ids": drifting("p", pyarrow.int16(), 2**15),
    "numbers as floats": drifting("n", pyarrow.float64(), 2**53),
    "numbers as decimals": drifting("n", pyarrow.decimal128(20, 1), 2**53),
    "a column that is not everywhere": lacking("t"),
    "columns in any order": reordered,
}
