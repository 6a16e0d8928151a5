"""The figures of "Sensitivity": what one person can move, and why bounds are a choice between two errors."""

from __future__ import annotations

import csv
from fractions import Fraction
from importlib.resources import files

import numpy as np
from drawing import Axis, Panel, picture, write

from discreet import Laplace, Lattice
from discreet.mechanisms import sensitivity

COUNTY, EPSILON = "Oak", Fraction(1, 2)


def pay() -> np.ndarray:
    """What the invented people of one county earn."""
    with (files("discreet.apps.demo") / "people.csv").open(encoding="utf-8") as file:
        return np.array([float(row["pay"]) for row in csv.DictReader(file) if row["county"] == COUNTY])


def moves() -> str:
    """How far one person moves four statistics of n people's values between 0 and 1."""
    sizes = np.geomspace(10, 1_000_000, 61).astype(int).tolist()
    panel = Panel(
        Axis(10, 1_000_000, "people", (10, 100, 1000, 10_000, 100_000, 1_000_000), log=True),
        Axis(1e-6, 2, "one person moves it by", {1: "1", 1e-2: "0.01", 1e-4: "0.0001", 1e-6: "0.000001"}, log=True),
        left=84,
        width=360,
    )
    statistics = {
        "d": lambda n: sensitivity.maximum(0, 1),
        "b": lambda n: sensitivity.median(0, 1, n),
        "c": lambda n: sensitivity.standard_deviation(0, 1, n),
        "a": lambda n: sensitivity.mean(0, 1, n),
    }
    for kind, moved in statistics.items():
        panel.line([(n, float(moved(n))) for n in sizes], kind)
    panel.key({"d": "largest value", "b": "median", "c": "standard deviation", "a": "mean"})
    told = (
        "How far one person moves a statistic of values between 0 and 1, against the number of people. The largest "
        "value and the median stay at 1 and one half, whatever the number; the standard deviation falls as one over "
        "its root, the mean as one over the number."
    )
    return picture("What one person can move, at worst", told, [panel])


def bounds() -> str:
    """What clipping takes off a total and what noise adds, by where the bound is."""
    values = pay()
    at = list(range(10_000, 300_001, 5_000))
    cut, noise = [], []
    for bound in at:
        grid = Lattice(0, bound)
        cut.append((bound, float(values.sum() - grid.encode(values).sum())))
        noise.append((bound, float(Laplace.for_epsilon(EPSILON, grid.magnitude).error(0.95))))
    both = [(bound, lost + far) for (bound, lost), (_, far) in zip(cut, noise, strict=True)]
    most = 3_000_000
    ticks = {0: "0", 1_000_000: "1 million", 2_000_000: "2 million", 3_000_000: "3 million"}
    panel = Panel(
        Axis(0, 300_000, "upper bound on one person's pay", (0, 100_000, 200_000, 300_000)),
        Axis(0, most, "error of the total", ticks),
        left=84,
        width=380,
    )
    for points, kind in ((cut, "b"), (noise, "a"), (both, "d")):
        panel.line([(bound, error) for bound, error in points if error <= most], kind)
    best = min(both, key=lambda point: point[1])
    panel.dots([best], "d", 5)
    panel.key({"b": "cut off", "a": "noise (95%)", "d": "both"})
    told = (
        f"The error of the total pay of {len(values)} people against the upper bound, at epsilon {float(EPSILON)}. "
        "What is cut off falls as the bound rises, the noise rises with it; together they are least at about "
        f"{best[0]:,}."
    )
    return picture("A bound too low cuts, a bound too high drowns", told, [panel])


def figures() -> dict[str, str]:
    """All of the page's figures."""
    return {"sensitivity-moves": moves(), "sensitivity-bounds": bounds()}


if __name__ == "__main__":
    write(figures)
