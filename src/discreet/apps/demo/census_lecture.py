"""The tree algorithm: the lecture's cost tables, and a hierarchy of invented people that adds up."""

from __future__ import annotations

from importlib.resources import as_file, files
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from discreet.apps.demo.lecture import Beside, Lecture
from discreet.curator import open_curator
from discreet.ledger.ledger import Ledger
from discreet.mechanisms import Laplace
from discreet.show import Bar, bars
from discreet.trees.exact import exact
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import Rules
from discreet.trees.tree import Hierarchy

__all__ = ["show"]

_WEST = ("Oak", "Rowan", "Spruce", "Willow")
_REGIONS = {
    "part": ["North"] * 4 + ["South"] * 4 + ["West"] * 4,
    "county": ["Ash", "Birch", "Cedar", "Elm", "Hazel", "Juniper", "Larch", "Maple", *_WEST],
}
_NOISY = ([2], [2, -1])  # the United States; Georgia and Michigan


def show() -> Lecture:
    """Solve the lecture's example, then release counts of the demonstration's counties that add up."""
    states = Hierarchy.from_columns({"state": ["Georgia", "Michigan"]}, root="US")
    measured = Measurement(states, tuple(Level(np.array(one)[:, None], Laplace(1)) for one in _NOISY))
    (nation,), (georgia, michigan) = (counts[:, 0].tolist() for counts in exact(measured, Rules()).counts)
    pairs = zip((nation, georgia, michigan), (*_NOISY[0], *_NOISY[1]), strict=True)
    cost = sum((count - noisy) ** 2 for count, noisy in pairs)
    with TemporaryDirectory() as folder, as_file(files("discreet.apps.demo")) as shipped:
        curator = open_curator(
            shipped / "people.csv", shipped / "discreet.toml", ledger=Ledger.temporary(folder), who="demo"
        )
        release = curator.tree(["part", "county"], geography=_REGIONS).plan(epsilon="0.5").release(why="lecture")
        parts, counties = release["part"], release["county"]
        lines = [*_bars(parts, "part", 0), *_bars(counties, "county", 1)]
    where = dict(zip(_REGIONS["county"], _REGIONS["part"], strict=True))
    sums = dict.fromkeys(parts["part"], 0)
    for county, count in zip(counties["county"], counties["count"], strict=True):
        sums[where[county]] += count
    broken = sum(sums[name] != count for name, count in zip(parts["part"], parts["count"], strict=True))
    numbers = (
        Beside("Georgia, Michigan, US", "2, 0, 2 at cost 1", f"{georgia}, {michigan}, {nation} at cost {cost}"),
        Beside("parts that are not the sum of their counties", "0", str(broken)),
        Beside("negative counts", "0", str(sum(count < 0 for count in counties["count"]))),
    )
    words = "Noisy counts contradict each other; the nearest whole numbers that agree cost nothing more."
    said = "Every part is the sum of its counties. Lines on bars are 95% confidence intervals."
    title = "Invented people by part and county, epsilon = 0.5"
    drawn = bars(title, lines, format=lambda value: f"{value:,.0f}").captioned(said)
    return Lecture("A census that adds up", numbers, words, drawn, "course/census.md")


def _bars(table: Any, level: str, series: int) -> list[Bar]:
    """A bar with its interval for each region of a level."""
    columns = (table[name] for name in (level, "count", "count_lower", "count_upper"))
    return [
        Bar(name, count, low, high, series, heading="" if index else level)
        for index, (name, count, low, high) in enumerate(zip(*columns, strict=True))
    ]
