"""The same integers whatever files a table lies in: their layout, their names, and the types that they are stored in.

Planted bugs are found.
"""

from __future__ import annotations

import contextlib
import functools
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow
import pyarrow.parquet
import pytest

import discreet.data.copies
import discreet.data.files
import discreet.data.join
import discreet.data.parquet_file
import discreet.data.read
import discreet.data.source
import discreet.marginals.engine
import discreet.query.compile
import discreet.query.contribution
import discreet.synth.relations.codes
from discreet.data.column import Category
from discreet.data.dialect import named_types
from discreet.data.parquet_file import ParquetTable
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.query.aggregate import (
    count,
)
from discreet.query.compatibility import check_columns
from layouts import LAYOUTS, drifting, several, write
from same_integers import integers, job_of, small
from world_jobs import ALLOTMENTS, Desk, Job


def in_files(place: Path, job: Job) -> list[Any]:
    """The integers of files, opened as a curator opens them."""
    source = replace(source_of(place), view=job.view)
    check_columns(source, job.schema, job.schema.columns)
    with source.open() as data:
        return integers(data, job)


@functools.cache
def in_one_file(kind: str, turn: int, ids: str) -> list[Any]:
    """What every layout is compared with."""
    with tempfile.TemporaryDirectory() as folder:
        write(small(ids).arrow(), Path(folder) / "all.parquet")
        return in_files(Path(folder) / "all.parquet", job_of(kind, turn))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["different values", "sums", "discoveries"])
def test_the_layout_of_files_changes_no_integer(kind, layout, tmp_path):
    ids = "whole" if "ids" in layout else ["whole", "text"][len(layout) % 2]
    turn, table = len(layout) % 2, small(ids).arrow()
    assert in_files(LAYOUTS[layout](tmp_path / "all", table), job_of(kind, turn)) == in_one_file(kind, turn, ids)


@pytest.mark.parametrize("kind", ["different values", "sums"])
def test_the_names_of_csv_files_change_no_integer(kind, tmp_path):
    job, table = job_of(kind), small("text").arrow()
    one = in_files(several(["a"], "csv")(tmp_path / "one", table), job)
    for names in (["x*", "x[a]", "xa"], ["v.csv/a", "v.csv/b"], ["n=1/a", "n=2/b", "o=zz/n=3/c"]):
        many = several(names, "csv")(tmp_path / names[0], table)
        assert in_files(many, job) == one


def as_listed_once(place: str) -> list[str]:
    """The files of 0.1: folders among them, and every link."""
    return sorted(str(file) for file in Path(place).rglob("*") if file.suffix == ".parquet")


def widest_types(backend: Any, files: Any, copies: Any) -> ParquetTable:
    """All files at once, as 0.1 read them: the engine unites types, and guesses those of folders."""
    paths = list(map(discreet.data.files.as_pattern, files.paths()))
    return ParquetTable(named_types(backend.read_parquet(paths, union_by_name=True)), {})


MISREAD = {
    "ids as floats": drifting("p", pyarrow.float64(), 2**53),
    "patterns": several(["x*", "x[a]", "xa"], "csv"),
}
TYPES = (discreet.data.source, "read_parquet", widest_types)
LISTED = (discreet.data.files, "_paths", as_listed_once)
FILES = {
    "names taken for patterns": ("patterns", (discreet.data.copies, "as_pattern", discreet.data.files.absolute)),
    "a folder read as a file": ("folders named like files", LISTED, TYPES),
    "links counted again": ("links", LISTED),
    "numbers as the widest type": ("ids as floats", TYPES),
}


@pytest.mark.parametrize("bug", FILES)
def test_a_planted_bug_is_found_by_the_layout(bug, tmp_path):
    layout, *planted = FILES[bug]
    ids = "text" if layout == "patterns" else "whole"
    files = (LAYOUTS | MISREAD)[layout](tmp_path / "all", small(ids).arrow())
    right = in_one_file("every aggregate", 0, ids)
    with contextlib.ExitStack() as stack:
        for patch in planted:
            stack.enter_context(mock.patch.object(*patch))
        assert in_files(files, job_of("every aggregate")) != right


def test_a_folder_read_as_a_file_is_refused_where_it_is_listed(tmp_path):
    """The second line: what the engine opened is compared with what was to be read."""
    place = LAYOUTS["folders named like files"](tmp_path, small("whole").arrow())
    with mock.patch.object(*LISTED), pytest.raises(InputError, match="finds under their names"):
        in_files(place, job_of("every aggregate"))


def test_ids_of_several_types_are_refused_from_their_types(tmp_path):
    """The one layout that cannot be counted alike: the planted bug above counts it, and merges persons beyond 2**53."""
    job, table = job_of("every aggregate"), small("whole").arrow()
    for kind in (pyarrow.float64(), pyarrow.decimal128(20, 1)):
        place = drifting("p", kind, 2**53)(tmp_path / str(kind), table)
        with pytest.raises(InputError, match=r"columns.p. must be stored alike in all files"):
            in_files(place, job)


def test_a_folder_of_one_person_changes_nothing_about_the_folders_of_others(tmp_path):
    """Names that all read as dates, and then one that does not: 0.1 took them for dates, and then for text."""
    desk = Desk(Schema("t", {"o": Category(["2024-1-5", "2024-1-6"])}), ALLOTMENTS["epsilon"])
    plan = desk.table().group_by("o").agg(n=count()).plan(epsilon=1).plan
    job = Job(plan.schema, plan.allotment, plan.cost, plan.measure, plan)
    for day, rows in (("2024-1-5", 500), ("2024-1-6", 300)):
        write(pyarrow.table({"v": [1] * rows}), tmp_path / f"o={day}" / "a.parquet")

    def counts() -> tuple[int, ...]:
        (step,) = in_files(tmp_path, job)
        return step.values

    before = counts()
    with mock.patch.object(discreet.data.source, "read_parquet", widest_types):
        planted = counts()
    write(pyarrow.table({"v": [1]}), tmp_path / "o=soon" / "a.parquet")
    assert (before, counts()) == ((500, 300, 0), (500, 300, 1))
    with mock.patch.object(discreet.data.source, "read_parquet", widest_types):
        assert sum(abs(one - other) for one, other in zip(planted, counts(), strict=True)) == 500 + 300 + 799
