"""Files of LODES, the public data behind OnTheMap: workers by home and work block, by age, earnings and industry.

Three kinds, told apart by their first line: `od`, from home blocks to work blocks; `rac`, workers by where they live;
`wac`, by where they work. Blocks have codes of fifteen digits, of which the first are those of larger areas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from discreet.errors import MISSING, InputError, Phrase

if TYPE_CHECKING:
    import pyarrow

__all__ = ["LEVELS", "Lodes", "read_lodes"]

Kind = Literal["od", "rac", "wac"]

LEVELS: Mapping[str, int] = {"state": 2, "county": 5, "tract": 11, "group": 12, "block": 15}
"""Areas, and how many digits of a block's code name each."""

_CODES = {"od": ("h_geocode", "w_geocode"), "rac": ("h_geocode",), "wac": ("w_geocode",)}
_WORDS = {"h_geocode": "home", "w_geocode": "work"}
_AGES = ("29 or younger", "30 to 54", "55 or older")
_EARNINGS = ("$1,250 a month or less", "$1,251 to $3,333 a month", "more than $3,333 a month")
_KINDS = ("goods producing", "trade, transportation, utilities", "all other services")
_SECTORS = (
    "agriculture, forestry, fishing, hunting",
    "mining, quarrying, oil and gas",
    "utilities",
    "construction",
    "manufacturing",
    "wholesale trade",
    "retail trade",
    "transportation and warehousing",
    "information",
    "finance and insurance",
    "real estate, rental, leasing",
    "professional, scientific, technical services",
    "management of companies",
    "administration, support, waste",
    "educational services",
    "health care and social assistance",
    "arts, entertainment, recreation",
    "accommodation and food services",
    "other services",
    "public administration",
)


_MOST = 2**53  # workers in a column


def _groups(letter: str) -> dict[str, tuple[str, str]]:
    """The characteristic and the group that each column of counts is about; `letter` is S in od files, else C."""
    industries = [(f"{letter}I0{place}", name) for place, name in enumerate(_KINDS, 1)]
    if letter == "C":
        industries = [(f"CNS{place:02}", name) for place, name in enumerate(_SECTORS, 1)]
    found = {f"{letter}A0{place}": ("age", name) for place, name in enumerate(_AGES, 1)}
    found |= {f"{letter}E0{place}": ("earnings", name) for place, name in enumerate(_EARNINGS, 1)}
    return found | {code: ("industry", name) for code, name in industries}


@dataclass(frozen=True, eq=False)
class Lodes:
    """The counts of a file, added up to areas of a level. `table` is an Arrow table with the names of the file."""

    kind: Kind
    level: str
    table: pyarrow.Table

    @property
    def total(self) -> str:
        """The column that counts all workers."""
        return "S000" if self.kind == "od" else "C000"

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        workers = int(np.sum(self.table[self.total].to_numpy()))
        return f"<LODES {self.kind} file by {self.level}: {len(self):,} rows, {workers:,} workers>"

    def workers(self) -> pyarrow.Table:
        """One row for each worker of an od file, with home and work: a table to try releases on."""
        import pyarrow

        many = self._od("workers")["S000"].to_numpy()
        ends = {_WORDS[code]: np.repeat(self.table[code].to_numpy(zero_copy_only=False), many) for code in _CODES["od"]}
        return pyarrow.table(ends)

    def homes(self, *work: str) -> dict[str, int]:
        """How many of those who work in some areas live in each home area, the largest first."""
        chosen = self._chosen(self._od("homes"), "w_geocode", work)
        found: dict[str, int] = {}
        for home, many in zip(chosen["h_geocode"].to_pylist(), chosen["S000"].to_pylist(), strict=True):
            found[home] = found.get(home, 0) + many
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))

    def profile(self, *areas: str) -> list[tuple[str, str, int, float]]:
        """Workers of some areas by characteristic and group: count and share. Of an od file, by where they work."""
        code = "h_geocode" if self.kind == "rac" else "w_geocode"
        chosen = self._chosen(self.table, code, areas)
        whole = int(np.sum(chosen[self.total].to_numpy()))
        rows = []
        for column, (name, group) in _groups(self.total[0]).items():
            if column in chosen.column_names:
                many = int(np.sum(chosen[column].to_numpy()))
                rows.append((name, group, many, many / whole if whole else 0.0))
        return rows

    def to_html(self, *work: str, coordinates: Mapping[str, Sequence[float]] | None = None) -> str:
        """The screen of a work area from an od file: exact public counts, with a map where coordinates are given."""
        from discreet.flows.commuting.screen import screen

        homes, name = self.homes(*work), ", ".join(work)
        whole = sum(homes.values()) or 1
        listed = [[home, f"{many:,}", f"{many / whole:.1%}"] for home, many in list(homes.items())[:25]]
        profile = [[kind, group, f"{many:,}", f"{share:.1%}"] for kind, group, many, share in self.profile(*work)]
        note = f"Counts of a public LODES file by {self.level}; it was protected when it was published."
        drawn = None if coordinates is None else self._map(work, homes, coordinates)
        return screen(name, drawn, listed, profile, [note], more=len(homes) - len(listed), exact=True)

    def _map(self, work: Sequence[str], homes: Mapping[str, int], coordinates: Mapping[str, Sequence[float]]) -> Any:
        from discreet.flows.commuting.land import Points
        from discreet.show import Home, flow_map

        names = [name for name in homes if name in coordinates]
        if missing := [name for name in work if name not in coordinates]:
            raise InputError("coordinates", missing[0], "a place for every work area: latitude and longitude")
        if not names:
            raise InputError("coordinates", Phrase("no home area"), "places of home areas: latitude and longitude")
        try:
            starts, ends = (np.array([coordinates[name] for name in group], dtype=float) for group in (names, work))
        except (TypeError, ValueError):
            starts = ends = np.full((1, 2), np.nan)
        if any(one.ndim != 2 or one.shape[1] != 2 or not np.isfinite(one).all() for one in (starts, ends)):
            raise InputError("coordinates", Phrase("something else"), "two numbers a place: latitude and longitude")
        (from_, to) = Points(starts, ends, degrees=True).flat
        drawn = [Home(name, *from_[row].tolist(), *[float(homes[name])] * 3) for row, name in enumerate(names)]
        works = [(name, *to[row].tolist()) for row, name in enumerate(work)]
        each = [self.homes(name) for name in work]
        flows = [[float(one.get(name, 0)) for one in each] for name in names]
        return flow_map(f"Where people who work in {', '.join(work)} live", drawn, works, flows)

    def _od(self, verb: str) -> pyarrow.Table:
        if self.kind != "od":
            raise InputError("file", self.kind, f"an od file for {verb}: from home blocks to work blocks")
        return self.table

    def _chosen(self, table: pyarrow.Table, code: str, areas: Sequence[str]) -> pyarrow.Table:
        import pyarrow
        import pyarrow.compute as compute

        if not areas:
            raise InputError("areas", MISSING, "given: the codes of one area or several")
        found = table.filter(compute.is_in(table[code], value_set=pyarrow.array(list(areas), pyarrow.string())))
        if missing := set(areas) - set(found[code].to_pylist()):
            allowed = f"the code of a {self.level} of the file"
            raise InputError("areas", min(missing), allowed, f"A {self.level} has {LEVELS[self.level]} digits.")
        return found


def read_lodes(path: str | Path, level: str = "block") -> Lodes:
    """A LODES file, .csv or .csv.gz, with its counts added up to areas of a level. The file is public.

    Every error names what the file lacks.
    """
    import pyarrow
    import pyarrow.compute as compute
    import pyarrow.csv

    if level not in LEVELS:
        raise InputError("level", level, among=LEVELS)
    place = Path(path)
    if not place.is_file() or not place.name.lower().endswith((".csv", ".csv.gz")):
        raise InputError("file", str(path), "a LODES file that exists: .csv or .csv.gz")
    text = dict.fromkeys(("h_geocode", "w_geocode", "createdate"), pyarrow.string())
    try:
        table = pyarrow.csv.read_csv(place, convert_options=pyarrow.csv.ConvertOptions(column_types=text))
    except (pyarrow.ArrowInvalid, OSError, UnicodeDecodeError):
        raise InputError("file", str(path), "a CSV file with a line of names and as many values on each line") from None
    if again := [name for name in table.column_names if table.column_names.count(name) > 1]:
        raise InputError("file", again[0], "columns that differ from each other")
    kind = _kind(table.column_names)
    codes = _CODES[kind]
    counts = [name for name in table.column_names if name not in text]
    for name in counts:
        if not pyarrow.types.is_integer(table[name].type) or (len(table) and compute.min(table[name]).as_py() < 0):
            raise InputError("file", name, "counts, whole numbers from zero up, in every column but codes and the date")
        if table[name].null_count:
            raise InputError("file", name, "a count on every line")
        if len(table) and compute.sum(table[name].cast(pyarrow.float64(), safe=False)).as_py() > _MOST:
            raise InputError("file", name, f"counts that add up to at most {_MOST:,}")
    for code in codes:
        if not compute.all(compute.match_substring_regex(table[code], r"^[0-9]{15}$")).as_py():
            raise InputError("file", code, "block codes of fifteen digits")
    cut = [compute.utf8_slice_codeunits(table[code], 0, LEVELS[level]) for code in codes]
    columns = dict(zip(codes, cut, strict=True)) | {name: table[name].cast(pyarrow.int64()) for name in counts}
    grouped = pyarrow.table(columns).group_by(list(codes), use_threads=False)
    summed = grouped.aggregate([(name, "sum") for name in counts]).sort_by([(code, "ascending") for code in codes])
    plain = {code: summed[code] for code in codes} | {name: summed[f"{name}_sum"] for name in counts}
    return Lodes(kind, level, pyarrow.table(plain))


def _kind(names: Sequence[str]) -> Kind:
    """Which kind of file it is, by its columns."""
    has = set(names)
    kinds: tuple[Kind, ...] = ("od", "rac", "wac")
    for kind in kinds:
        total = "S000" if kind == "od" else "C000"
        if {*_CODES[kind], total} <= has:
            return kind
    allowed = "a LODES file: w_geocode, h_geocode, S000, ... (od), or h_geocode or w_geocode, C000, ... (rac, wac)"
    raise InputError("file", Phrase(f"columns {', '.join(list(names)[:6])}"), allowed)
