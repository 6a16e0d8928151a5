"""What a membership attack found of a target made in several ways, beside the line that an epsilon draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.risk.attack_result import AttackResult
from discreet.risk.membership import Membership, most_named
from discreet.show import Line, Picture, roc, share

__all__ = ["FEW", "Exposed", "Exposure"]

FEW = 0.01
"""The part of others falsely accused at which attacks are compared."""
_ACCUSED = 5  # people, at the least, where a curve begins
_LEAST = 0.001  # where the axes of the picture begin


@dataclass(frozen=True, slots=True)
class Exposed:
    """One target and how well its members are told from others."""

    label: str
    epsilon: float | None
    """None: without a budget."""
    found: Membership
    """By the stronger attack."""
    attack: str
    """Which one that is."""
    weaker: Membership | None = None
    weaker_attack: str = ""
    use: float | None = None
    """What the target is good for."""


@dataclass(frozen=True, slots=True)
class Exposure(AttackResult):
    """Who was in the data, asked of targets made without a budget, with one that is far too large, and as stated."""

    derived: ClassVar[tuple[str, ...]] = ("most", "most_named")
    target: str
    targets: tuple[Exposed, ...]
    epsilon: float
    delta: float
    use: str
    """What `use` of a target measures; empty if nothing does."""
    why: str
    """Why the attack fails under the stated epsilon."""

    @property
    def most(self) -> float:
        """The largest advantage of any attack under the stated epsilon."""
        return self.targets[0].found.at_most(self.epsilon, self.delta)

    @property
    def most_named(self) -> float:
        """The largest part of members that any attack names under it, accusing 1% of others, on average."""
        return most_named(FEW, self.epsilon, self.delta)

    def details(self) -> list[str]:
        """A line for each target."""
        told = []
        for one in self.targets:
            use = "" if one.use is None else f" ({self.use} {one.use:.1%})"
            weaker = ""
            if one.weaker is not None:
                weaker = f" {one.weaker_attack.capitalize()} identifies {one.weaker.at(FEW):.1%} there."
            told.append(f"{self.target}, {one.label}{use}, by {one.attack}. {one.found}{weaker}")
        return told

    def conclusion(self) -> str:
        """What is named, and what an epsilon allows."""
        most = f"identifies more than {share(self.most_named)} on average"
        first = self.targets[0]
        opening = f"At a false positive rate of 1%, the attack identifies {first.found.at(FEW):.1%} of the members"
        stated = [one for one in self.targets[1:] if one.epsilon == self.epsilon]
        if not stated:
            beyond = first.found.at(FEW) > self.most_named
            end = (
                "and this is more: a reason to audit such a claim (`discreet audit`)"
                if beyond
                else "and this is within that, which shows nothing of other attacks"
            )
            claim = f"epsilon = {self.epsilon:g} and delta = {self.delta:g}"
            return f"{opening}; no attack on what was made under {claim} {most}, {end}."
        return (
            f"{opening} ({first.label}), and {stated[0].found.at(FEW):.1%} under epsilon = {self.epsilon:g}, where no "
            f"attack {most}: {self.why}."
        )

    def picture(self) -> Picture:
        """Members named against others accused, both on logarithmic scales, with the line that the epsilon draws."""
        curves = []
        for one in self.targets:
            curves.append(Line(one.label, _points(one.found)))
            if one.weaker is not None and one is self.targets[0]:
                curves.append(Line(f"{one.label}: {one.weaker_attack}", _points(one.weaker)))
        rates = np.geomspace(_LEAST, 1, 41).tolist()
        most = [(rate, most_named(rate, self.epsilon, self.delta)) for rate in rates]
        edge = Line(f"the most that epsilon = {self.epsilon:g} allows", tuple(most))
        names = ("others falsely accused", "members named")
        return roc(f"Who was in the data? {self.target}", curves, names=names, least=_LEAST, edge=edge)


def _points(found: Membership) -> tuple[tuple[float, float], ...]:
    """The curve from where it rests on a few people who are accused."""
    known = [
        (rate, named)
        for rate, named in zip(found.accused, found.caught, strict=True)
        if rate * found.others >= _ACCUSED and named > 0
    ]
    return (*known, (1.0, 1.0))
