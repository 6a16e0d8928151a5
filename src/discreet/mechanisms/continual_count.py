"""A running total published every day (month, release), where T of them cost as much as log T."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import named, plain
from discreet.core.exact import sqrt_up
from discreet.core.loss import ZCDP, GaussianNoise, LaplaceNoise, Loss, Repeated
from discreet.core.mechanism import Bits, Integers
from discreet.core.wire import Json, fraction
from discreet.errors import ExhaustedError, InputError, Phrase, kind_of
from discreet.mechanisms.blend import half_width
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.inputs import (
    read_confidence,
    read_count,
    read_epsilon_or_none,
    read_integer,
    read_outputs,
    read_values,
)
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.session import Session

__all__ = ["ContinualCount", "ContinualCountSession", "close", "closing"]

_LONGEST = 2**40
_EXACT = 2**52
_ONE = "A session adds up larger ones, in whole numbers."


@frozen(field_transformer=named)
class ContinualCount:
    """The running total of a count over `periods` periods, at one price fixed before the first.

    A unit contributes in at most `limit` periods, at most `each` in one of them (bound this before counting). Periods
    are the leaves of binary trees; every node gets the sum below it with noise of its own, drawn once. A total up to
    any period needs few nodes, and each is bettered by the nodes below it (weighted least squares). The trees are as
    high as makes the noisiest total best: one of log2 T levels for many periods, single leaves for a handful.

    Guarantee
        epsilon-differential privacy (or rho-zCDP) of everything published in all periods together, when a unit is
        added or removed; the counts of a period may depend on what was published before it.
        Proof: docs/proofs/continual-count.md.

    >>> session = ContinualCount(periods=365, rho=0.1).start()
    >>> total = session.add(120)
    >>> session.period, session.remaining
    (1, 364)
    """

    periods: int = field(converter=read_count)
    epsilon: Fraction | None = field(default=None, converter=read_epsilon_or_none)
    rho: Fraction | None = field(default=None, converter=read_epsilon_or_none, kw_only=True)
    limit: int = field(default=1, converter=read_count, kw_only=True)
    each: int = field(default=1, converter=read_count, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.periods > _LONGEST:
            raise InputError("periods", self.periods, "at most 2**40")
        if (self.epsilon is None) == (self.rho is None):
            raise InputError("epsilon", plain(self.epsilon), "given if rho is not, and left out if it is")
        self.noise  # noqa: B018  a scale out of range is refused here

    @property
    def levels(self) -> int:
        """How many nodes one contribution touches: at most floor(log2 periods) + 1."""
        return _levels(self.periods, self._most, self.epsilon is not None)

    @property
    def noise(self) -> Laplace | Gaussian:
        """On every node."""
        if self.epsilon is not None:
            return Laplace(self.levels * self._most * self.each / self.epsilon)
        return Gaussian(sqrt_up(self.l2_squared / (2 * (self.rho or Fraction(1)))))

    @property
    def _most(self) -> int:
        return min(self.limit, self.periods)

    @property
    def l2_squared(self) -> int:
        """Of one unit on all nodes."""
        return self.each**2 * _squares(self._most, self.levels)

    def loss(self) -> Loss:
        """What all periods cost together, known before the first."""
        match self.noise:
            case Laplace(scale):
                return Repeated(LaplaceNoise(scale, self._most * self.each), self.levels)
            case Gaussian(sigma) if self._most == 1:
                return Repeated(GaussianNoise(sigma, self.each), self.levels)
            case Gaussian(sigma):
                return ZCDP(self.l2_squared / (2 * sigma * sigma))

    def start(self, bits: Bits | None = None) -> ContinualCountSession:
        """Begin. Every session costs the full loss, however early it stops."""
        return ContinualCountSession(self, bits)

    def release_many(self, counts: Integers, runs: int, *, bits: Bits | None = None) -> NDArray[np.float64]:
        """The totals that so many sessions publish, each at the full loss, as rows: to try the mechanism out, and fast.

        The arithmetic of a session in floats: its totals to about 15 digits.
        """
        exact, many, levels = read_values(counts, "counts"), read_count(runs, "runs"), self.levels
        if sum(map(abs, exact.tolist())) > _EXACT:  # else floats would round counts and noise apart
            raise InputError("counts", Phrase("more than 2**52 together"), "at most 2**52 in all", _ONE)
        if len(exact) > self.periods:
            raise InputError("counts", Phrase(f"{len(exact)} periods"), f"at most {self.periods}")
        nodes, closed = np.zeros((levels, many)), np.zeros((levels, many))
        totals = np.empty((many, len(exact)))
        for t, count in enumerate(exact.tolist(), start=1):
            begin = beginning(t, levels)
            nodes[begin] = self.noise.release(np.zeros(len(begin) * many, dtype=np.int64), bits=bits).reshape(-1, many)
            nodes += count
            close(closed, nodes[: closing(t, levels)], float)
            totals[:, t - 1] = closed.sum(axis=0)
        return totals

    @classmethod
    def resume(cls, state: dict[str, Json], bits: Bits | None = None) -> ContinualCountSession:
        """Go on where `state` was taken. Once: two sessions resumed from one state are two prices."""
        fields: dict[str, Any] = dict(state) if isinstance(state, dict) else {}
        names = {"periods", "epsilon", "rho", "limit", "each", "open", "closed", "counts", "totals"}
        if set(fields) != names:
            raise InputError("state", Phrase("other fields"), "what state() returned")
        given = {name: fields[name] and fraction(fields[name], f"state.{name}") for name in ("epsilon", "rho")}
        mechanism = cls(fields["periods"], **given, limit=fields["limit"], each=fields["each"])
        session = ContinualCountSession(mechanism, bits)
        session.restore(fields)
        return session

    def variance(self, period: int | None = None) -> float:
        """Of the total up to `period`; of the noisiest total if none is given."""
        return self.noise.variance * float(_energy(self._at(period), self.levels))

    def error(
        self,
        confidence: float = 0.95,
        k: int = 1,
        *,
        period: int | None = None,
        noise: Laplace | Gaussian | None = None,
    ) -> float:
        """The half-width that the total up to `period` (the noisiest if none is given) stays within.

        With probability at least `confidence`; `k` such totals do so all at once. `noise` stands in for this tree's own
        where the sums on its nodes are of something else.
        """
        miss = float(1 - read_confidence(confidence)) / read_outputs(k)
        if miss == 0:
            raise InputError("confidence", confidence, "further below 1: floating point reads it as 1")
        if noise is not None and not isinstance(noise, Laplace | Gaussian):
            raise InputError("noise", kind_of(noise), "a Laplace or a Gaussian")
        return half_width(noise or self.noise, *_blend(self._at(period), self.levels), miss)

    def _at(self, period: int | None) -> int:
        if period is None:
            return _noisiest(self.periods, self.levels)
        at = read_count(period, "period")
        if at > self.periods:
            raise InputError("period", period, f"at most the number of periods, {self.periods}")
        return at


def _own(level: int) -> Fraction:
    """The weight of a node's own noisy sum beside that of its children: 2^l / (2^(l+1) - 1); also its variance."""
    return Fraction(1 << level, (2 << level) - 1)


def _parts(period: int, levels: int) -> list[tuple[int, int]]:
    """The nodes of the total up to `period`: (level, how many), only the highest level more than once."""
    top = levels - 1
    return [(top, period >> top), *((level, period >> level & 1) for level in range(top))]


def _energy(period: int, levels: int) -> Fraction:
    """The variance of the total up to `period`, in units of that of one noise."""
    return sum((number * _own(level) for level, number in _parts(period, levels)), Fraction(0))


def _noisiest(periods: int, levels: int) -> int:
    """The period whose total has the largest variance: the last, or one with all its low binary digits set."""
    lower = ((periods >> bit << bit) - 1 for bit in range(1, levels))
    return max([periods, *(t for t in lower if t > 0)], key=lambda t: _energy(t, levels))


def _squares(limit: int, levels: int) -> int:
    """The most that squared node moves sum to: `limit` periods in a row fill nodes of every level from the first."""
    wide = [(limit >> level, limit % (1 << level), 1 << level) for level in range(levels)]
    return sum(full * width**2 + rest**2 for full, rest, width in wide)


@lru_cache(maxsize=256)
def _levels(periods: int, limit: int, laplace: bool) -> int:
    """The height that makes the variance of the noisiest total smallest."""

    def variance(levels: int) -> Fraction:
        scale_squared = (levels * limit) ** 2 if laplace else _squares(limit, levels)
        return scale_squared * _energy(_noisiest(periods, levels), levels)

    return min(range(1, periods.bit_length() + 1), key=variance)


def _blend(period: int, levels: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The weights of the noises in the total up to `period`, and how many have each."""
    weights: list[float] = []
    counts: list[float] = []
    for top, number in _parts(period, levels):
        passed = 1.0  # the weight that the nodes of a level, taken together, have in the estimate of the one at `top`
        for level in range(top, -1, -1):
            weights.append(passed * float(_own(level)))
            counts.append(number * 2.0 ** (top - level))
            passed *= float(1 - _own(level))
    return np.array(weights), np.array(counts)


def closing(period: int, levels: int) -> int:
    """How many nodes, from the leaf up, are complete with this period."""
    return min(levels, (period & -period).bit_length())


def close(closed: Any, nodes: Any, number: Callable[[Any], Any] = Fraction) -> None:
    """Take in the noisy sums of the nodes that a period completes; `closed` then adds up to the total so far.

    Of one session in fractions, or of many at once, a row of floats for each level.
    """
    estimate = nodes[0] * number(1)
    for level, noisy in enumerate(nodes[1:], start=1):
        below = closed[level - 1] + estimate
        closed[level - 1] = number(0)
        estimate = below + number(_own(level)) * (noisy - below)
    closed[len(nodes) - 1] += estimate  # only the highest level has more than one


def beginning(period: int, levels: int) -> list[int]:
    """The levels on which a node begins with this period."""
    return [level for level in range(levels) if (period - 1) % (1 << level) == 0]


class ContinualCountSession(Session):
    """One run of a `ContinualCount`. It cannot be copied or pickled: a second copy would be a second price.

    No exact sum is held, only sums that began with their noise. To stop and go on later, keep `state()` where the data
    is kept, write it before publishing what `add` returned, and resume from the newest one only.
    """

    __slots__ = ("_bits", "_closed", "_counts", "_mechanism", "_noise", "_open", "_totals")

    def __init__(self, mechanism: ContinualCount, bits: Bits | None = None) -> None:
        super().__init__()
        if not isinstance(mechanism, ContinualCount):
            raise InputError("mechanism", kind_of(mechanism), "a ContinualCount, whose start() makes a session")
        self._mechanism, self._noise = mechanism, mechanism.noise
        self._bits = bits  # None draws from the system anew for every period
        self._open: list[int] = [0] * mechanism.levels  # a node's noise and what has come in since it began
        self._closed = [Fraction(0)] * mechanism.levels  # estimates that add up to the total so far
        self._counts: list[int] = []
        self._totals: list[float] = []

    @property
    def period(self) -> int:
        """How many periods have been added."""
        return len(self._totals)

    @property
    def remaining(self) -> int:
        """How many more there may be."""
        return self._mechanism.periods - self.period

    @property
    def totals(self) -> list[float]:
        """The running total after each period, as published."""
        return list(self._totals)

    @property
    def counts(self) -> list[int]:
        """The noisy count of each period by itself, paid for as well: better than a difference of totals."""
        return list(self._counts)

    def add(self, value: int) -> float:
        """Take in the count of the next period; the estimated total of all so far."""
        exact = read_integer(value, "value")
        with self._turn():
            if self.remaining == 0:
                raise ExhaustedError(
                    f"This session has taken in its {self._mechanism.periods} periods, all that its price covers. "
                    "Nothing more was spent. Start a new session, at its own price, to go on."
                )
            t = self.period + 1
            begin = beginning(t, len(self._open))
            noise = self._noise.release(np.zeros(len(begin), dtype=np.int64), bits=self._bits)
            for level, drawn in zip(begin, noise, strict=True):
                self._open[level] = int(drawn)
            self._open = [noisy + exact for noisy in self._open]
            close(self._closed, self._open[: closing(t, len(self._open))])
            self._counts.append(self._open[0])
            self._totals.append(float(sum(self._closed)))
            return self._totals[-1]

    def state(self) -> dict[str, Json]:
        """Everything needed to go on, as plain JSON. It is as private as the data: it holds sums still to come."""
        one = self._mechanism
        with self._turn():
            return {
                "periods": one.periods,
                "epsilon": None if one.epsilon is None else str(one.epsilon),
                "rho": None if one.rho is None else str(one.rho),
                "limit": one.limit,
                "each": one.each,
                "open": list(self._open),
                "closed": [str(part) for part in self._closed],
                "counts": list(self._counts),
                "totals": list(self._totals),
            }

    def restore(self, fields: dict[str, Any]) -> None:
        """Take the place that `state` wrote down; used by `ContinualCount.resume`, on a session just begun."""
        levels, period = self._mechanism.levels, len(_list(fields, "totals"))
        numbers = [*_list(fields, "open", levels), *_list(fields, "counts", period)]
        closed = [fraction(part, "state.closed") for part in _list(fields, "closed", levels)]
        if (
            self.period
            or period > self._mechanism.periods
            or any(type(number) is not int for number in numbers)
            or any(type(total) is not float for total in fields["totals"])
            or (period > 0 and float(sum(closed)) != fields["totals"][-1])
        ):
            raise InputError("state", Phrase("values that do not belong together"), "what state() returned")
        self._open, self._counts, self._totals = list(fields["open"]), list(fields["counts"]), list(fields["totals"])
        self._closed = closed

    def __repr__(self) -> str:
        return f"<session of {self._mechanism!r}, {self.remaining} remaining>"


def _list(fields: dict[str, Any], name: str, size: int | None = None) -> list[Any]:
    value = fields[name]
    if not isinstance(value, list) or (size is not None and len(value) != size):
        raise InputError(f"state.{name}", kind_of(value), "the list that state() returned")
    return value
