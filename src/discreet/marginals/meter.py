"""The only way to the private marginals: measuring one with noise, choosing among many, every time at a price.

A method of synthesis gets a meter and nothing else. It may look at what came out before it asks for more; the meter
adds up what is spent and refuses what would exceed the price of the job, charged before the first row was read.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import sqrt_down
from discreet.core.mechanism import Bits
from discreet.core.sensitivity import Sensitivity
from discreet.errors import InputError, Phrase
from discreet.marginals.counts import Bins, Columns, Counts
from discreet.marginals.domain import Domain
from discreet.mechanisms import Gaussian, Laplace, TopK

__all__ = ["Meter", "Noisy"]

Currency = Literal["epsilon", "rho"]
_FINE = 64  # weights are rounded up to multiples of 1/64
_HEAVIEST = 2**20
_LARGEST = 2**34  # a guess beyond is cut: sums of so many fit 64 bits
_FARTHEST = 2**40  # distances beyond are cut, so that no score leaves 64 bits


@dataclass(frozen=True, slots=True, eq=False)
class Noisy:
    """A marginal as it was measured: counts with noise of a known law, one axis a column."""

    columns: Columns
    values: NDArray[np.int64]
    noise: Laplace | Gaussian

    @property
    def variance(self) -> float:
        """Of the noise on each count."""
        return self.noise.variance


@dataclass(slots=True)
class _Balance:
    """What may be spent, what was, and what came of it."""

    price: Fraction
    spent: Fraction = Fraction(0)
    answers: list[tuple[Bins | None, Noisy]] = field(default_factory=list)
    choices: list[list[int]] = field(default_factory=list)
    broken: bool = False
    # Two threads must not both spend what is left once, nor read one stream of bits together.
    lock: threading.Lock = field(default_factory=threading.Lock)


class Meter:
    """Measures and chooses within a fixed price, counted in `epsilon` (Laplace noise) or `rho` (Gaussian).

    `moved` bounds how far one unit can move any one marginal, whichever codes are counted together: the sum of the
    changes (`moved.l1`) and the sum of their squares (`moved.l2_squared`). One row added: Sensitivity(1). One row
    replaced: Sensitivity(1, outputs=2). A person with up to r rows: Sensitivity(r), since all may be in one cell.

    Guarantee
        Everything that came out of a meter, however the questions were chosen, costs at most `price` in its currency:
        pure differential privacy adds up, zCDP adds up, and what would exceed the price is refused before anything is
        drawn. Proof: docs/proofs/synth.md.
    """

    def __init__(
        self, counts: Counts, moved: Sensitivity, currency: Currency, price: Fraction, bits: Bits | None = None
    ) -> None:
        self._counts = counts
        self.moved = moved
        self._bits = bits
        self._bins: Bins | None = None
        self.currency: Currency = currency
        self._balance = _Balance(Fraction(price))

    @property
    def price(self) -> Fraction:
        """What everything together may cost."""
        return self._balance.price

    @property
    def spent(self) -> Fraction:
        """What was paid so far."""
        return self._balance.spent

    def merged(self, bins: Bins) -> Meter:
        """The same meter, on the same price, of a table whose codes are put together in bins."""
        other = copy.copy(self)
        with self._looking():  # an engine puts the codes of every row together here
            other._counts = self._counts.merged(bins)
        other._bins = bins
        return other

    @property
    def answers(self) -> tuple[tuple[Bins | None, Noisy], ...]:
        """Everything that was measured and paid for, in order, with the bins that codes were put together in, if any.

        So that it is not lost if a method stops on its way.
        """
        return tuple(self._balance.answers)

    @property
    def choices(self) -> tuple[list[int], ...]:
        """Everything that was chosen and paid for, in order."""
        return tuple(self._balance.choices)

    def measure_rest(self) -> None:
        """Measure single columns for all that is left of the price, an equal part each."""
        if self.left > 0:
            each = self.left / len(self.domain)
            for column in range(len(self.domain)):
                self.measure((column,), each)

    @property
    def broken(self) -> bool:
        """Whether something went wrong where exact counts were looked at. Whoever knows of it may tell nobody."""
        return self._balance.broken

    @property
    def domain(self) -> Domain:
        """The columns, which are public."""
        return self._counts.domain

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        return self.price - self.spent

    def prepare(self, marginals: Iterable[Columns]) -> None:
        """Have these counted at once, because they will be asked for: public, and free."""
        with self._looking():
            self._counts.prepare(marginals)

    @contextmanager
    def _looking(self) -> Iterator[None]:
        """Where exact counts are at hand: what goes wrong here may depend on a single row."""
        try:
            yield
        except Exception:
            self._balance.broken = True
            raise

    def noise(self, amount: Fraction) -> Laplace | Gaussian:
        """The noise that an amount buys for one marginal."""
        if self.currency == "epsilon":
            return Laplace.for_epsilon(amount, self.moved)
        return Gaussian.for_rho(amount, self.moved)

    def measure(self, columns: Columns, amount: Fraction) -> Noisy:
        """The counts of a marginal with fresh noise."""
        self._known([columns])
        noise = self.noise(amount)
        self._spend(amount)
        with self._looking():
            exact = self._counts.marginal(columns)
            with self._balance.lock:
                noisy = noise.release(exact.ravel(), bits=self._bits)
            found = Noisy(columns, noisy.reshape(exact.shape), noise)
        self._balance.answers.append((self._bins, found))
        return found

    def choose(
        self,
        candidates: Sequence[Columns],
        guess: Callable[[Columns], Any],
        amount: Fraction,
        *,
        k: int = 1,
        weights: Sequence[float] | None = None,
        penalties: Sequence[float] | None = None,
    ) -> list[int]:
        """Places of `k` candidates whose counts are farthest from what is guessed, as far as the price lets one see.

        The score of a marginal is weight * (L1 distance between counts and guess - penalty). A unit moves the distance
        by at most the L1 sensitivity of a marginal, so every score by at most the largest weight times that. Scores
        need not move the same way, so the plain form of the exponential mechanism is used, `k` times.
        """
        if not candidates:
            raise InputError("candidates", [], "at least one marginal")
        self._known(candidates)
        given = np.ones(len(candidates)) if weights is None else np.asarray(weights, dtype=float)
        scaled = np.clip(np.nan_to_num(np.ceil(given * _FINE)), 1, 2 * _HEAVIEST).astype(np.int64)
        if not np.isfinite(given).all() or (given <= 0).any() or scaled.max() > _HEAVIEST:
            raise InputError("weights", Phrase("one of them"), "above zero and at most 2**14 each")
        less = np.zeros(len(candidates)) if penalties is None else np.asarray(penalties, dtype=float)
        if len(given) != len(candidates) or len(less) != len(candidates):
            raise InputError(
                "weights",
                Phrase(f"{len(given)} of them"),
                f"one weight and one penalty for each of {len(candidates)} candidates",
            )
        less = np.clip(np.nan_to_num(less), -_FARTHEST, _FARTHEST)
        mechanism = self._choice(amount, min(k, len(candidates)), int(scaled.max()) * self.moved.l1)
        self._spend(amount)
        scores = [
            int(weight) * (self._distance(columns, guess(columns)) - int(penalty))
            for columns, weight, penalty in zip(candidates, scaled, np.rint(less), strict=True)
        ]
        with self._looking(), self._balance.lock:
            chosen = mechanism.release(np.array(scores, dtype=np.int64), bits=self._bits)
        self._balance.choices.append([int(place) for place in chosen])
        return chosen

    def _choice(self, amount: Fraction, k: int, sensitivity: int) -> TopK:
        """k selections for an amount: of epsilon all of it; of rho, as each of e-bounded range costs e^2 / 8."""
        if self.currency == "epsilon":
            return TopK(k, amount, sensitivity)
        return TopK(k, k * sqrt_down(8 * amount / k), sensitivity)

    def _distance(self, columns: Columns, guessed: Any) -> int:
        """The L1 distance, of whole numbers: the guess is rounded and cut, which sees nothing private.

        A guess in another shape would be compared with every count many times over, and one too large would leave 64
        bits: either way a unit could move the distance farther than is charged for.
        """
        shape = tuple(self.domain.sizes[column] for column in columns)
        near = np.nan_to_num(np.asarray(guessed, dtype=float))
        if near.shape != shape:
            raise InputError("guess", Phrase(f"shape {near.shape}"), f"counts of shape {shape}")
        whole = np.rint(np.clip(near, -_LARGEST, _LARGEST)).astype(np.int64)
        with self._looking():
            return min(int(np.abs(self._counts.marginal(columns) - whole).sum()), _FARTHEST)

    def _known(self, marginals: Iterable[Columns]) -> None:
        """Places of columns, rising: what else is asked for must fail here, and not in an engine after spending."""
        for columns in marginals:
            rising = all(a < b for a, b in pairwise(columns))
            if not rising or not all(0 <= column < len(self.domain) for column in columns):
                raise InputError("columns", columns, f"positions of columns, rising, from 0 to {len(self.domain) - 1}")

    def _spend(self, amount: Fraction) -> None:
        if amount <= 0:
            raise InputError("amount", amount, "more than zero")
        with self._balance.lock:
            if amount > self.left:
                raise InputError("amount", amount, f"at most what is left of the price, {self.left}")
            self._balance.spent += amount
