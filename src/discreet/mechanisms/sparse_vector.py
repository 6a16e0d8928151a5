"""Ask many yes-or-no questions against a threshold and pay only for the few that come out above."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import named
from discreet.core.loss import Loss, Pure
from discreet.core.mechanism import Bits, Integers
from discreet.errors import ExhaustedError, InputError, kind_of
from discreet.mechanisms.inputs import (
    read_confidence,
    read_count,
    read_epsilon,
    read_flag,
    read_integer,
    read_outputs,
    read_values,
)
from discreet.mechanisms.session import Session
from discreet.noise.laplace import laplace
from discreet.noise.parameters import read_scale
from discreet.noise.spread import laplace_half_width

__all__ = ["SparseVector", "SparseVectorSession"]


@frozen(field_transformer=named)
class SparseVector:
    """Say for each value whether it is about `threshold` or more, until `count` of them were.

    The questions may depend on the answers so far; a unit moves each value by at most `sensitivity`. Values are
    `monotone` if the values of a dataset and of any neighbour never cross (counts under add/remove). Noise goes on the
    threshold once and on every value afresh, and the answer is a bare yes or no. Well-known variants leave out one of
    the two noises, scale the second without `count`, or give the noisy value away: none of them is private.

    Guarantee
        epsilon-differential privacy for the whole session, however many questions are asked.
        Proof: docs/proofs/sparse-vector.md.

    >>> session = SparseVector(threshold=1000, epsilon=1).start()
    >>> session.ask(0), session.ask(10**6), session.remaining
    (False, True, 0)
    """

    threshold: int = field(converter=read_integer)
    epsilon: Fraction = field(converter=read_epsilon)
    sensitivity: int = field(default=1, converter=read_count)
    count: int = field(default=1, converter=read_count)
    monotone: bool = field(default=False, converter=read_flag)

    def __attrs_post_init__(self) -> None:
        read_scale(self.threshold_scale, "scale")
        read_scale(self.value_scale, "scale")

    @property
    def threshold_epsilon(self) -> Fraction:
        """The part of epsilon spent on the threshold: 1 in 1 + m^(2/3), with m = 2 count (count if monotone).

        The split that makes the noise of a comparison smallest; any split is private, so the root may be rounded.
        """
        weight = self.count if self.monotone else 2 * self.count
        return self.epsilon / (1 + Fraction(_cube_root(weight * weight * 10**18), 10**6))

    @property
    def threshold_scale(self) -> Fraction:
        """Of the noise on the threshold."""
        return self.sensitivity / self.threshold_epsilon

    @property
    def value_scale(self) -> Fraction:
        """Of the noise on each value."""
        weight = self.count if self.monotone else 2 * self.count
        return weight * self.sensitivity / (self.epsilon - self.threshold_epsilon)

    def loss(self) -> Loss:
        """What a whole session costs."""
        return Pure(self.epsilon)

    def start(self, bits: Bits | None = None) -> SparseVectorSession:
        """Draw the noise of the threshold and begin. Every session costs the full loss."""
        return SparseVectorSession(self, bits)

    def release_many(self, values: Integers, runs: int, *, bits: Bits | None = None) -> NDArray[np.bool_]:
        """The answers of so many sessions, each at the full loss, to one list of values: one row a session.

        After its last yes a session has no more answers: those are False. To try the mechanism out, and fast.
        """
        exact, count = read_values(values, "values"), read_count(runs, "runs")
        level = self.threshold + laplace(self.threshold_scale, count, bits=bits)
        noise = laplace(self.value_scale, count * len(exact), bits=bits).reshape(count, len(exact))
        above = exact + noise >= level[:, None]
        return np.asarray(above & (np.cumsum(above, axis=1) <= self.count))

    def error(self, confidence: float = 0.95, k: int = 1) -> int:
        """A distance a up to which the first `k` answers are all right with probability at least `confidence`.

        Every yes has value >= threshold - a, every no has value < threshold + a.
        """
        # The threshold and the values are independent: each holds with the root of the confidence.
        each = math.nextafter(math.sqrt(float(read_confidence(confidence))), 1)
        return laplace_half_width(self.threshold_scale, each) + laplace_half_width(
            self.value_scale, each, read_outputs(k)
        )


class SparseVectorSession(Session):
    """One run of a `SparseVector`. It cannot be copied or pickled: a second copy would be a second price."""

    __slots__ = ("_bits", "_level", "_mechanism", "_remaining")

    def __init__(self, mechanism: SparseVector, bits: Bits | None = None) -> None:
        super().__init__()
        if not isinstance(mechanism, SparseVector):
            raise InputError("mechanism", kind_of(mechanism), "a SparseVector, whose start() makes a session")
        self._mechanism = mechanism
        self._bits = bits  # None draws from the system anew for every question
        self._level = mechanism.threshold + laplace(mechanism.threshold_scale, bits=bits)
        self._remaining = mechanism.count

    @property
    def remaining(self) -> int:
        """How many more times the answer may be yes."""
        return self._remaining

    def ask(self, value: int) -> bool:
        """Whether `value` is about the threshold or more."""
        exact = read_integer(value, "value")
        with self._turn():
            if self._remaining == 0:
                raise ExhaustedError(
                    f"This session has said yes {self._mechanism.count} times, all that its price covers. "
                    "Nothing more was spent. Start a new session, at its own price, to ask on."
                )
            above = exact + laplace(self._mechanism.value_scale, bits=self._bits) >= self._level
            self._remaining -= above
            return above

    def __repr__(self) -> str:
        return f"<session of {self._mechanism!r}, {self._remaining} remaining>"


def _cube_root(value: int) -> int:
    """The integer part of the cube root."""
    root = 1 << -(-value.bit_length() // 3)
    while True:
        better = (2 * root + value // (root * root)) // 3
        if better >= root:
            return root
        root = better
