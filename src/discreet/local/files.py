"""Replies on disk: how they are written, and signs that a file is cut off or there twice."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.signature import typed
from discreet.core.wire import canonical
from discreet.errors import InputError, Phrase
from discreet.local.packed import width_of
from discreet.local.protocol import Oracle
from discreet.local.survey import Batch, Survey

__all__ = ["check_files", "count_lines", "report_columns", "words_of", "write"]

_BLOCK = 1 << 22


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
