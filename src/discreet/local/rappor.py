"""RAPPOR: strings from an open list, reported again and again as Bloom filters, found among candidates."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import named, plain, within
from discreet.core.loss import Pure
from discreet.core.mechanism import Bits
from discreet.core.wire import Json
from discreet.errors import InputError, Phrase, kind_of
from discreet.local.draws import evenly, packed_flips
from discreet.local.packed import bit_sums, read_packed, width_of
from discreet.local.protocol import identity
from discreet.local.ratio import epsilon_of
from discreet.mechanisms.inputs import read_confidence, read_count, read_probability_inside
from discreet.noise.bits import SystemBits

__all__ = ["Decoding", "Rappor", "RapporClient", "RapporReports", "decode", "filter_bits", "filters"]

Floats = NDArray[np.float64]
_LARGEST = 1 << 14
_ROUNDS = 200


@lru_cache(maxsize=1 << 16)
def filter_bits(value: str, cohort: int, bits: int, hashes: int) -> tuple[int, ...]:
    """The places a string sets: SHA-256 of cohort, number of the hash and string. Public, and the same everywhere.

    >>> filter_bits("firefox", 0, 128, 2)
    (116, 98)
    """
    if not isinstance(value, str):
        raise InputError("values", kind_of(value), "texts")
    data = value.encode("utf-8", "surrogatepass")
    return tuple(
        int.from_bytes(hashlib.sha256(f"{cohort}/{number}/".encode() + data).digest()[:8], "big") % bits
        for number in range(hashes)
    )


def filters(value: str, cohorts: int, bits: int, hashes: int) -> NDArray[np.float64]:
    """A string's filter in every cohort, end to end: one row of zeros and ones."""
    out = np.zeros((cohorts, bits))
    for cohort in range(cohorts):
        out[cohort, list(filter_bits(value, cohort, bits, hashes))] = 1
    return out.reshape(-1)


@dataclass(frozen=True, slots=True, eq=False)
class Decoding:
    """Candidates with their estimated shares. `selected` ones were fitted; others came out as none."""

    candidates: tuple[str, ...]
    shares: Floats
    errors: Floats
    selected: NDArray[np.bool_]
    significant: NDArray[np.bool_]

    def rows(self) -> list[dict[str, Any]]:
        """Significant candidates, most common first."""
        order = [int(place) for place in np.argsort(-self.shares) if self.significant[place]]
        return [
            {"value": self.candidates[i], "share": float(self.shares[i]), "error": float(self.errors[i])} for i in order
        ]


def decode(
    law: Rappor,
    candidates: Sequence[str],
    sizes: NDArray[np.int64],
    counts: NDArray[np.int64],
    none: float,
    one: float,
    confidence: float,
) -> Decoding:
    """Least squares of bit frequencies on the candidates' filters, weighted by known variances.

    With fewer candidates than half the bits all are fitted: unbiased if every string in use is among them (one that is
    not adds its bits to others). With more, a non-negative lasso chooses whom to
    fit, and what it leaves out is said to be none. `significant` ones are above zero at this confidence, corrected for
    the number of candidates.
    """
    names = tuple(candidates)
    if not names or len(set(names)) != len(names):
        raise InputError("candidates", Phrase(f"{len(names)} texts"), "different texts, at least one")
    miss = float(1 - read_confidence(confidence)) / len(names)
    asked = np.repeat(sizes > 0, law.bits)
    n = np.repeat(sizes, law.bits)[asked].astype(np.float64)
    seen = counts.reshape(-1)[asked] / n
    weights = np.sqrt(n / np.clip(seen * (1 - seen), 1 / (4 * n), None)) * (one - none)
    design = np.stack([filters(name, law.cohorts, law.bits, law.hashes)[asked] for name in names], axis=1)
    matrix, target = design * weights[:, None], (seen - none) / (one - none) * weights
    chosen = np.ones(len(names), dtype=np.bool_)
    if 2 * len(names) > len(target):
        chosen = _lasso(matrix, target, -NormalDist().inv_cdf(0.5 / len(names))) > 0
    shares, errors = np.zeros(len(names)), np.full(len(names), np.nan)
    if chosen.any():
        fitted = matrix[:, chosen]
        inverse = np.linalg.pinv(fitted.T @ fitted, hermitian=True)
        shares[chosen] = inverse @ (fitted.T @ target)
        errors[chosen] = np.sqrt(np.maximum(np.diag(inverse), 0))
    quantile = -NormalDist().inv_cdf(miss)
    stands = np.zeros(len(names), dtype=np.bool_)
    stands[chosen] = shares[chosen] > quantile * errors[chosen]
    return Decoding(names, shares, errors, chosen, stands)


def _lasso(matrix: Floats, target: Floats, level: float) -> Floats:
    """Non-negative coordinates of least squares with a penalty of so many standard errors each."""
    gram, pull = matrix.T @ matrix, matrix.T @ target
    norms = np.diag(gram).copy()
    penalty = level * np.sqrt(norms)
    found = np.zeros(len(pull))
    left = pull.copy()  # matrix.T @ residual
    for _ in range(_ROUNDS):
        moved = 0.0
        for place in np.flatnonzero((left + norms * found > penalty) | (found > 0)):
            new = max(0.0, (left[place] + norms[place] * found[place] - penalty[place]) / norms[place])
            step = new - found[place]
            if step:
                left -= gram[:, place] * step
                found[place] = new
                moved = max(moved, abs(step))
        if moved < 1e-7:
            break
    return found


@dataclass(frozen=True, slots=True, eq=False)
class RapporReports:
    """Cohorts, and packed bits for each."""

    law: str
    cohorts: NDArray[np.int64]
    rows: NDArray[np.uint8]


@frozen(field_transformer=named)
class Rappor:
    """A string's Bloom filter, scrambled once for good (`f`) and again each time (`p`, `q`).

    `f` is the probability that a bit is replaced by a fair coin, for good; what is sent is 1 with probability `q` if
    the remembered bit is 1 and `p` if it is 0. Cohorts have hash functions of their own, so that strings that collide
    in one differ in another.

    Guarantee
        `loss(rounds)`; never more than 2 hashes ln((2-f)/f), however often one string is reported.
        Proof: docs/proofs/local.md, "RAPPOR".

    >>> law = Rappor(bits=64, hashes=2, cohorts=16, f="1/2", p="1/2", q="3/4")
    >>> [round(float(law.loss(rounds).epsilon), 2) for rounds in (1, 10, 10_000)]
    [1.07, 4.3, 4.39]
    """

    bits: int = field(default=128, converter=read_count, validator=within(most=_LARGEST))
    hashes: int = field(default=2, converter=read_count)
    cohorts: int = field(default=64, converter=read_count, validator=within(most=_LARGEST))
    f: Fraction = field(default=Fraction(1, 2), converter=read_probability_inside)
    p: Fraction = field(default=Fraction(1, 2), converter=read_probability_inside)
    q: Fraction = field(default=Fraction(3, 4), converter=read_probability_inside)

    def __attrs_post_init__(self) -> None:
        if self.hashes > self.bits:
            raise InputError("bits", self.bits, "at least as many as hashes")
        if self.p >= self.q:
            raise InputError("q", plain(self.q), "more than p")

    @property
    def sent(self) -> tuple[Fraction, Fraction]:
        """The probability that a bit is sent as 1, if it is 0 and if it is 1 in the filter."""
        even = self.f / 2 * (self.p + self.q)
        return even + (1 - self.f) * self.p, even + (1 - self.f) * self.q

    def ratio(self, rounds: int | None = None) -> Fraction:
        """The largest likelihood ratio of `rounds` reports of one string against another (None: of any number)."""
        kept = (2 - self.f) / self.f
        if rounds is None:
            return kept ** (2 * self.hashes)
        count = read_count(rounds, "rounds")
        ones, zeros = (self.p / self.q) ** count, ((1 - self.q) / (1 - self.p)) ** count
        return ((kept + ones) / (1 + kept * ones) * (kept + zeros) / (1 + kept * zeros)) ** self.hashes

    def loss(self, rounds: int | None = None) -> Pure:
        """What `rounds` reports of one string cost; without a number, what no number of reports exceeds."""
        return Pure(epsilon_of(self.ratio(rounds)))

    def start(self, *, bits: Bits | None = None) -> RapporClient:
        """A respondent: a cohort drawn at random, and a memory."""
        source = bits if bits is not None else SystemBits()
        return RapporClient(self, int(evenly(self.cohorts, 1, source)[0]))

    def privatize(self, values: Sequence[str] | str, *, bits: Bits | None = None) -> RapporReports:
        """One report for each string, each from a respondent of their own."""
        if isinstance(values, str):
            values = [values]
        source = bits if bits is not None else SystemBits()
        cohorts = evenly(self.cohorts, len(values), source).astype(np.int64)
        filters = np.zeros((len(values), 8 * width_of(self.bits)), dtype=np.uint8)
        for row, (value, cohort) in enumerate(zip(values, cohorts, strict=True)):
            filters[row, list(filter_bits(value, int(cohort), self.bits, self.hashes))] = 1
        return RapporReports(
            self.id, cohorts, self.instant(self.permanent(np.packbits(filters, axis=1), source), source)
        )

    def permanent(self, rows: NDArray[np.uint8], bits: Bits) -> NDArray[np.uint8]:
        """Filters with each bit replaced by a fair coin, with probability f."""
        replaced = packed_flips(self.f, rows.size, bits).reshape(rows.shape)
        coins = packed_flips(Fraction(1, 2), rows.size, bits).reshape(rows.shape)
        return (rows & ~replaced) | (coins & replaced)

    def instant(self, rows: NDArray[np.uint8], bits: Bits) -> NDArray[np.uint8]:
        """What is sent for remembered bits."""
        ones = packed_flips(self.q, rows.size, bits).reshape(rows.shape)
        zeros = packed_flips(self.p, rows.size, bits).reshape(rows.shape)
        out = (rows & ones) | (~rows & zeros)
        out[:, -1] &= np.uint8(256 - (1 << (8 * width_of(self.bits) - self.bits)))
        return out

    def counts(self, reports: RapporReports) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many reports each cohort sent, and how many of them had each bit."""
        if reports.law != self.id:
            hint = "Reports with other parameters have another law."
            raise InputError("reports", reports.law, f"reports of the law {self.id}", hint)
        rows = read_packed(reports.rows, self.bits)
        if len(reports.cohorts) != len(rows) or (
            len(rows) and (reports.cohorts.min() < 0 or reports.cohorts.max() >= self.cohorts)
        ):
            raise InputError(
                "reports", Phrase("a cohort out of range"), f"reports of cohorts from 0 to {self.cohorts - 1}"
            )
        order = np.argsort(reports.cohorts, kind="stable")
        sizes = np.bincount(reports.cohorts, minlength=self.cohorts)
        parts = np.split(rows[order], np.cumsum(sizes)[:-1])
        return sizes, np.array([bit_sums(part, self.bits) for part in parts])

    def decode(self, reports: RapporReports, candidates: Sequence[str], confidence: float = 0.95) -> Decoding:
        """Which candidates were reported, and by which share of people, with errors."""
        sizes, counts = self.counts(reports)
        if sizes.sum() == 0:
            raise InputError("reports", Phrase("none"), "at least one report")
        none, one = (float(chance) for chance in self.sent)
        return decode(self, candidates, sizes, counts, none, one, confidence)

    def to_dict(self) -> dict[str, Json]:
        """All parameters as plain values."""
        sizes: dict[str, Json] = {"bits": self.bits, "hashes": self.hashes, "cohorts": self.cohorts}
        return {"kind": "rappor", **sizes, "f": str(self.f), "p": str(self.p), "q": str(self.q)}

    @property
    def id(self) -> str:
        """Sixteen letters that stand for all its parameters."""
        return identity(self.to_dict())


class RapporClient:
    """One respondent: a cohort, and for each string ever reported the bits it was turned into for good."""

    __slots__ = ("_law", "_lock", "_memory", "cohort")

    def __init__(self, law: Rappor, cohort: int, memory: dict[str, str] | None = None) -> None:
        if not isinstance(law, Rappor):
            raise InputError("law", kind_of(law), "a Rappor, whose start() makes a client")
        if memory is not None and not isinstance(memory, dict):
            raise InputError("memory", kind_of(memory), "what to_dict() returned")
        if not 0 <= read_count(cohort, "cohort", least=0) < law.cohorts:
            raise InputError("cohort", cohort, f"from 0 to {law.cohorts - 1}")
        self._law = law
        self._lock = threading.Lock()  # a string turned into two rows for good would cost twice
        self.cohort = cohort
        self._memory = {value: bytes.fromhex(bits) for value, bits in (memory or {}).items()}
        if any(len(bits) != width_of(law.bits) for bits in self._memory.values()):
            raise InputError("memory", Phrase("bits of another length"), f"{width_of(law.bits)} bytes for each string")

    def report(self, value: str, *, bits: Bits | None = None) -> RapporReports:
        """This time's report."""
        source, law = bits if bits is not None else SystemBits(), self._law
        with self._lock:
            if value not in self._memory:
                row = np.zeros((1, 8 * width_of(law.bits)), dtype=np.uint8)
                row[0, list(filter_bits(value, self.cohort, law.bits, law.hashes))] = 1
                self._memory[value] = law.permanent(np.packbits(row, axis=1), source).tobytes()
        kept = np.frombuffer(self._memory[value], dtype=np.uint8).reshape(1, -1)
        return RapporReports(law.id, np.array([self.cohort]), law.instant(kept, source))

    def to_dict(self) -> dict[str, Any]:
        """To be saved where only the respondent can read it."""
        with self._lock:
            return {"cohort": self.cohort, "memory": {value: bits.hex() for value, bits in self._memory.items()}}
