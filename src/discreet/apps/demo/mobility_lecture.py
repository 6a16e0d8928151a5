"""Trips by origin, destination and half hour, with sums that agree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.apps.demo.lecture import Beside, Lecture, draw_choices, invented_curator
from discreet.core.unit import Unit
from discreet.data.column import Category, Integer
from discreet.data.schema import Schema
from discreet.mechanisms import Laplace
from discreet.noise.replay import Replay
from discreet.query.key import bins
from discreet.show import image, stack

__all__ = ["show"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_PLACES = [*_LETTERS, *(one + other for one in _LETTERS for other in _LETTERS)][:174]
_TRIPS = 100_000
_FIRST, _LAST = 14, 20  # half hours from midnight: seven to ten o'clock
_EPSILON = 1
_SHOWN = 24  # places in the picture


def show() -> Lecture:
    """Release invented trips between 174 places from seven to ten o'clock, and compare with the truth."""
    bits = Replay(b"lecture of mobility")
    weights = [1 / (place + 1) for place in range(len(_PLACES))]
    start, end = (draw_choices(bits, _TRIPS, weights) for _ in range(2))
    rush = [1 + 6 * max(0.0, 1 - abs(half - 16) / 3) for half in range(_FIRST, _LAST)]
    half = _FIRST + draw_choices(bits, _TRIPS, rush)
    names = np.array(_PLACES)
    known = Category(_PLACES, nullable=False)
    columns: dict[str, Any] = {"start": known, "end": known, "half_hour": Integer(0, 47, nullable=False)}
    schema = Schema("trips", columns, Unit("rider", groups=1, rows=1))
    rows = {"rider": np.arange(_TRIPS), "start": names[start], "end": names[end], "half_hour": half}
    windows = bins("half_hour", list(range(_FIRST, _LAST + 1)))
    with invented_curator(rows, schema, epsilon=_EPSILON) as curator:
        ask = curator.mobility(origin="start", destination="end", window=windows)
        release = ask.plan(epsilon=_EPSILON).release(why="lecture")
        cells, per_window = release["cells"], release["windows"]["count"]
        total = release["total"]["count"][0]
    true = np.zeros((len(_PLACES), len(_PLACES), _LAST - _FIRST), dtype=np.int64)
    np.add.at(true, (start, end, half - _FIRST), 1)
    keys = zip(cells["start"], cells["end"], cells["half_hour"], strict=True)
    place = {name: index for index, name in enumerate(_PLACES)}
    found = np.zeros_like(true)
    for (origin, destination, window), count in zip(keys, cells["count"], strict=True):
        found[place[origin], place[destination], int(window.split("..")[0]) - _FIRST] = count
    agree = sum(cells["count"]) == sum(per_window) == total
    plain, off = Laplace.for_epsilon(_EPSILON).expected_l1(1), np.abs(found - true).mean()
    numbers = (
        Beside("pairs of origin and destination", "30,000", f"{len(_PLACES) ** 2:,} by {_LAST - _FIRST} half hours"),
        Beside("8:00-8:30, A, B", "34", f"{found[0, 1, 2]}, of {true[0, 1, 2]} invented ones"),
        Beside("cells, windows and total add up", "yes", "yes" if agree else "no"),
        Beside("a cell is off by, on average", "not shown", f"{off:.2f} (plain noise: {plain:.2f})"),
    )
    tables = (("True", true), ("Released", found))
    shown = [(title, counts[:_SHOWN, :_SHOWN, 2]) for title, counts in tables]
    most = max(int(counts.max()) for _, counts in shown)
    panels = [image(title, _shades(counts, most), cell=9) for title, counts in shown]
    said = (
        f"Trips at 8:00-8:30 from the {_SHOWN} busiest places (rows) to the same (columns): white for none, "
        f"black for {most:,}, as dark as the logarithm of their number."
    )
    drawn = stack("Invented trips, 8:00-8:30", panels, columns=2, caption=said)
    words = f"Everything of one rider is protected by epsilon = {_EPSILON}."
    return Lecture("Trips by half hour", numbers, words, drawn, "course/mobility.md")


def _shades(counts: NDArray[np.int64], most: int) -> list[list[float]]:
    """Few are shown as clearly as many, on a scale of logarithms that ends at `most`."""
    shades: list[list[float]] = (np.log1p(counts) / np.log1p(max(1, most))).tolist()
    return shades
