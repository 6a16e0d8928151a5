"""Reconstruction: secret bits worked out from many counts that were each a little wrong (Dinur and Nissim, 2003).

Everyone has one secret bit. A server answers how many of a random half of the people have theirs set, each answer off
by at most E. With enough answers and E well below the square root of the number of people, solving for the bits finds
nearly all of them. Noise that a budget pays for is too large for that, however many questions it is divided among.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.core.mechanism import Bits
from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.noise.bits import SystemBits
from discreet.risk.attack_result import AttackResult, check_epsilon, check_size, most_right
from discreet.risk.bit_solver import WAYS, rebuild_bits
from discreet.risk.draws import draw_bits
from discreet.risk.subset_counts import Floats, curator_answers, random_halves, sloppy_answers
from discreet.show import Axis, Line, Picture, Scale, brief, lines, share

__all__ = ["ERRORS", "Guess", "Reconstruction", "reconstruct"]

ERRORS = (0.1, 0.25, 0.5, 1.0, 4.0)
"""How far answers are off without a budget, in square roots of the number of people."""
_LARGEST = 100_000
_CONTROL = 0.25  # the error, in square roots of people, that the control's epsilon buys


@dataclass(frozen=True, slots=True)
class Guess:
    """One run: the part of the bits that it got right, where coin flips get half."""

    error: float
    """How far answers were off: the bound E, or what noise stays within 95 times in 100."""
    squares: float | None
    """Found by least squares."""
    program: float | None
    """Found by the linear program."""
    epsilon: float | None = None
    """None: without a budget."""

    @property
    def right(self) -> float:
        """What the better of the two found."""
        return max(found for found in (self.squares, self.program) if found is not None)


@dataclass(frozen=True, slots=True)
class Reconstruction(AttackResult):
    """Bits rebuilt from sloppy counts, from the same counts under a budget, and under one that is far too large."""

    derived: ClassVar[tuple[str, ...]] = ("most",)
    people: int
    questions: int
    sloppy: tuple[Guess, ...]
    """Without a budget, at each error."""
    private: Guess | None
    """Under the stated epsilon for all counts together."""
    control: Guess | None
    """The same noise at an epsilon so large that counts are as good as those without a budget."""
    one_count: float | None
    """How far off one count alone would be under the stated epsilon, 95 times in 100."""

    @property
    def most(self) -> float | None:
        """What no attack on answers under the stated epsilon finds more of, on average."""
        return None if self.private is None or self.private.epsilon is None else most_right(self.private.epsilon)

    def scaled(self, error: float) -> float:
        """An error in square roots of the number of people."""
        return error / math.sqrt(self.people)

    def details(self) -> list[str]:
        """A line for each error, and for each epsilon."""
        told = [f"{self.questions:,} counts over random halves of {self.people:,} people, each with one secret bit."]
        told += [
            f"Each count off by up to {brief(guess.error)} ({self.scaled(guess.error):.2g} times the square root of "
            f"the people): {_ways(guess)} of the bits found."
            for guess in self.sloppy
        ]
        if self.private is None or self.control is None or self.most is None or self.one_count is None:
            return told
        told.append(
            f"Under epsilon = {self.private.epsilon:g} for all counts together each is off by up to "
            f"{brief(self.private.error)}, 95 times in 100: {_ways(self.private)} found, where coin flips find half "
            f"and no attack, this or another, more than {self.most:.1%} on average. The price: one count alone would "
            f"have been off by up to {brief(self.one_count)}."
        )
        told.append(
            f"The same noise at epsilon = {self.control.epsilon:,g} (each count off by up to "
            f"{brief(self.control.error)}): {_ways(self.control)} found. It is the size of the noise that stops the "
            "attack, and nothing else."
        )
        return told

    def conclusion(self) -> str:
        """Why asking more does not help."""
        best = max(self.sloppy, key=lambda guess: guess.right, default=None)
        without = (
            f"{best.right:.0%} of the secrets follow from counts that were each off by no more than {brief(best.error)}"
            if best is not None
            else "Counts that are each nearly right tell everybody's secret"
        )
        if self.private is None:
            return f"{without}."
        return (
            f"{without}, and {self.private.right:.0%} under epsilon = {self.private.epsilon:g}, because one budget is "
            f"for all {self.questions:,} of them: the noise on each grows with their number."
        )

    def picture(self) -> Picture:
        """The part of the bits found against the error of the answers, and where coin flips stand."""
        series = [
            Line(name, points)
            for name, way in (("least squares", "squares"), ("linear program", "program"))
            if (points := tuple((self.scaled(one.error), found) for one in self.sloppy if (found := getattr(one, way))))
        ]
        for one in (self.control, self.private):
            if one is not None:
                ways = [found for found in (one.squares, one.program) if found is not None]
                label = f"epsilon = {one.epsilon:,g} for all counts{', both solvers' * (len(ways) > 1)}"
                series.append(Line(label, tuple((self.scaled(one.error), found) for found in ways), loose=True))
        errors = Scale.around([x for line in series for x, _ in line.points], log=True, room=0.2)
        levels = [("coin flips", 0.5)]
        if self.private is not None and self.most is not None:
            levels.append((f"no attack beats, on average, at epsilon = {self.private.epsilon:g}", self.most))
        return lines(
            "Secrets rebuilt from counts",
            series,
            x=Axis(errors, "error of an answer / square root of people"),
            y=Axis(Scale(0.4, 1), "secret bits found", share),
            levels=levels,
        )


def _ways(guess: Guess) -> str:
    known = (("least squares", guess.squares), ("the linear program", guess.program))
    return " and ".join(f"{found:.1%} by {name}" for name, found in known if found is not None)


def reconstruct(
    people: int = 1000,
    *,
    questions: int | None = None,
    errors: Sequence[float] = ERRORS,
    epsilon: float | None = 1,
    way: str = "both",
    bits: Bits | None = None,
) -> Reconstruction:
    """The attack on made-up secrets: at errors of so many square roots of the people, and under a budget of epsilon.

    `way` is least squares (`squares`), the linear program (`program`), or both.

    >>> found = reconstruct(300, errors=(0.1,), epsilon=1)
    >>> found.sloppy[0].right > 0.95, found.private.right < 0.7
    (True, True)
    """
    check_size("people", people, 2, _LARGEST)
    many = 4 * people if questions is None else questions
    check_size("questions", many, 1, 16 * _LARGEST)
    if epsilon is not None:
        check_epsilon(epsilon)
    if way not in (*WAYS, "both"):
        raise InputError("way", way, among=(*WAYS, "both"))
    if not errors and epsilon is None:
        raise InputError("errors", [], "at least one error, where there is no epsilon")
    if wrong := [error for error in errors if not 0 <= error < math.inf]:
        raise InputError("errors", wrong[0], "numbers of at least zero")
    source = SystemBits() if bits is None else bits
    secret = draw_bits(source, people)
    asked = random_halves(people, many, source)
    root = math.sqrt(people)

    def guess(error: float, answers: Floats, budget: float | None = None) -> Guess:
        found = [
            float((rebuild_bits(asked, answers, name) == secret).mean()) if way in (name, "both") else None
            for name in WAYS
        ]
        return Guess(error, found[0], found[1], budget)

    def under(budget: float) -> Guess:
        width = float(Laplace(many / Fraction(budget)).error(0.95))
        return guess(width, curator_answers(asked, secret, budget, source), budget)

    sloppy = tuple(guess(error * root, sloppy_answers(asked, secret, error * root, source)) for error in errors)
    if epsilon is None:
        return Reconstruction(people, many, sloppy, None, None, None)
    large = float(f"{max(epsilon, many * math.log(20) / (_CONTROL * root)):.2g}")
    one_count = float(Laplace(1 / Fraction(epsilon)).error(0.95))
    return Reconstruction(people, many, sloppy, under(epsilon), under(large), one_count)
