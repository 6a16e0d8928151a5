"""A picture of a day's loads: their sum at each time with its interval, what feeding them costs, and each load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.release import percent

if TYPE_CHECKING:
    from discreet.power.release import HiddenLoads
    from discreet.show.picture import Picture

__all__ = ["draw_day"]

_MOST = 30
"""Loads that a picture has room for: the largest."""


def draw_day(hidden: HiddenLoads) -> Picture:
    """The sum of all loads by time, their optimal cost beside the original one, and the largest loads as a heat map."""
    from discreet.show import Axis, Band, Line, Scale, grid, lines, stack

    times, clock = range(1, hidden.times + 1), [str(one) for one in hidden.clock]
    first = 1 if hidden.clock[0] == 1 else 0  # round numbers of steps from the first time of day: 05:00, 10:00
    places = range(first, hidden.times + first)

    def written(place: float) -> str:
        return clock[int(place) - first] if place in places else ""

    across = Axis(Scale(first - 0.5, first + hidden.times - 0.5), "time", written)
    sums = [sum(hidden.at(time)) for time in times]
    bands = []
    if hidden.noise is not None:
        table = hidden.totals()
        sure = percent(table.confidence)
        ends = (tuple(zip(places, table[f"mw_{end}"], strict=True)) for end in ("lower", "upper"))
        bands = [Band(f"{sure} interval of the true sum", *ends)]
    power = lines(
        "All loads together",
        [Line("released", tuple(zip(places, sums, strict=True)))],
        bands=bands,
        x=across,
        y=Axis(
            Scale.around([*sums, *(value for band in bands for _, value in (*band.low, *band.high))], zero=True), "MW"
        ),
        width=520,
    )
    reports = hidden.report["times"]
    costs = {name: [report[name] for report in reports] for name in ("cost", "reference")}
    money = lines(
        "Cost of feeding them",
        [
            Line("released loads", tuple(zip(places, costs["cost"], strict=True))),
            Line(
                f"original, {reports[0]['reference_is']}",
                tuple(zip(places, costs["reference"], strict=True)),
                loose=True,
            ),
        ],
        x=across,
        y=Axis(Scale.around([*costs["cost"], *costs["reference"]], zero=True), "cost"),
        width=520,
    )
    names = [str(name) for name in hidden.table["load"][: len(hidden.at(1))]]
    largest = sorted(range(len(names)), key=lambda load: -sum(hidden.at(time)[load] for time in times))[:_MOST]
    cells = [[hidden.at(time)[load] for time in times] for load in sorted(largest)]
    each = grid(
        "Each load" if len(largest) == len(names) else "The largest loads",
        [names[load] for load in sorted(largest)],
        clock,
        cells,
        format="{:.3g} MW",
        caption="A row for each load, a column for each time",
    )
    return stack("A day of released loads", [power, money, each])
