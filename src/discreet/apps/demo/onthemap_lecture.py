"""OnTheMap: made-up workers, drawn from urns as published and measured as now."""

from __future__ import annotations

import math

import numpy as np

from discreet.apps.demo.lecture import Beside, Lecture, draw_choices, invented_curator
from discreet.data.column import Category
from discreet.data.schema import Schema
from discreet.noise.replay import Replay, uniforms
from discreet.show import image, stack

__all__ = ["show"]

_SIDE, _WORKERS = 6, 40_000
_EPSILON = 1


def show() -> Lecture:
    """Make up workers of a grid of 36 towns by both methods, and see how far origins are off."""
    bits = Replay(b"lecture of commuters")
    towns = {f"T{row}{column}": (5 * row, 5 * column) for row in range(_SIDE) for column in range(_SIDE)}
    names, places = list(towns), np.array(list(towns.values()), dtype=float)
    sizes = (1 + 20 * uniforms(bits, len(names)) ** 3).tolist()
    work = draw_choices(bits, _WORKERS, sizes)
    far = np.linalg.norm(places[:, None] - places[None], axis=2)
    home = np.zeros(_WORKERS, dtype=np.int64)
    for town in range(len(names)):
        here = np.flatnonzero(work == town)
        home[here] = draw_choices(bits, len(here), np.exp(-far[town] / 6).tolist())
    true = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(true, (home, work), 1)
    known = Category(names, nullable=False)
    rows = {"home": np.array(names)[home], "work": np.array(names)[work]}
    with invented_curator(rows, Schema("workers", {"home": known, "work": known}), epsilon=3 * _EPSILON) as curator:
        ask = curator.commute(origin="home", destination="work", coordinates=towns)
        modern = ask.plan(epsilon=_EPSILON).release(why="lecture").flows
        classic = ask.plan(epsilon=_EPSILON, method="classic").release(why="lecture").flows
    numbers = (
        Beside("prior of a pure urn, a million draws, epsilon 7", "913", f"{10**6 / (math.exp(7) - 1):.1f}"),
        Beside("origins by urns are off by (total variation)", "much, at epsilon 1", f"{_distance(classic, true):.3f}"),
        Beside("origins as measured are off by", "not shown", f"{_distance(modern, true):.3f}"),
    )
    busiest = int(true.sum(axis=0).argmax())
    shares = [
        (title, flows[:, busiest] / max(1, flows[:, busiest].sum()))
        for title, flows in (("True", true), ("Measured", modern), ("Urns", classic))
    ]
    most = max(float(part.max()) for _, part in shares)
    panels = [image(title, (part / most).reshape(_SIDE, _SIDE).tolist(), cell=24) for title, part in shares]
    said = (
        f"Where those who work in {names[busiest]} live, a square for each of the {_SIDE**2} towns: white for nobody, "
        f"black for {most:.0%} of them."
    )
    drawn = stack(f"Home areas of work area {names[busiest]}", panels, columns=3, caption=said)
    words = f"40,000 invented workers of 36 towns, one worker protected by epsilon = {_EPSILON}."
    return Lecture("OnTheMap", numbers, words, drawn, "course/mobility.md")


def _distance(flows: np.ndarray, true: np.ndarray) -> float:
    """Total variation between origins, averaged over destinations by their true rows."""
    shares = flows / np.maximum(flows.sum(axis=0), 1)
    truth = true / np.maximum(true.sum(axis=0), 1)
    each = np.abs(shares - truth).sum(axis=0) / 2
    return float(each @ true.sum(axis=0) / true.sum())
