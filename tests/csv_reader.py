"""A CSV file as Python's own reader takes it, cell by cell, and as the engine reads it."""

from __future__ import annotations

import csv
import io

from discreet.data.source import source_of

NAMES = ["a", "b", "c"]


def by_hand(data: bytes) -> list[tuple[str | None, ...]]:
    """The records of a file, by Python's reader over its bytes, each cell decoded by itself."""
    records = list(csv.reader(io.StringIO(data.removeprefix(b"\xef\xbb\xbf").decode("latin-1"), newline="")))[1:]
    padded = [(record + [""] * len(NAMES))[: len(NAMES)] for record in records if record]
    return [tuple(decoded(cell.encode("latin-1")) or None for cell in record) for record in padded]


def decoded(cell: bytes) -> str:
    """UTF-8 as far as it is; of the rest each byte by itself."""
    text = ""
    while cell:
        size = next((n for n in (1, 2, 3, 4) if is_character(cell[:n])), 0)
        text += cell[:size].decode() if size else cell[:1].decode("cp1252", "ignore") or chr(cell[0])
        cell = cell[size or 1 :]
    return text


def is_character(part: bytes) -> bool:
    try:
        return len(part.decode()) == 1
    except UnicodeDecodeError:
        return False


def by_engine(path) -> list[tuple[str | None, ...]]:
    with source_of(path).open() as connection:
        return list(zip(*connection.values(connection.table).values(), strict=True))
