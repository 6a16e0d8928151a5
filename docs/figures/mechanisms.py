"""The figures of "Mechanisms": two kinds of noise, where each is better, and a choice by score."""

from __future__ import annotations

import csv
import math
from collections import Counter
from fractions import Fraction
from importlib.resources import files

from drawing import Axis, Panel, picture, write

from discreet import Exponential, Gaussian, Laplace, Sensitivity
from discreet.accounting import gaussian_sigma
from discreet.noise.spread import gaussian_above, laplace_above

DELTA = 1e-6


def laws() -> str:
    """The two laws at one price: one count, epsilon 1."""
    sigma = gaussian_sigma(1, DELTA)
    panel = Panel(
        Axis(-12.6, 12.6, "noise added to the count", (-12, -8, -4, 0, 4, 8, 12)),
        Axis(0, 0.5, "chance", {0: "0%", 0.1: "10%", 0.2: "20%", 0.3: "30%", 0.4: "40%", 0.5: "50%"}),
        left=58,
        width=400,
    )
    for x in range(-12, 13):
        panel.bar((x - 0.42, 0), (x, laplace_above(Fraction(1), x - 1)[0] - laplace_above(Fraction(1), x)[0]), "a")
        panel.bar((x, 0), (x + 0.42, gaussian_above(sigma, x - 1)[0] - gaussian_above(sigma, x)[0]), "b")
    panel.key({"a": "Laplace, scale 1", "b": f"Gaussian, {float(sigma):.2f}"}, boxes=True)
    told = (
        "The chance of every whole number of noise from -12 to 12. Discrete Laplace noise of scale 1 has a sharp peak "
        f"of 46% at zero; discrete Gaussian noise of sigma {float(sigma):.2f} is a wide low bell."
    )
    return picture("One count, epsilon = 1: two kinds of noise", told, [panel])


def many() -> str:
    """The error of each count, by how many of them one person can move."""
    counts = (1, 3, 5, 10, 30, 100, 300, 1000)
    noise = {
        "a": [(k, Laplace.for_epsilon(1, Sensitivity(1, k)).error(0.95)) for k in counts],
        "b": [(k, Gaussian(gaussian_sigma(1, DELTA, Sensitivity(1, k))).error(0.95)) for k in counts],
    }
    panel = Panel(
        Axis(1, 1000, "counts that one person can move", (1, 10, 100, 1000), log=True),
        Axis(2, 4000, "error of each count (95%)", (3, 10, 30, 100, 300, 1000, 3000), log=True),
        width=400,
    )
    for kind, points in noise.items():
        panel.line(points, kind)
    panel.key({"a": "Laplace", "b": "Gaussian"})
    told = (
        "The 95% error of each count at epsilon 1 and delta 1e-6, against how many counts one person can move. Laplace "
        f"noise goes from {noise['a'][0][1]} to {noise['a'][-1][1]:,}, Gaussian from {noise['b'][0][1]} to "
        f"{noise['b'][-1][1]:,}; they cross between 5 and 10."
    )
    return picture("Few counts: Laplace. Many: Gaussian", told, [panel])


def sectors() -> dict[str, int]:
    """How many of the invented people work in each sector, the most common first."""
    with (files("discreet.apps.demo") / "people.csv").open(encoding="utf-8") as file:
        return dict(Counter(row["sector"] for row in csv.DictReader(file) if row["sector"] != "none").most_common())


def choice() -> str:
    """The chance of each sector to be named the most common."""
    counted = sectors()
    names = list(counted)
    panel = Panel(
        Axis(-0.5, len(names) - 0.5, "", dict(enumerate(names))),
        Axis(0, 1, "chance to be named", {0: "0%", 0.25: "25%", 0.5: "50%", 0.75: "75%", 1: "100%"}),
        left=58,
        width=566,
        height=230,
    )
    for shift, (epsilon, kind) in enumerate((("0.5", "a"), ("0.05", "b"))):
        rate = float(Exponential(epsilon, monotone=True).rate)
        weights = [math.exp(rate * (count - counted[names[0]])) for count in counted.values()]
        for place, weight in enumerate(weights):
            left = place - 0.38 + 0.38 * shift
            panel.bar((left, 0), (left + 0.36, weight / sum(weights)), kind)
    for place, count in enumerate(counted.values()):
        x, _ = panel.at((place, 0))
        panel.parts.append(f'<text class="quiet" x="{x:.1f}" y="332" text-anchor="middle">{count}</text>')
    panel.key({"a": "epsilon = 0.5", "b": "epsilon = 0.05"}, left=480, top=90, boxes=True)
    told = (
        "The chance of each sector to be named the most common one, with the number of people in it below. At epsilon "
        "0.5 nearly always the right one; at 0.05 the runners-up are named too, more rarely the fewer people they have."
    )
    return picture("Naming the most common sector", told, [panel])


def figures() -> dict[str, str]:
    """All of the page's figures."""
    return {"mechanisms-laws": laws(), "mechanisms-many": many(), "mechanisms-choice": choice()}


if __name__ == "__main__":
    write(figures)
