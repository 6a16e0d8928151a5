"""Differencing: two harmless answers, counts or means, whose difference is one person."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.mechanisms import Laplace
from discreet.noise.bits import SystemBits
from discreet.risk.attack_result import AttackResult, check_epsilon, most_right
from discreet.risk.draws import draw_even
from discreet.show import Bar, Picture, bars

__all__ = ["Difference", "MeanDifference", "difference_means", "differencing", "draw_salaries"]

_MOST = 10**15
_RUNS = 2000


@dataclass(frozen=True, slots=True)
class Difference(AttackResult):
    """How often two counts, one of everybody and one of everybody but the target, told the target's secret."""

    people: int
    targets: int
    right_exact: float
    right_noisy: float
    epsilon: float
    best: float
    """What no attack on epsilon-private answers beats on average, for bits that are even odds."""
    error: int
    """How far off a count is under the budget, at most, 95 times in 100."""

    def details(self) -> list[str]:
        """Exact counts, and both under a budget."""
        return [
            f"'How many have it' and 'how many besides this one have it', over {self.people:,} people: exact counts "
            f"tell the secret of {self.right_exact:.1%} of {self.targets:,} targets.",
            f"Both counts under a budget of epsilon = {self.epsilon:g}: {self.right_noisy:.1%} are guessed right, "
            f"where coin flips get 50% and no attack gets more than {self.best:.1%} on average. The price: a count is "
            f"off by up to {self.error:,}, 95 times in 100, however many people it counts.",
        ]

    def conclusion(self) -> str:
        """Why two counts tell, and do not under a budget."""
        return (
            f"Two exact counts tell anybody's secret; under epsilon = {self.epsilon:g} for both {self.right_noisy:.0%} "
            "are guessed, because one person moves a count by one and the noise is larger."
            if self.error > 1
            else f"Two exact counts tell anybody's secret, and so they do under epsilon = {self.epsilon:g}: the noise "
            "is no larger than one person."
        )

    def picture(self) -> Picture:
        """How many secrets are told by exact counts, under the budget, at best, and by a coin."""
        data = [
            Bar("exact counts", self.right_exact),
            Bar(f"epsilon = {self.epsilon:g}", self.right_noisy, series=1),
            Bar("no attack beats, on average", self.best, series=2),
            Bar("a coin", 0.5, series=3),
        ]
        return bars("Secrets revealed by two counts", data, format="{:.1%}".format, ticks="{:.0%}".format)


def differencing(
    secret: NDArray[np.bool_], epsilon: float, *, targets: int | None = None, bits: Bits | None = None
) -> Difference:
    """Attack the first `targets` people of a column of secret bits, each by two counts.

    Guarantee of the noisy answers, for each target: epsilon-private for one person's bit, half of it for each count.
    """
    bit = np.asarray(secret, dtype=bool)
    if bit.ndim != 1 or len(bit) < 2:
        raise InputError("secret", Phrase(f"shape {bit.shape}"), "a column of at least two bits")
    check_epsilon(epsilon)
    many = len(bit) if targets is None else targets
    if not 1 <= many <= len(bit):
        raise InputError("targets", targets, f"a whole number from 1 to {len(bit):,}")
    noise = Laplace(2 / Fraction(epsilon))
    total = np.full(many, bit.sum(), dtype=np.int64)
    without = total - bit[:many]
    gap = noise.release(total, bits=bits) - noise.release(without, bits=bits)
    guess = np.where(gap == 0, np.arange(many) % 2 == 0, gap > 0)  # a tie is decided by nothing at all
    return Difference(
        len(bit),
        many,
        float(((total - without) == bit[:many]).mean()),
        float((guess == bit[:many]).mean()),
        float(epsilon),
        most_right(epsilon),
        noise.error(0.95),
    )


@dataclass(frozen=True, slots=True)
class MeanDifference(AttackResult):
    """Somebody's salary from the average with them and without them: n times the one less n - 1 times the other."""

    people: int
    bound: int
    """No salary is larger: declared, not looked up."""
    mean: float
    mean_without: float
    salary: int
    """The truth."""
    exact: float
    """What follows from the two averages."""
    epsilon: float
    noisy: float
    """What follows from one pair of noisy averages."""
    miss: float
    """How far off that is, typically: the median of many pairs."""
    blind: float
    """How far off the salary is from the average of the others: what is guessed without the second answer."""
    error: float
    """How far off an average is under the budget, at most, 95 times in 100."""

    def details(self) -> list[str]:
        """Two exact averages, and both under a budget."""
        return [
            f"The average salary of {self.people:,} people is {self.mean:,.2f}; of all but one of them it is "
            f"{self.mean_without:,.2f}. The salary of the one follows: {self.exact:,.0f} (truly {self.salary:,}).",
            f"Both averages under a budget of epsilon = {self.epsilon:g}, salaries up to {self.bound:,}: the same sum "
            f"gives {self.noisy:,.0f}, off by {self.miss:,.0f} typically. Who guesses the average of the others is off "
            f"by {self.blind:,.0f}. The price: each average is off by up to {self.error:,.0f} "
            f"({self.error / max(self.mean, 1):.1%} of it), 95 times in 100; twice as many people halve that.",
        ]

    def conclusion(self) -> str:
        """Why two averages tell, and do not under a budget."""
        told = f"Two exact averages tell one salary; under epsilon = {self.epsilon:g} for both "
        if self.miss < self.blind:
            return (
                f"{told}they still tell something of it: off by {self.miss:,.0f}, where a guess is off by "
                f"{self.blind:,.0f}."
            )
        return (
            f"{told}the sum says less of it than a guess does, because the noise covers any salary up to "
            f"{self.bound:,} while the average of {self.people:,} people stays good."
        )

    def picture(self) -> Picture:
        """The averages, the salary, and what is worked out of them."""
        data = [
            Bar("average of all", self.mean),
            Bar("average without the one", self.mean_without),
            Bar("salary of the one", self.salary, heading="What nobody published"),
            Bar("from exact averages", self.exact),
            Bar(f"epsilon = {self.epsilon:g}", self.miss, series=1, heading="How far off it is, typically"),
            Bar("a guess: the average of others", self.blind, series=2),
        ]
        return bars("Two averages and one salary", data)


def draw_salaries(people: int, bound: int) -> NDArray[np.int64]:
    """Made-up salaries up to a bound, the first the largest: most earn little, few much."""
    drawn = np.sort((bound * (0.01 + 0.99 * draw_even(SystemBits(), people) ** 4)).astype(np.int64))[::-1]
    return np.ascontiguousarray(drawn)


def difference_means(
    salaries: NDArray[np.int64], epsilon: float, *, bound: int, target: int = 0, bits: Bits | None = None
) -> MeanDifference:
    """Attack one person by two averages. The number of people is public, as it stands beside an average.

    Guarantee of the noisy answers: epsilon-private for one salary replaced by another from 0 to `bound`, half of it for
    each sum; salaries above the bound count as the bound.

    >>> found = difference_means(np.array([1_999_000, 999_000, 999_000]), 1, bound=2_000_000)
    >>> round(found.exact)
    1999000
    """
    pay = np.asarray(salaries)
    if pay.ndim != 1 or len(pay) < 2 or pay.dtype.kind not in "iu" or pay.min() < 0:
        raise InputError(
            "salaries", Phrase(f"shape {pay.shape}"), "a column of at least two whole numbers, none below 0"
        )
    if isinstance(bound, bool) or not isinstance(bound, int) or not 1 <= bound * len(pay) <= _MOST:
        raise InputError("bound", bound, "a whole number above zero; times the people at most 10^15")
    check_epsilon(epsilon)
    if not 0 <= target < len(pay):
        raise InputError("target", target, f"a row from 0 to {len(pay) - 1:,}")
    many, total, own = len(pay), int(pay.sum()), int(pay[target])
    clipped = np.minimum(pay, bound).astype(np.int64)
    noise = Laplace(2 * bound / Fraction(epsilon))
    sums = np.tile([clipped.sum(), clipped.sum() - clipped[target]], (_RUNS, 1)).astype(np.int64)
    seen = noise.release(sums.ravel(), bits=bits).reshape(sums.shape)
    guesses = (seen[:, 0] - seen[:, 1]).astype(np.float64)
    mean, without = total / many, (total - own) / (many - 1)
    return MeanDifference(
        many,
        bound,
        mean,
        without,
        own,
        many * mean - (many - 1) * without,
        float(epsilon),
        float(guesses[0]),
        float(np.median(np.abs(guesses - own))),
        abs(own - without),
        float(noise.error(0.95)) / many,
    )
