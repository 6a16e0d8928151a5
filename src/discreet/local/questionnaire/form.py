"""Answers of several parts: which options apply, in which order, where on a scale. One part is told, by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.local.questionnaire.grid import Grid
from discreet.local.sampled import Sampled

__all__ = ["Form", "Ranking", "Scale", "Several"]

Floats = NDArray[np.float64]
_SMALL = 8  # points of a scale that need no coarse level


@dataclass(frozen=True, slots=True)
class Several:
    """Any of the options, also none. A part is an option: it applies, or not."""

    options: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """What is estimated: the share to whom each option applies."""
        return self.options

    @property
    def sizes(self) -> list[int]:
        """How many values each part can have."""
        return [2] * len(self.options)

    def encode(self, answer: Any, name: str) -> list[int]:
        """An answer, a list of options, as a value for each part."""
        chosen = _listed(answer, name, self.options)
        return [int(option in chosen) for option in self.options]

    def example(self, number: int) -> Any:
        """One of the possible answers, in turn."""
        return [option for place, option in enumerate(self.options) if number >> place & 1]

    def sums(self, mechanism: Sampled) -> list[list[Floats]]:
        """What is estimated, as weights of the values of each part."""
        return [
            [np.array([0.0, float(part == place)]) for part in range(len(self.options))]
            for place in range(len(self.options))
        ]

    def report_labels(self) -> list[list[str]]:
        """What a report says, by part and value."""
        return [[f"{option}: no", f"{option}: yes"] for option in self.options]


@dataclass(frozen=True, slots=True)
class Ranking:
    """All options in order, the best first. A part is an option, its value the place."""

    options: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """What is estimated: the mean place of each option."""
        return self.options

    @property
    def sizes(self) -> list[int]:
        """How many values each part can have."""
        return [len(self.options)] * len(self.options)

    def encode(self, answer: Any, name: str) -> list[int]:
        """An answer, all options in order, as a value for each part."""
        ordered = _listed(answer, name, self.options)
        if len(ordered) != len(self.options):
            raise InputError(name, Phrase(f"{len(ordered)} of them"), f"all {len(self.options)} options in order")
        return [ordered.index(option) for option in self.options]

    def example(self, number: int) -> Any:
        """One of the possible answers, in turn."""
        turn = number % len(self.options)
        return [*self.options[turn:], *self.options[:turn]]

    def sums(self, mechanism: Sampled) -> list[list[Floats]]:
        """What is estimated, as weights of the values of each part."""
        count = len(self.options)
        places = np.arange(1.0, count + 1)
        return [[places * float(part == place) for part in range(count)] for place in range(count)]

    def report_labels(self) -> list[list[str]]:
        """What a report says, by part and value."""
        return [[f"{option}: place {place + 1}" for place in range(len(self.options))] for option in self.options]


@dataclass(frozen=True, slots=True)
class Scale:
    """A number on a grid. A part is a level: blocks of neighbouring points, and the points themselves.

    `edges` are the places on the grid where the ranges that are shown begin, and its end.
    """

    grid: Grid
    edges: tuple[int, ...]

    @property
    def blocks(self) -> tuple[int, ...]:
        """How many points a value of each level stands for."""
        if self.grid.points <= _SMALL:
            return (1,)
        return (-(-self.grid.points // round(self.grid.points**0.5)), 1)

    @property
    def labels(self) -> tuple[str, ...]:
        """What is estimated: the share in each range."""
        return tuple(self._range(first, last - 1) for first, last in self.ranges())

    def ranges(self) -> list[tuple[int, int]]:
        """The first place of each range that is shown, and the place after its last."""
        return list(pairwise(self.edges))

    def _range(self, first: int, last: int) -> str:
        return self.grid.text(first) if first == last else f"{self.grid.text(first)} to {self.grid.text(last)}"

    @property
    def sizes(self) -> list[int]:
        """How many values each part can have."""
        return [-(-self.grid.points // block) for block in self.blocks]

    def encode(self, answer: Any, name: str) -> list[int]:
        """An answer, a number of the grid, as a value for each part."""
        point = self.grid.index(answer)
        return [point // block for block in self.blocks]

    def example(self, number: int) -> Any:
        """One of the possible answers, in turn."""
        return self.grid.text(number % self.grid.points)

    def sums(self, mechanism: Sampled) -> list[list[Floats]]:
        """What is estimated, as weights of the values of each part.

        Both levels tell of every range. Weights W of a level's values count a point by the weight of the block that it
        is in; those taken here add up to the range's own indicator, so sums are unbiased, and among all that do, they
        are those of least squares, each level as heavy as it is exact. Proof: docs/proofs/local.md.
        """
        points = np.arange(self.grid.points)
        inside = [(points >= first) & (points < last) for first, last in self.ranges()]
        return self.weights(mechanism, [one.astype(np.float64) for one in inside])

    def weights(self, mechanism: Sampled, wanted: Sequence[Floats]) -> list[list[Floats]]:
        """The same of any sums over the points: a number for each point, such as its value, whose mean is estimated."""
        points = np.arange(self.grid.points)
        exact = [1 / part.variance(1, 0) for part in mechanism.parts]
        levels = [
            (points[None, :] // b == np.arange(size)[:, None]) * 1.0
            for b, size in zip(self.blocks, self.sizes, strict=True)
        ]
        gram = sum(w * level.T @ level for w, level in zip(exact, levels, strict=True))
        out = []
        for one in wanted:
            solved = np.linalg.solve(gram, one)
            out.append([w * level @ solved for w, level in zip(exact, levels, strict=True)])
        return out

    def report_labels(self) -> list[list[str]]:
        """What a report says, by part and value."""
        last = self.grid.points - 1
        return [
            [self._range(place * block, min(last, place * block + block - 1)) for place in range(size)]
            for block, size in zip(self.blocks, self.sizes, strict=True)
        ]


Form = Several | Ranking | Scale


def _listed(answer: Any, name: str, options: Sequence[str]) -> list[str]:
    if isinstance(answer, str) or not isinstance(answer, Sequence):
        raise InputError(name, Phrase("another answer"), "a list of options")
    chosen = list(answer)
    if len(set(chosen)) < len(chosen) or not set(chosen) <= set(options):
        raise InputError(
            name, Phrase("another answer"), "a list of different options", "They are: " + ", ".join(options)
        )
    return chosen
