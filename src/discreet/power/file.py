"""A grid file: a public grid and the private loads in it, in the form of MATPOWER or pandapower."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.version import DataVersion
from discreet.errors import InputError, Phrase, kind_of
from discreet.power.grid import Grid
from discreet.power.loads import megawatts
from discreet.power.matpower import Case
from discreet.power.pandapower import load_powers, read_net

__all__ = ["GridFile"]


@dataclass(frozen=True, slots=True)
class GridFile:
    """A MATPOWER case (`.m`) or a saved pandapower net (`.json`). What its loads draw is read by the one door only.

    Where loads are is public, and a file that changed there since `digest` was taken is not read for it.
    """

    path: Path
    digest: str = ""
    declared: DataVersion | None = None

    @classmethod
    def of(cls, source: Any) -> GridFile:
        """The file of that path."""
        if not isinstance(source, (str, Path)):
            raise InputError("source", kind_of(source), "the path of a grid file (.m or .json)")
        path = Path(source)
        if not path.is_file():
            raise InputError(
                "source", path.name, "a grid file that exists: a MATPOWER case (.m) or a pandapower net (.json)"
            )
        return cls(path)

    def grid(self) -> Grid:
        """The public grid, as it is in the file now."""
        if self.path.suffix.lower() == ".m":
            return Grid.from_matpower(self.path)
        return Grid.from_pandapower(read_net(self.path))

    def check(self) -> None:
        """Refuse a file whose grid is another one than was described. Nothing of its loads is told by that."""
        if self.grid().digest != self.digest:
            hint = "Nothing was spent. Open it again: another grid is another question."
            raise InputError("source", self.path.name, "the grid file as it was when it was opened", hint)

    def version(self, key: bytes) -> DataVersion:
        """Which state the file is in: as declared, or by its name, size and time of change."""
        if self.declared is not None:
            return self.declared
        status = self.path.stat()
        return DataVersion.of_files([["", None, [[self.path.name, status.st_size, status.st_mtime_ns]]]], key)

    @contextmanager
    def open(self) -> Iterator[NDArray[np.float64]]:
        """MW of every load, in the grid's order. Called by the one door only, after the charge is durable."""
        if self.grid().digest != self.digest:  # changed since it was checked: its loads may be others
            raise InputError("source", Phrase("another grid"), "the grid file as it was when it was opened")
        if self.path.suffix.lower() == ".m":
            yield megawatts(Case.read(self.path).loads)
        else:
            yield megawatts(load_powers(read_net(self.path)))
