"""Replies in files and tables: written, checked, and added up where they lie, in DuckDB, PostgreSQL or Spark.

Replies are not private: they were scrambled before they left their owners. What is refused is refused because it would
make the estimate wrong: replies to another survey or with another epsilon, replies there twice, files cut off.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.core.signature import typed
from discreet.core.wire import canonical
from discreet.data.source import Connection, Source, source_of
from discreet.errors import DiscreetError, InputError, Phrase
from discreet.local.estimate import Tally
from discreet.local.packed import width_of
from discreet.local.protocol import Oracle
from discreet.local.subset import Subset
from discreet.local.survey import Batch, Survey
from discreet.mechanisms.inputs import read_count

__all__ = ["aggregate", "check_files", "count_lines", "report_columns", "words_of", "write"]

_BLOCK = 1 << 22  # bytes read at a time
_WIDEST = 512  # sums in one question to the engine


def report_columns(survey: Survey) -> list[str]:
    """The columns that hold a report: one whole number, or words of 32 bits for packed ones."""
    mechanism = survey.mechanism
    if mechanism.layout == "integer":
        return ["report"]
    categories = mechanism.categories if isinstance(mechanism, Oracle) else mechanism.report_bits
    return [f"report_{word}" for word in range(-(-width_of(categories) // 4))]


def words_of(reports: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Packed reports as words of 32 bits: category c is bit 31 - c % 32 of word c // 32."""
    padded = np.zeros((len(reports), -(-reports.shape[1] // 4) * 4), dtype=np.uint8)
    padded[:, : reports.shape[1]] = reports
    return padded.view(">u4").astype(np.uint32)


@typed
def write(survey: Survey, batch: Batch, path: str | Path, groups: Mapping[str, Sequence[Any]] | None = None) -> Path:
    """Save replies as Parquet (or CSV, by the name's ending): survey, token and report, and columns of `groups`."""
    if batch.survey != survey.id:
        raise InputError("batch", batch.survey, f"replies to the survey {survey.id}")
    place = Path(path)
    columns: dict[str, Any] = {"survey": [survey.id] * len(batch), "token": batch.hex_tokens()}
    names = report_columns(survey)
    values = batch.reports[:, None] if survey.mechanism.layout == "integer" else words_of(batch.reports)
    columns |= {name: values[:, column] for column, name in enumerate(names)}
    for name, column in (groups or {}).items():
        if name in columns or len(column) != len(batch):
            raise InputError(
                f"groups.{name}", Phrase(f"{len(column)} values"), f"a column of a new name with {len(batch)} values"
            )
        columns[name] = column
    if place.suffix.lower() == ".csv":
        with place.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*(getattr(c, "tolist", lambda c=c: c)() for c in columns.values()), strict=True))
        return place
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table(columns)
    table = table.set_column(0, "survey", table.column("survey").dictionary_encode())
    table = table.replace_schema_metadata({"discreet.survey": canonical(survey.to_dict())})
    pyarrow.parquet.write_table(table, place)
    return place


def check_files(files: Sequence[str]) -> None:
    """Refuse a file that is there twice, under any name, and a CSV file whose last line does not end."""
    sizes: dict[int, list[str]] = {}
    for name in files:
        sizes.setdefault(Path(name).stat().st_size, []).append(name)
    for alike in sizes.values():
        if len(alike) < 2:
            continue
        seen: dict[str, str] = {}
        for name in alike:
            digest = _digest(name)
            if digest in seen:
                hint = "Remove one of them: its replies would count twice."
                raise InputError(
                    "source", Phrase(f"{Path(seen[digest]).name} and {Path(name).name}"), "different files", hint
                )
            seen[digest] = name
    for name in files:
        if Path(name).suffix.lower() in (".csv", ".tsv"):
            with Path(name).open("rb") as file:
                file.seek(max(0, Path(name).stat().st_size - 1))
                if file.read(1) != b"\n":
                    hint = "Copy it again: its last line does not end."
                    raise InputError("source", Path(name).name, "a whole, undamaged file", hint)


def count_lines(files: Sequence[str]) -> int:
    """How many lines follow the headers."""
    total = 0
    for name in files:
        with Path(name).open("rb") as file:
            while block := file.read(_BLOCK):
                total += block.count(b"\n")
    return total - len(files)


def _digest(name: str) -> str:
    with Path(name).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@typed
def aggregate(
    place: Any,
    survey: Survey,
    *,
    table: str | None = None,
    by: str | None = None,
    expect: int | None = None,
    duplicates: Literal["refuse", "first", "ignore"] = "refuse",
) -> Any:
    """A `Tally` of all replies in a file, folder, glob, database table, data frame or Spark table.

    `by` names a column of groups: then a dictionary of tallies. `expect` is how many replies there should be, if that
    is known. Replies whose token comes twice are refused; `first` counts each token once (all its replies must agree),
    `ignore` does not look at tokens.
    """
    if duplicates not in ("refuse", "first", "ignore"):
        raise InputError("duplicates", duplicates, among=("refuse", "first", "ignore"))
    source = source_of(place, table)
    if source.kind in ("csv", "parquet"):
        check_files(source.place.paths())
    lines = count_lines(source.place.paths()) if source.kind == "csv" else None
    problem: InputError | None = None
    try:
        with source.open() as connection:
            return _Reader(connection, survey, source).read(by, expect, duplicates, lines)
    except DiscreetError:
        raise
    except Exception:
        hint = "It may be cut off, or its columns may be of another type: write it again."
        problem = InputError("source", Phrase("something else"), "a table of replies that can be read", hint)
    raise problem


class _Reader:
    """One look through replies in an open engine."""

    def __init__(self, connection: Connection, survey: Survey, source: Source) -> None:
        self._connection = connection
        self._survey = survey
        self._names = report_columns(survey)
        columns = connection.table.columns
        if missing := [name for name in ("survey", *self._names) if name not in columns]:
            raise InputError(
                "source",
                Phrase(f"one without {missing[0]!r}"),
                "a table with the columns survey, token, " + ", ".join(self._names),
            )
        self._table = connection.table
        for name in self._names:  # text from a CSV file; what is no whole number becomes null and is refused below
            column = self._table[name]
            made = column.try_cast("int64") if source.kind == "csv" else column.cast("int64")
            self._table = self._table.mutate(**{name: made})

    def read(self, by: str | None, expect: int | None, duplicates: str, lines: int | None) -> Any:
        table = self._table
        if by is not None and (by not in table.columns or by in ("survey", "token", *self._names)):
            raise InputError("by", by, "a column with the group of each reply")
        n = self._check(expect, lines)
        if duplicates != "ignore":
            table = self._once(table, n, duplicates)
        if self._survey.mechanism.layout == "integer":
            return self._add_integers(table, by)
        return self._add_packed(table, by)

    def _check(self, expect: int | None, lines: int | None) -> int:
        """How many replies there are, all of them of this survey and with a report."""
        table, name = self._table, self._survey.id
        broken = table[self._names[0]].isnull()
        for column in self._names[1:]:
            broken = broken | table[column].isnull()
        own = (table.survey == name).fill_null(False)
        found = self._connection.integers(
            table.aggregate(
                n=table.count(),
                foreign=(~own).sum().fill_null(0).cast("int64"),
                broken=broken.sum().fill_null(0).cast("int64"),
            )
        )
        n, foreign, missing = (int(found[each][0]) for each in ("n", "foreign", "broken"))
        if foreign:
            hint = "They answer another survey, or this one with another epsilon."
            raise InputError("source", Phrase(f"{foreign} of {n} to another"), f"replies to {name} only", hint)
        if missing or (lines is not None and lines != n):
            bad = missing + (abs(lines - n) if lines is not None else 0)
            raise InputError(
                "source",
                Phrase(f"{bad} broken replies"),
                "replies with a whole number in every report",
                "Is it cut off?",
            )
        if expect is not None and n != read_count(expect, "expect", least=0):
            raise InputError("source", Phrase(f"{n} replies"), f"{expect} replies, as expected", "Is a part missing?")
        if n == 0:
            raise InputError("source", Phrase("none"), "at least one reply")
        return n

    def _once(self, table: Any, n: int, duplicates: str) -> Any:
        if "token" not in table.columns:
            hint = "Or set duplicates='ignore'."
            raise InputError("source", Phrase("no column 'token'"), "a table with a token for each reply", hint)
        found = self._connection.integers(table.aggregate(known=table.token.nunique(), given=table.token.count()))
        if int(found["given"][0]) != n:
            raise InputError(
                "source",
                Phrase(f"{n - int(found['given'][0])} replies without a token"),
                "a table with a token for each reply",
            )
        if int(found["known"][0]) == n:
            return table
        if duplicates == "refuse":
            hint = "With duplicates='first' each token counts once."
            raise InputError(
                "source", Phrase(f"{n - int(found['known'][0])} of them twice"), "a table with each reply once", hint
            )
        once = table.distinct()
        left = self._connection.integers(once.aggregate(n=once.count()))
        if int(left["n"][0]) != int(found["known"][0]):
            raise InputError(
                "source", Phrase("a token with different replies"), "a table with one reply for each token"
            )
        return once

    def _add_integers(self, table: Any, by: str | None) -> Any:
        mechanism = self._survey.mechanism
        keys = {"report": table.report} | ({} if by is None else {"_group": table[by]})
        counted = table.group_by(**keys).aggregate(times=table.count())
        if by is None:
            found = self._connection.integers(counted)
            return mechanism.tally(found["report"], found["times"])
        rows = self._connection.values(counted)
        parts: dict[Any, tuple[list[int], list[int]]] = {}
        for group, report, times in zip(rows["_group"], rows["report"], rows["times"], strict=True):
            reports, often = parts.setdefault(group, ([], []))
            reports.append(report)
            often.append(times)
        return {group: mechanism.tally(*part) for group, part in sorted(parts.items(), key=lambda item: str(item[0]))}

    def _add_packed(self, table: Any, by: str | None) -> Any:
        mechanism = self._survey.mechanism
        if not isinstance(mechanism, Oracle):
            raise InputError("survey", mechanism.kind, "a mechanism that estimates frequencies")
        k = mechanism.categories
        sums: dict[Any, np.ndarray[Any, np.dtype[np.int64]]] = {}
        totals: dict[Any, int] = {}
        for start in range(0, 32 * len(self._names), _WIDEST):
            bits = range(start, min(start + _WIDEST, 32 * len(self._names)))
            asked = {f"b{bit}": _bit(table[self._names[bit // 32]], 31 - bit % 32) for bit in bits}
            asked |= {"n": table.count()} | _beyond(table, self._names, bits)
            answer = table.aggregate(**asked) if by is None else table.group_by(_group=table[by]).aggregate(**asked)
            rows = self._connection.values(answer)
            for place, group in enumerate(rows.get("_group", [None])):
                if any(rows[name][place] for name in rows if name.startswith("beyond")):
                    raise InputError("source", Phrase("other numbers"), "packed bits, from 0 to 2**32 - 1")
                whole = sums.setdefault(group, np.zeros(32 * len(self._names), dtype=np.int64))
                whole[bits.start : bits.stop] = [int(rows[f"b{bit}"][place]) for bit in bits]
                totals[group] = int(rows["n"][place])
        for group, whole in sums.items():
            if whole[k:].any():
                raise InputError("source", Phrase("bits beyond the last"), f"reports of {k} categories")
            if isinstance(mechanism, Subset) and whole.sum() != totals[group] * mechanism.size:
                raise InputError("source", Phrase("a set of another size"), f"sets of {mechanism.size} categories")
        made = {group: Tally(mechanism.id, totals[group], s := whole[:k], s) for group, whole in sums.items()}
        return made[None] if by is None else dict(sorted(made.items(), key=lambda item: str(item[0])))


def _bit(column: Any, place: int) -> Any:
    return ((column >> place) & 1).sum().cast("int64")


def _beyond(table: Any, names: list[str], bits: range) -> dict[str, Any]:
    """Whether a word is none of 32 bits."""
    words = {bit // 32 for bit in bits}
    return {
        f"beyond{word}": ((table[names[word]] < 0) | (table[names[word]] >= 1 << 32)).sum().cast("int64")
        for word in words
    }
