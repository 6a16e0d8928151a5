"""A grid file: a public grid and the private loads in it, in the form of MATPOWER or pandapower."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.core.decimal_steps import Exact, exact_numbers
from discreet.core.version import DataVersion
from discreet.errors import MISSING, InputError, Phrase, kind_of
from discreet.power.grid import Grid
from discreet.power.matpower import Case
from discreet.power.pandapower import load_powers, net_of_case, public_net, read_net
from discreet.power.schema import GridSchema, PublicGrid
from discreet.power.series import check_header, read_series

__all__ = ["GridFile"]


@dataclass(frozen=True, slots=True)
class GridFile:
    """A MATPOWER case (`.m`) or a saved pandapower net (`.json`). What its loads draw is read by the one door only.

    Which buses have loads is public: of a case those with the numbers `loads`, or every bus; of a net its table of
    loads. A file whose grid changed since `digest` was taken is not read. What loads draw at several times is in the
    CSV file `series`: a column for each load, named as the grid names it, and a row for each time.
    """

    path: Path
    loads: tuple[int, ...] | None = None
    series: Path | None = None
    times: int = 1
    digest: str = ""
    declared: DataVersion | None = None

    @classmethod
    def of(cls, source: Any, loads: Sequence[int] | None = None) -> GridFile:
        """The file of that path, with loads at the declared buses."""
        if not isinstance(source, (str, Path)):
            raise InputError("source", kind_of(source), "the path of a grid file (.m or .json)")
        path = Path(source)
        if not path.is_file():
            raise InputError(
                "source", path.name, "a grid file that exists: a MATPOWER case (.m) or a pandapower net (.json)"
            )
        file = cls(path, None if loads is None else tuple(loads))
        if file.loads is not None and not file.of_matpower:
            hint = "Its table of loads says which buses have one."
            raise InputError("grid.loads", list(file.loads), "left out for a pandapower net", hint)
        return file

    @property
    def of_matpower(self) -> bool:
        """Whether it is a MATPOWER case."""
        return self.path.suffix.lower() == ".m"

    def grid(self) -> Grid:
        """The public grid, as it is in the file now. Nothing in it follows from what its loads draw."""
        if self.of_matpower:
            return Grid.from_matpower(self.path, self.loads)
        return Grid.from_pandapower(read_net(self.path))

    def net(self) -> Any:
        """The public net, for AC: nothing in it follows from what its loads draw."""
        if self.of_matpower:
            return net_of_case(Case.read(self.path), self.loads)
        return public_net(read_net(self.path), 0.0)

    def described(self, schema: GridSchema, version: DataVersion | None = None) -> tuple[PublicGrid, GridFile]:
        """What is public of the file, and the file held to it."""
        about = PublicGrid.describe(schema, self.grid())
        series = self.path.with_name(schema.series) if schema.series else None
        if series is not None:
            check_header(series, about.grid.load_names)
        elif schema.times > 1:
            raise InputError("grid.series", MISSING, "given where there are several times: the name of a CSV file")
        return about, replace(self, digest=about.grid.digest, declared=version, series=series, times=schema.times)

    def check(self) -> None:
        """Refuse a file whose grid is another one than was described. What its loads draw has no part in that."""
        grid = self.grid()
        if grid.digest != self.digest:
            hint = "Nothing was spent. Open it again: another grid is another question."
            raise InputError("source", self.path.name, "the grid file as it was when it was opened", hint)
        if self.series is not None:
            check_header(self.series, grid.load_names)

    def version(self, key: bytes) -> DataVersion:
        """Which state the file is in: as declared, or by its name, size and time of change."""
        if self.declared is not None:
            return self.declared
        files = [self.path, *([] if self.series is None else [self.series])]
        states = [(path.name, path.stat()) for path in files]
        return DataVersion.of_files([["", None, [[name, at.st_size, at.st_mtime_ns] for name, at in states]]], key)

    @contextmanager
    def open(self) -> Iterator[Exact]:
        """MW as written, in the order of the grid's loads. Called by the one door only, after the charge is durable."""
        grid = self.grid()
        if grid.digest != self.digest:  # changed since it was checked: its loads may be others
            raise InputError("source", Phrase("another grid"), "the grid file as it was when it was opened")
        if self.series is not None:
            yield exact_numbers(read_series(self.series, grid.load_names, self.times))
        elif self.of_matpower:
            yield exact_numbers(Case.read(self.path).drawn_at(self.loads))
        else:
            yield exact_numbers(load_powers(read_net(self.path)))
