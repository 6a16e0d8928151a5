"""What a plan says of itself before anything is spent: plain values. Text, JSON and pages are renderings of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from discreet.core.release import number, percent
from discreet.core.wire import Json
from discreet.errors import InputError, Phrase

__all__ = ["Accuracy", "Explaining", "Explanation", "largest_error"]

_SIZES = (100, 1_000, 10_000)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How far one output may be off, from the noise alone: a half-width, or half-widths for groups of some sizes.

    `of` says what the half-width is a distance of: a `value`; a `rank`, in rows from those of `ranks`; a `choice`,
    which may be so far behind the best one left; or a `shortfall` of what is chosen behind the best. `unit` is what
    half-widths are multiples of, if not of one. `share` is the part of the price that is spent on it.
    """

    output: str
    noise: str
    half_width: float | None = None
    by_rows: tuple[tuple[int, float], ...] = ()
    unit: str = ""
    of: Literal["value", "rank", "choice", "shortfall"] = "value"
    ranks: tuple[Fraction, ...] = ()
    share: float | None = None

    def text(self, confidence: float) -> str:
        """In a line.

        >>> Accuracy("visits", "discrete Laplace, scale 10", 30).text(0.95)
        'visits: +-30 (95%); discrete Laplace, scale 10.'
        """
        share = "" if self.share is None else f"; {self.share:.1%} of the price"
        return f"{self.output}: {self.error(confidence)}; {self.noise}{share}."

    def error(self, confidence: float) -> str:
        """How far it may be off, in words."""
        sure, half = f" ({percent(confidence)})", self.half_width
        match self.of:
            case "rank":
                off = math.ceil(half or 0)
                return f"a rank within {off:,} rows of the requested one{sure}: {self._spans(off)} in the group"
            case "choice":
                behind = number(math.ceil(half or 0))
                return f"each at most {behind} behind the most common remaining value, all of them{sure}"
            case "shortfall":
                return f"at most {number(math.ceil(half or 0))} {self.unit} behind the best{sure}"
            case _ if half is not None:
                return f"+-{number(half)} {self.unit}".rstrip() + sure
            case _:
                sizes = ", ".join(f"about +-{number(width)} at {rows:,} rows" for rows, width in self.by_rows)
                return f"{sizes} in the group" + (f", {self.unit}" if self.unit else "") + sure

    def _spans(self, off: int) -> str:
        """Which quantiles the value may be in groups of some sizes."""
        sizes = []
        for rows in _SIZES:
            pairs = [(max(0.0, float(q) - off / rows), min(1.0, float(q) + off / rows)) for q in self.ranks]
            spans = [
                "any value" if pair == (0.0, 1.0) else "{:.3g}%..{:.3g}%".format(*(100 * p for p in pair))
                for pair in pairs
            ]
            sizes.append(f"{' and '.join(dict.fromkeys(spans))} at {rows:,} rows")
        return ", ".join(sizes)

    def to_dict(self) -> dict[str, Json]:
        """Plain values; what says nothing is left out."""
        told: dict[str, Json] = {"output": self.output, "noise": self.noise, "half_width": self.half_width}
        if self.by_rows:
            told["by_rows"] = {str(rows): width for rows, width in self.by_rows}
        unit = "ranks" if self.of == "rank" else self.unit
        told |= {"unit": unit} if unit else {}
        told |= {"of": self.of} if self.of != "value" else {}
        return told if self.share is None else {**told, "share": self.share}


class Explaining:
    """A plan that a notebook shows by what it says of itself."""

    __slots__ = ()

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self.explained()._repr_html_()


@dataclass(frozen=True, slots=True)
class Explanation:
    """A plan for a person who is about to spend on it. Nothing in it depends on the data."""

    title: str
    """What is planned: "Plan for a hierarchy of 'visits'"."""
    unit: str
    """What is protected."""
    shape: tuple[str, ...]
    """What will be published, in sentences."""
    errors: tuple[Accuracy, ...] = ()
    confidence: float = 0.95
    """Of the errors."""
    steps: tuple[str, ...] = ()
    """How it comes about: searches, draws, what is measured first."""
    notes: tuple[str, ...] = ()
    """What else an answer will be off by, and what the price does not cover."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Further plain values, by name, for programs."""
    parts: tuple[tuple[str, Explanation], ...] = ()
    """What is priced together."""

    def lines(self, price: Sequence[str] = ()) -> list[str]:
        """As text, with the lines of the price below the title."""
        title = f"{self.title}; protects {self.unit}." if self.unit else f"{self.title}."
        lines = [title, *price, *self.shape]
        for name, part in self.parts:
            lines += [f"{name}:", *("  " + line for line in part.lines()[1:])]
        lines += [f"  {step}" for step in self.steps]
        lines += [f"  {expected.text(self.confidence)}" for expected in self.errors]
        return [*lines, *(f"  Note: {note}" for note in self.notes)]

    def _repr_html_(self) -> str:
        from discreet.show import cell, verbatim  # of a plan that is only printed nothing is drawn

        title, *lines = self.lines()
        return cell(title, verbatim("\n".join(lines)), kind="Plan")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        told: dict[str, Any] = {
            **self.facts,
            "title": self.title,
            "unit": self.unit,
            "shape": list(self.shape),
            "confidence": self.confidence,
            "expected": [expected.to_dict() for expected in self.errors],
            "steps": list(self.steps),
            "notes": list(self.notes),
        }
        return told if not self.parts else {**told, "parts": {name: part.to_dict() for name, part in self.parts}}


def largest_error(errors: Sequence[Accuracy], rows: int) -> float:
    """The largest half-width in groups of at least so many rows, of those for which errors are stated.

    >>> largest_error([Accuracy("n", "", 30), Accuracy("pay", "", None, ((100, 500.0), (1000, 50.0)))], 1000)
    50.0
    """
    found = []
    for one in errors:
        if one.half_width is not None:
            found.append(float(one.half_width))
        elif one.by_rows:
            sizes = dict(one.by_rows)
            if rows not in sizes:
                raise InputError("at_rows", rows, "a size that errors are stated for", among=sizes)
            found.append(sizes[rows])
    if not found:
        hint = "Give epsilon, rho or share."
        raise InputError("within", Phrase("an accuracy"), "left out: no error of this is known beforehand", hint)
    return max(found)
