"""Counts over random halves of the people: which are asked, and what a server answers.

The halves are rows of a Hadamard matrix, of which each person has a column drawn at random. Every question is about
half of the people, and any two people are together in half of them, as in halves drawn one by one; but no matrix is
ever stored, and to ask all questions, or to add up their answers for everyone, takes a fast transform (Dwork and
Yekhanin, 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.mechanisms import Laplace
from discreet.noise.bits import SystemBits
from discreet.risk.draws import draw_even, draw_order

__all__ = ["Halves", "curator_answers", "random_halves", "sloppy_answers"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """Questions about halves of the people: rows and columns of a Hadamard matrix of this `order`, a power of two.

    A person is asked about where the entry of the question and the person is +1. Column 0, all +1, is nobody's.
    """

    order: int
    rows: NDArray[np.int64]
    """A row of the matrix for each question."""
    columns: NDArray[np.int64]
    """A column for each person."""

    @property
    def people(self) -> int:
        """How many people there are."""
        return len(self.columns)

    def asked(self, question: int) -> Flags:
        """Who is asked about."""
        return np.asarray(np.bitwise_count(self.rows[question] & self.columns) % 2 == 0)

    def count(self, secret: Flags) -> NDArray[np.int64]:
        """How many of those asked about have their bit set, exactly: half of all who have it and of their signs."""
        return np.asarray((int(secret.sum()) + self.sums(secret.astype(np.int64))) // 2)

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """For each question the sum of all values, those of people who are not asked about taken away."""
        wide = np.zeros(self.order, dtype=values.dtype)
        wide[self.columns] = values
        return _transform(wide)[self.rows]

    def shares(self, answers: Floats) -> Floats:
        """For each person the sum of all answers, those to questions that are not about them taken away."""
        wide = np.zeros(self.order)
        wide[self.rows] = answers
        return _transform(wide)[self.columns]


def _transform(values: NDArray[Any]) -> NDArray[Any]:
    """The product with a Hadamard matrix, in place: sums and differences of neighbours, then of pairs, and so on."""
    width = 1
    while width < len(values):
        pairs = values.reshape(-1, 2, width)
        total = pairs[:, 0] + pairs[:, 1]
        np.subtract(pairs[:, 0], pairs[:, 1], out=pairs[:, 1])
        pairs[:, 0] = total
        width *= 2
    return values


def random_halves(people: int, questions: int, bits: Bits | None = None) -> Halves:
    """So many questions, each about half of the people."""
    source = SystemBits() if bits is None else bits
    order = 1 << max(people, questions - 1).bit_length()
    return Halves(order, draw_order(source, order)[:questions], 1 + draw_order(source, order - 1)[:people])


def sloppy_answers(asked: Halves, secret: Flags, error: float, bits: Bits | None = None) -> Floats:
    """Counts off by something uniform within +-error: what a server without a budget might think is enough."""
    off = 2 * draw_even(SystemBits() if bits is None else bits, len(asked.rows)) - 1
    return np.asarray(asked.count(secret) + error * off)


def curator_answers(asked: Halves, secret: Flags, epsilon: float, bits: Bits | None = None) -> Floats:
    """The same counts under one budget: epsilon shared by all questions, exact Laplace noise on each.

    Guarantee: epsilon-private if one person's bit changes: each count moves by at most one, and the shares add up.
    """
    share = Fraction(epsilon) / len(asked.rows)
    return Laplace(1 / share).release(asked.count(secret), bits=bits).astype(np.float64)
