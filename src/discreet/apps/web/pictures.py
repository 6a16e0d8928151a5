"""Pictures of what pages show: an output over its groups, errors to expect, a budget going down."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet.core.release import Release, number, percent
from discreet.show import Bar, Error, Markup, Picture, Step, bars, errors, steps
from discreet.show.scale import finite

__all__ = ["MOST", "burn", "expected", "output_bars", "text"]

MOST = 60
"""How many bars are drawn; a table has them all."""


def output_bars(release: Release, output: str) -> Markup | None:
    """One output of a release over its groups; None where its values are days or none are there."""
    rows = release.labelled()
    shown = [row for row in rows if finite(row[output])][:MOST]
    if not shown:
        return None
    data = [
        Bar(
            " · ".join(row[key] for key in release.keys) or output,
            row[output],
            row[f"{output}_lower"],
            row[f"{output}_upper"],
        )
        for row in shown
    ]
    caption = f"{output}, with {percent(release.confidence)} intervals"
    if len(rows) > len(shown):
        caption += f"; the first {len(shown)} rows, the table has {len(rows) - len(shown)} more"
    said = f"Bars of {output} with intervals: the same numbers are in the table below"
    picture = bars(caption, data, format=number, ticks=number, description=said)
    return picture.figure(caption, table=False)


def expected(data: Sequence[Error], confidence: str) -> Markup | str:
    """The errors of a plan, before anything is spent."""
    if not data:
        return ""
    title = f"Errors to expect, with {confidence} confidence"
    return errors(title, data, format=number, middle="whatever the answer is").figure(table=False)


def burn(name: str, cap: Fraction, charges: Sequence[tuple[Fraction, str, str]], currency: str) -> Picture:
    """What was left of an allotment after each charge: amount, time, and words for each."""
    spent, data = Fraction(0), []
    for amount, _, words in charges:
        spent += amount
        data.append(Step(float(max(cap - spent, Fraction(0))), words))
    times = [time[:10] for _, time, _ in charges]
    first, last = (times[0], times[-1]) if times else ("", "")
    return steps(f"{name}, {currency} left", float(cap), data, first=first, last=last)


def text(key: Any) -> str:
    """A key as people read it."""
    return "(missing)" if key is None else str(key)
