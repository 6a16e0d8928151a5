"""The files that a path, a folder or a glob pattern names: looked up again each time they are read.

A list made once would leave out the file that arrives next month, and charge for an answer from the old ones. A file
counts once, however many names it has, and a folder is no file, whatever its name ends in.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import InputError

__all__ = ["DELIMITERS", "ENDINGS", "Files", "absolute", "as_pattern", "common_kind", "data_folders", "files_at"]

DELIMITERS = {".csv": ",", ".tsv": "\t"}
ENDINGS = {"parquet": {".parquet", ".pq"}, "csv": set(DELIMITERS), "duckdb": {".duckdb", ".ddb"}}
_WILD = "*?["
_YOUNG = 2 * 10**9  # nanoseconds: no clock of a file system is slower


@dataclass(frozen=True, slots=True, repr=False)
class Files:
    """Files of one kind (csv, parquet or duckdb) under one name."""

    place: str
    kind: str

    def __repr__(self) -> str:
        return f"<private {self.kind} files>"

    def paths(self) -> list[str]:
        """Every file there now, in order of their names, and each under one name only."""
        paths = _paths(self.place)
        if not paths:
            hint = "There were some when it was opened. Nothing was spent."
            raise InputError("source", self.place, f"the place of {self.kind} files: nothing is there now", hint)
        if common_kind(paths) != self.kind:
            hint = "Nothing was spent. Keep one kind of file in a folder, or name the files: folder/*.csv."
            raise InputError("source", self.place, f"the place of {self.kind} files only", hint)
        for path in paths:
            as_pattern(path)  # a name that cannot be read is refused here, before anything is spent
        return paths

    def stamps(self) -> list[tuple[str, int, int]]:
        """Name, size and time of change of every file, and of the log of writes that DuckDB keeps beside its file.

        Names are taken from the folder on: data that is moved as a whole is the same data.
        """
        root = _root(self.place)
        stamps = []
        for path in map(Path, self.paths()):
            for file in (path, path.with_name(path.name + ".wal")) if self.kind == "duckdb" else (path,):
                try:
                    status = file.stat()
                except OSError:
                    continue  # gone since it was listed: a state of its own
                stamps.append((file.relative_to(root).as_posix(), status.st_size, status.st_mtime_ns))
        return stamps

    def mark(self) -> Hashable | None:
        """What changes whenever a file is written, replaced, added or taken away; None while that cannot be told.

        The clock of a file system may stand still for a while: of a file that was written this very moment nobody
        knows whether it is written once more in the same one.
        """
        marks, now = [], time.time_ns()
        for path in self.paths():
            try:
                file = Path(path).stat()
            except OSError:
                return None
            if now - max(file.st_mtime_ns, file.st_ctime_ns) < _YOUNG:
                return None
            marks.append((path, file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns))
        return tuple(marks)

    @property
    def root(self) -> Path:
        """The folder that the names of the files are counted from."""
        return _root(self.place)


def absolute(path: str) -> str:
    """A file under its whole name: engines read one that begins with `~` or a scheme, or has `..` in it, their way."""
    whole = Path(path).absolute()
    return str(whole.resolve() if ".." in whole.parts else whole)


def as_pattern(path: str) -> str:
    """The pattern that an engine expands to this one file: it takes every name for a pattern."""
    whole = absolute(path)
    if not any(mark in whole for mark in _WILD):
        return whole
    if "\\" in whole:
        hint = "Rename the file or folder. Nothing was spent."
        raise InputError("source", path, "a name without a backslash beside one of * ? [", hint)
    return "".join(f"[{mark}]" if mark in _WILD else mark for mark in whole)


def files_at(place: str, kinds: str) -> Files:
    """The files under a name that a person typed; `kinds` says what else would have been understood."""
    paths = _paths(place)
    if not paths:
        raise InputError("source", place, f"{kinds}: nothing is there")
    kind = common_kind(paths)
    if kind is None:
        endings = ", ".join(sorted({Path(path).suffix.lower() for path in paths}))
        raise InputError("source", place, f"{kinds}: files here end in {endings}")
    return Files(place, kind)


def data_folders(place: str) -> set[Path]:
    """The folders that belong to the data under a name, and go when it is replaced; none for a single file."""
    path = Path(place)
    if path.exists() or not any(mark in place for mark in _WILD):
        return {path} if path.is_dir() else set()
    root, rest = _parts(place)
    return {file.parent for file in _matching(place)} | ({root} if "**" in Path(rest).parts else set())


def _paths(place: str) -> list[str]:
    path = Path(place)
    if path.is_dir():
        known = set().union(ENDINGS["parquet"], ENDINGS["csv"])
        return _once(str(file) for file in path.rglob("*") if file.suffix.lower() in known and file.is_file())
    if path.exists():
        return [place]
    return _once(map(str, _matching(place))) if any(mark in place for mark in _WILD) else []


def _once(paths: Iterable[str]) -> list[str]:
    """Files in order of their names, without further names of a file (links): its rows would count again for each."""
    names: dict[tuple[int, int] | str, str] = {}
    for path in sorted(paths):
        try:
            status = Path(path).stat()
        except OSError:
            continue  # gone since it was listed
        names.setdefault((status.st_dev, status.st_ino) if status.st_ino else path, path)
    return list(names.values())


def common_kind(paths: list[str]) -> str | None:
    """What kind of file all names end as; None where they differ, or are of none."""
    endings = {Path(path).suffix.lower() for path in paths}
    kind = next((kind for kind, allowed in ENDINGS.items() if endings <= allowed), None)
    return None if kind == "duckdb" and len(paths) > 1 else kind


def _root(place: str) -> Path:
    """The folder that the names of the files are counted from."""
    path = Path(place)
    if path.is_dir():
        return path
    return path.parent if path.exists() else _parts(place)[0]


def _parts(pattern: str) -> tuple[Path, str]:
    """The folder before the first wildcard of a glob pattern, and the rest of it."""
    parts = Path(pattern).parts
    fixed = next(i for i, part in enumerate(parts) if any(mark in part for mark in _WILD))
    return Path(*parts[:fixed]), str(Path(*parts[fixed:]))


def _matching(pattern: str) -> Iterator[Path]:
    folder, rest = _parts(pattern)
    return (path for path in folder.glob(rest) if path.is_file())
