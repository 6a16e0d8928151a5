"""Reconstruction: secret bits worked out from many counts that were each a little wrong (Dinur and Nissim, 2003).

Everyone has one secret bit. A server answers how many of a random half of the people have theirs set, each answer off
by at most E. With enough answers and E well below the square root of the number of people, solving for the bits finds
nearly all of them. Noise that a budget pays for is too large for that, however many questions it is divided among.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.mechanisms import Laplace
from discreet.noise.bits import SystemBits, words
from discreet.show import Axis, Line, Picture, Scale, lines, share

__all__ = ["WAYS", "Guess", "curator_answers", "random_questions", "rebuild_bits", "reconstruct", "sloppy_answers"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
WAYS = ("squares", "program")

_TURNS = 60  # steps of conjugate gradients
_LARGEST = 50_000


@dataclass(frozen=True, slots=True)
class Guess:
    """How an attack went: the part of the bits that it got right, where coin flips get half."""

    people: int
    questions: int
    error: float
    """How far answers were off: the bound E, or the 95% half-width of the noise."""
    right: float
    way: str

    def explain(self) -> str:
        """In words."""
        scale = self.error / self.people**0.5
        return (
            f"{self.questions:,} counts over {self.people:,} people, each off by up to {self.error:,.4g} "
            f"({scale:.2g} times the square root of the people): {self.right:.1%} of the secret bits are right."
        )

    def __str__(self) -> str:
        return self.explain()


def random_questions(people: int, questions: int, bits: Bits | None = None) -> NDArray[np.int8]:
    """Random halves of the people, a row a question, as +1 (asked about) and 0."""
    source = SystemBits() if bits is None else bits
    wide = words(source, questions * ((people + 63) // 64)).view(np.uint8).reshape(questions, -1)
    return np.unpackbits(wide, axis=1)[:, :people].view(np.int8)


def sloppy_answers(asked: NDArray[np.int8], secret: Flags, error: float, bits: Bits | None = None) -> Floats:
    """Counts off by something uniform within +-error: what a server without a budget might think is enough."""
    source = SystemBits() if bits is None else bits
    off = (words(source, len(asked)) >> np.uint64(11)) * 2.0**-53 * 2 - 1
    return _counts(asked, secret) + error * off


def curator_answers(asked: NDArray[np.int8], secret: Flags, epsilon: float, bits: Bits | None = None) -> Floats:
    """The same counts under one budget: epsilon shared by all questions, exact Laplace noise on each.

    Guarantee: epsilon-private if one person's bit changes: each count moves by at most one, and the shares add up.
    """
    share = Fraction(epsilon) / len(asked)
    return Laplace(1 / share).release(_counts(asked, secret), bits=bits).astype(np.float64)


def _counts(asked: NDArray[np.int8], secret: Flags) -> NDArray[np.int64]:
    """By sums of few rows at a time: exact, and no copy of the questions as numbers."""
    found = np.empty(len(asked), dtype=np.int64)
    chosen = np.flatnonzero(secret)
    for start in range(0, len(asked), 512):
        found[start : start + 512] = asked[start : start + 512, chosen].sum(axis=1, dtype=np.int64)
    return found


def rebuild_bits(asked: NDArray[np.int8], answers: Floats, way: str = "squares") -> Flags:
    """Bits that fit the answers: by least squares, or by the linear program that makes the largest miss least."""
    if way not in WAYS:
        raise InputError("way", way, among=WAYS)
    return _by_squares(asked, answers) if way == "squares" else _by_program(asked, answers)


def _by_squares(asked: NDArray[np.int8], answers: Floats) -> Flags:
    """Conjugate gradients on the normal equations, centred so that the questions are nearly orthogonal."""
    people = asked.shape[1]
    half = answers - asked.sum(axis=1, dtype=np.int64) / 2  # bits as +-1/2
    matrix = asked.astype(np.float32)
    found = np.zeros(people, dtype=np.float32)
    rest = matrix.T @ half.astype(np.float32)
    turn, size = rest.copy(), float(rest @ rest)
    start = size
    for _ in range(_TURNS):
        pushed = matrix.T @ (matrix @ turn)
        step = size / max(float(turn @ pushed), 1e-30)
        found += step * turn
        rest -= step * pushed
        size, before = float(rest @ rest), size
        if size <= 1e-8 * start:
            break
        turn = rest + (size / before) * turn
    return np.asarray(found > 0)


def _by_program(asked: NDArray[np.int8], answers: Floats) -> Flags:
    from scipy.optimize import linprog

    questions, people = asked.shape
    rows = np.hstack([asked.astype(float), -np.ones((questions, 1))])
    both = np.vstack([rows, np.hstack([-asked.astype(float), -np.ones((questions, 1))])])
    cost = np.zeros(people + 1)
    cost[-1] = 1
    bounds = [(0, 1)] * people + [(0, None)]
    found = linprog(cost, A_ub=both, b_ub=np.concatenate([answers, -answers]), bounds=bounds, method="highs")
    if found.x is None:
        raise InputError("answers", Phrase("NaN or infinity"), "finite numbers")
    return np.asarray(found.x[:people] > 0.5)


def reconstruct(
    people: int = 1000,
    *,
    questions: int | None = None,
    errors: Sequence[float] = (0.1, 0.25, 0.5, 1, 4),
    epsilon: float | None = 1,
    way: str = "squares",
) -> list[Guess]:
    """The attack on made-up secrets: at errors of so many square roots of the people, and under a budget of epsilon."""
    if isinstance(people, bool) or not isinstance(people, int) or not 2 <= people <= _LARGEST:
        raise InputError("people", people, f"a whole number from 2 to {_LARGEST:,}")
    many = 4 * people if questions is None else questions
    if isinstance(many, bool) or not isinstance(many, int) or many < 1:
        raise InputError("questions", questions, "a whole number of at least 1")
    if epsilon is not None and not 0 < epsilon < float("inf"):
        raise InputError("epsilon", epsilon, "more than zero")
    secret = np.asarray(random_questions(people, 1)[0] > 0)
    asked = random_questions(people, many)

    def went(error: float, answers: Floats) -> Guess:
        return Guess(people, many, error, float((rebuild_bits(asked, answers, way) == secret).mean()), way)

    found = [went(error * people**0.5, sloppy_answers(asked, secret, error * people**0.5)) for error in errors]
    if epsilon is not None:
        width = float(Laplace(many / Fraction(epsilon)).error(0.95))
        found.append(went(width, curator_answers(asked, secret, epsilon)))
    return found


def picture(guesses: Sequence[Guess], epsilon: float | None) -> Picture:
    """The part of the bits found against the error of the answers, and where coin flips stand."""
    points = [(guess.error / guess.people**0.5, guess.right) for guess in guesses]
    many = len(points) - (epsilon is not None)
    series = [Line("without a budget", tuple(points[:many]), loose=True)] if many else []
    series += [Line("under a budget", tuple(points[many:]), loose=True)] if points[many:] else []
    errors = Scale.around([error for error, _ in points], log=True, room=0.2)
    return lines(
        "Secrets rebuilt from counts",
        series,
        x=Axis(errors, "error of an answer / square root of people"),
        y=Axis(Scale(0.4, 1), "secret bits found", share),
        levels=[("coin flips", 0.5)],
    )
