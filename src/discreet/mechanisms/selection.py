"""What the selections of one candidate share: a price, how far a unit moves a score, and the rate that follows."""

from __future__ import annotations

from fractions import Fraction

from attrs import field, frozen

from discreet.core.check import named
from discreet.mechanisms.inputs import read_count, read_epsilon, read_flag

__all__ = ["Selection"]


@frozen(field_transformer=named)
class Selection:
    """A choice by score: a unit moves every score by at most `sensitivity`.

    Scores are `monotone` if the scores of a dataset and of any neighbour never cross: all of one are at least those of
    the other (counts under add/remove are).
    """

    epsilon: Fraction = field(converter=read_epsilon)
    sensitivity: int = field(default=1, converter=read_count)
    monotone: bool = field(default=False, converter=read_flag)

    @property
    def rate(self) -> Fraction:
        """By how much the log-probability, of a choice or of heads, grows with each point of score."""
        return self.epsilon / (self.sensitivity if self.monotone else 2 * self.sensitivity)
