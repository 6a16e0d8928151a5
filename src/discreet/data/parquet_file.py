"""Parquet files: each is read by its own types, and none changes how the rows of another are read.

Columns are matched by name; one that a file lacks is missing in its rows. What folders are called (`year=2024`) is a
column of text, never of a type that is guessed from all names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.data.column import Boolean, Column, Date, Integer, Real, Timestamp
from discreet.data.copies import Copies
from discreet.data.dialect import holds_nothing, named_types
from discreet.data.files import Files, absolute, as_pattern
from discreet.data.read import as_day, as_number
from discreet.errors import InputError, Phrase

__all__ = ["Drift", "ParquetTable", "as_united", "read_parquet", "united"]

Expression = Any  # ibis expressions carry no useful static types here

_SCHEMA = "SELECT file_name, name, type, type_length, num_children, converted_type, scale, precision, logical_type"


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """The rows of all files, and the columns that they do not store alike."""

    table: Expression
    drift: Mapping[str, Drift]


def read_parquet(backend: Any, files: Files, copies: Copies) -> ParquetTable:
    """Files as one table: those that store the same types together, then all by the types that unite them."""
    import ibis

    paths = files.paths()
    keys, drift = _folder_keys(files.root, paths)
    groups = _alike(backend, paths, keys)
    for key in {name for columns, _ in groups for name in columns} & {key.lower() for key in keys}:
        drift |= {name: Drift("both a column of files and the name of folders") for name in keys if name.lower() == key}
    options = {"hive_partitioning": bool(keys), "hive_types_autocast": False}
    parts = [copies.read(backend, "parquet", alike, **options) for _, alike in groups]
    kinds: dict[str, list[Any]] = {}
    for part in parts:
        for name, kind in part.schema().items():
            kinds.setdefault(name, []).extend([] if holds_nothing(kind) else [named_types(part)[name].type()])
    _check_case(kinds)
    types = {}
    for name, several in kinds.items():
        types[name], lost = united(several or [ibis.dtype("string")])
        if lost is not None:
            drift[name] = lost
    return ParquetTable(_stacked([named_types(part) for part in parts], types), drift)


def _stacked(parts: Sequence[Expression], types: Mapping[str, Any]) -> Expression:
    import ibis

    if len(parts) == 1:
        return parts[0]
    tables = [
        part.select(
            **{
                name: as_united(part[name], kind) if name in part.columns else ibis.null(kind)
                for name, kind in types.items()
            }
        )
        for part in parts
    ]
    return ibis.union(tables[0], *tables[1:])


def _alike(backend: Any, paths: Sequence[str], keys: Sequence[str]) -> list[tuple[set[str], list[str]]]:
    """Files that store the same columns under the same types, together, with the names of these columns.

    Read off what each file says of itself. A single file is like itself, and its names then matter to nobody.
    """
    patterns = list(map(as_pattern, paths))
    whole = {absolute(path): path for path in paths}
    if len(paths) == 1 and not keys and patterns == list(whole):
        return [(set(), list(paths))]
    marks = ", ".join("?" for _ in patterns)
    said: dict[str, list[tuple[Any, ...]]] = {}
    for name, *column in backend.con.execute(f"{_SCHEMA} FROM parquet_schema([{marks}])", patterns).fetchall():
        said.setdefault(name, []).append(tuple(column))
    if set(said) != set(whole):
        hint = "Rename the files: the engine takes their names for those of others. Nothing was spent."
        raise InputError("source", Phrase(f"{len(paths)} files"), "files that the engine finds under their names", hint)
    groups: dict[tuple[Any, ...], list[str]] = {}
    for name, path in whole.items():
        groups.setdefault(tuple(said[name]), []).append(path)
    return [(_names(columns), alike) for columns, alike in groups.items()]


def _names(tree: Sequence[tuple[Any, ...]]) -> set[str]:
    """The names of columns, in lower case, of a schema that lists its root and, after each node, what is inside it."""
    names, inside = set(), [1]
    for name, _, _, children, *_ in tree:
        if len(inside) == 2:
            names.add(name.lower())
        inside[-1] -= 1
        inside.append(children or 0)
        while inside and not inside[-1]:
            inside.pop()
    return names


def _folder_keys(root: Path, paths: Sequence[str]) -> tuple[list[str], dict[str, Drift]]:
    """The columns that folders below the data's own are named after, and those that cannot be read off their names."""
    named = [[part.split("=") for part in Path(path).relative_to(root).parent.parts if "=" in part] for path in paths]
    keys = [[parts[0] for parts in folders] for folders in named]
    every = sorted({key for several in keys for key in several})
    plain = all(len(parts) == 2 and parts[0].isidentifier() for folders in named for parts in folders)
    once = len({key.lower() for key in every}) == len(every) and all(len(set(some)) == len(some) for some in keys)
    above = any("=" in part for part in Path(absolute(str(root))).parts)  # the engine would read these names, too
    if plain and once and not above and all(len(several) == len(every) for several in keys):
        return every, {}
    return [], {key: Drift("the name of folders that are not all named alike") for key in every}


def _check_case(names: Mapping[str, Any]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        if (other := seen.setdefault(name.lower(), name)) != name:
            hint = "Engines take them for one. Rename one of them."
            raise InputError(
                "source", Phrase(f"{other!r} and {name!r}"), "files whose columns differ in more than case", hint
            )


@dataclass(frozen=True, slots=True)
class Drift:
    """How files store a column under several types, in words, and what it can still be declared as.

    An engine unites types by the widest. Then one file changes how the rows of all others are read: ids of 64 bits
    become floats, and persons beyond 2**53 become one. So types are united only where every value reads as it would in
    a file of its own, and a column is refused, from types alone, where it is used for more than that.
    """

    words: str
    columns: tuple[type[Column], ...] = ()

    def allows(self, column: Column, *, identifies: bool) -> bool:
        """Whether a column declared so reads the same from every type; what identifies a person or a row never does."""
        return not identifies and isinstance(column, self.columns)


_NUMBERS = (Integer, Real, Boolean)
_DAYS = (Date,)
_TIMES = (Date, Timestamp)


def united(kinds: Iterable[Any]) -> tuple[Any, Drift | None]:
    """The type that values of several stored types are read as, and what is lost by it; None where nothing is."""
    import ibis

    several = list(dict.fromkeys(kind.copy(nullable=True) for kind in kinds))
    if len(several) == 1:
        return several[0], None
    if all(kind.is_integer() and kind != ibis.dtype("uint64") for kind in several):
        return ibis.dtype("int64"), None
    names = sorted(map(str, several))
    words = f"{', '.join(names[:-1])} in some files and {names[-1]} in others"
    if all(kind.is_numeric() or kind.is_boolean() for kind in several):
        return ibis.dtype("float64"), Drift(words, _NUMBERS)
    if all(kind.is_timestamp() for kind in several) and len({kind.timezone is None for kind in several}) == 1:
        local = several[0].timezone is None
        return ibis.dtype("timestamp(6)" if local else "timestamp('UTC', 6)"), Drift(words, _TIMES)
    if all(kind.is_date() or kind.is_timestamp() for kind in several):
        return ibis.dtype("date"), Drift(words, _DAYS)
    return ibis.dtype("string"), Drift(words)


def as_united(value: Expression, kind: Any) -> Expression:
    """A stored value under the type it is united to, by the rule that reads it where it is the only type."""
    import ibis

    stored = value.type().copy(nullable=True)
    if stored == kind:
        return value
    if kind.is_floating():
        return as_number(value)
    if kind.is_date():
        return as_day(value)
    if kind.is_timestamp() and stored.is_timestamp():
        return value.try_cast(kind)  # in seconds or milliseconds it may be too far away for any other type
    return value.cast(kind) if kind.is_integer() and stored.is_integer() else ibis.null(kind)
