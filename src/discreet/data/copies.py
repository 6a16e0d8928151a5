"""Copies of files that an engine cannot read as they are, for as long as they are in use."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from discreet.data.cells import copy_readable
from discreet.data.encoding import copy_as_utf8
from discreet.data.files import as_pattern
from discreet.data.pool import restart
from discreet.data.record import copy_short
from discreet.data.spill import Spill

__all__ = ["Copies"]


class Copies:
    """Files written again so that they can be read, in a folder nobody else can read."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._stack = ExitStack()
        self._count = 0
        self._views: dict[str, tuple[str, list[str], dict[str, Any]]] = {}

    def _fresh(self) -> Path:
        """A new folder for one copy."""
        if self._folder is None:
            self._folder = self._stack.enter_context(Spill()).path
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir(mode=0o700)
        return folder

    def copy(self, path: str, delimiter: str | None, header: bool) -> str:
        """Where the copy of a CSV file in UTF-8 is; without records that are too long, if a delimiter is given."""
        folder, ending = self._fresh(), Path(path).suffix
        if delimiter is not None:
            short = folder / f"short{ending}"
            copy_short(path, short, delimiter, header=header)
            path = str(short)
        copy = folder / f"copy{ending}"
        copy_as_utf8(path, copy)
        return str(copy)

    def read(self, backend: Any, kind: str, files: list[str], **options: Any) -> Any:
        """The table of some files (csv or parquet), which `reread` can read once more."""
        table = _table(backend, kind, files, **options)
        self._views[table.get_name()] = (kind, files, options)
        return table

    def reread(self, backend: Any) -> bool:
        """Put copies in the place of Parquet files with values that the engine fails on; whether there were any.

        It is for after a failure, and done once: files are nearly always as they say, and a look at each would cost
        as much as a question.
        """
        old, self._views = self._views, {}
        new = {
            name: (kind, [self._readable(file) for file in files] if kind == "parquet" else files, options)
            for name, (kind, files, options) in old.items()
        }
        if new == old:
            return False
        restart(backend)
        for name, (kind, files, options) in new.items():
            _table(backend, kind, files, table_name=name, **options)
        return True

    def _readable(self, path: str) -> str:
        source, folder = Path(path), self._fresh()
        for part in source.parts[:-1]:
            if "=" in part:  # a column that is written in the path: "year=2024"
                folder = folder / part
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / source.name
        return str(copy) if copy_readable(path, copy) else path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()


def _table(backend: Any, kind: str, files: list[str], **options: Any) -> Any:
    return (backend.read_csv if kind == "csv" else backend.read_parquet)(list(map(as_pattern, files)), **options)
