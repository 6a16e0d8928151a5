"""Pictures of a survey's estimates: shares as bars, means as points, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.local.questionnaire.estimate import QuestionEstimate
from discreet.show import Bar, Picture, Scale, bars, stack
from discreet.show.scale import round_up

__all__ = ["figure", "figures"]


def figure(estimated: QuestionEstimate) -> Picture:
    """One question: bars for shares, a point for a mean, on an axis that holds every answer that can be."""
    every = zip(estimated.labels, estimated.value, estimated.lower, estimated.upper, strict=True)
    data = [Bar(label, float(value), float(lower), float(upper)) for label, value, lower, upper in every]
    low = min(float(estimated.lower.min()), estimated.floor)
    high = max(float(estimated.upper.max()), estimated.ceiling)
    number = estimated.number
    return bars(
        estimated.question.text,
        data,
        format=number,
        ticks=number,
        scale=_axis(low, high),
        points=not estimated.shares,
        description=estimated.words(),
        heads=("", "estimate", "from", "to"),
    )


def figures(title: str, every: Sequence[QuestionEstimate]) -> Picture:
    """Every question in one picture."""
    return stack(title, [figure(estimated) for estimated in every])


def _axis(low: float, high: float) -> Scale:
    """From a round number to a round number, around a range."""
    step = round_up((high - low) / 5 or 1)
    return Scale(step * (low // step), step * -(-high // step) if high > low else low + step)
