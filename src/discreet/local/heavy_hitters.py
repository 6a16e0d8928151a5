"""The most common of very many strings: found letter by letter, each person asked about one prefix only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import AUTO, at_least, named, settle, whole_or_none, within
from discreet.core.loss import Pure
from discreet.core.mechanism import Bits
from discreet.core.wire import Json
from discreet.errors import InputError, Phrase
from discreet.local.draws import evenly, flips
from discreet.local.protocol import identity
from discreet.local.ratio import epsilon_of, ratio_below, read_epsilon
from discreet.mechanisms.inputs import read_confidence, read_count
from discreet.noise.bits import SystemBits, words

__all__ = ["HeavyHitter", "HeavyHitters", "HeavyReports"]

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_FOUND = 0.9  # how often a share that is said to be found is
_PAIRS = 1 << 22  # reports times candidates looked at together


@dataclass(frozen=True, slots=True, eq=False)
class HeavyReports:
    """For each person: which level they were asked about, their keys, and a bucket."""

    law: str
    levels: NDArray[np.int64]
    keys: NDArray[np.uint64]
    buckets: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HeavyHitter:
    """A common string, the share of people who have it, and an interval that holds with those of all others."""

    value: str
    share: float
    lower: float
    upper: float


def _check_alphabet(owner: Any, attribute: Any, value: Any) -> None:
    if not isinstance(value, str) or len(set(value)) != len(value) or not value:
        raise InputError("alphabet", value, "different letters")


@frozen(field_transformer=named)
class HeavyHitters:
    """Strings of up to `length` letters: each person reports a hashed prefix of a length drawn at random.

    Prefixes that stand out are extended by every letter and looked for among those asked about longer ones. Hashes are
    `parities` inner products modulo 2 with random keys, so that two prefixes collide with probability exactly
    2^-parities.

    Guarantee
        ln(ratio)-differential privacy of every report: level and keys do not depend on the string.
        Proof: docs/proofs/local.md.

    >>> words = HeavyHitters(epsilon=4, length=4)
    >>> reports = words.privatize(["flu"] * 4000 + ["cold"] * 3000 + ["none"] * 3000)
    >>> sorted(found.value for found in words.search(reports, confidence=0.999999999))
    ['cold', 'flu', 'none']
    """

    kind: ClassVar[str] = "heavy"
    epsilon: Fraction = field(converter=read_epsilon)
    length: int = field(default=8, converter=read_count)
    alphabet: str = field(default=_ALPHABET, validator=_check_alphabet)
    parities: int = field(default=AUTO, converter=whole_or_none, validator=[at_least(1), within(most=8)], kw_only=True)

    def __attrs_post_init__(self) -> None:
        longest = 64 // len(self.alphabet).bit_length()
        if self.length > longest:
            raise InputError(
                "length", self.length, f"at most {longest} for this alphabet", "Fewer letters, or shorter strings."
            )
        if self.parities is AUTO:
            settle(self, parities=min(range(1, 9), key=self._variance_with))

    @property
    def ratio(self) -> Fraction:
        """The largest likelihood ratio of a report."""
        return ratio_below(self.epsilon)

    @property
    def spent(self) -> Fraction:
        """What one report costs: ln(ratio), at most epsilon."""
        return min(self.epsilon, epsilon_of(self.ratio))

    def loss(self) -> Pure:
        """What one report costs."""
        return Pure(self.spent)

    @property
    def hit(self) -> Fraction:
        """The probability that a report names the bucket of its own prefix."""
        return self.ratio / (self.ratio + (1 << self.parities) - 1)

    def _variance_with(self, parities: int) -> Fraction:
        buckets = 1 << parities
        hit = self.ratio / (self.ratio + buckets - 1)
        return Fraction(1, buckets) * (1 - Fraction(1, buckets)) / (hit - Fraction(1, buckets)) ** 2

    @property
    def bits(self) -> int:
        """Bits of one letter; 0 is the end of a string."""
        return len(self.alphabet).bit_length()

    def encode(self, values: Sequence[str]) -> NDArray[np.uint64]:
        """Strings as whole numbers, first letter highest."""
        codes = {letter: place + 1 for place, letter in enumerate(self.alphabet)}
        out = np.zeros(len(values), dtype=np.uint64)
        for place, value in enumerate(values):
            if not isinstance(value, str) or len(value) > self.length or any(letter not in codes for letter in value):
                allowed = f"texts of at most {self.length} letters of the alphabet"
                raise InputError("values", Phrase("one that is not"), allowed)
            number = 0
            for position in range(self.length):
                number = number << self.bits | (codes[value[position]] if position < len(value) else 0)
            out[place] = number
        return out

    def decode(self, code: int) -> str:
        """A whole number as the string it stands for."""
        letters = [code >> self.bits * place & ((1 << self.bits) - 1) for place in reversed(range(self.length))]
        return "".join(self.alphabet[letter - 1] for letter in letters if letter)

    def privatize(self, values: Sequence[str] | str, *, bits: Bits | None = None) -> HeavyReports:
        """One report for each string."""
        source = bits if bits is not None else SystemBits()
        codes = self.encode([values] if isinstance(values, str) else values)
        n, buckets = len(codes), 1 << self.parities
        levels = evenly(self.length, n, source).astype(np.int64) + 1
        keys = words(source, n * self.parities).reshape(n, self.parities).copy()
        hashed = _parities(self._prefixes(codes, levels), keys)
        moved = evenly(buckets - 1, n, source).astype(np.int64) + 1
        return HeavyReports(self.id, levels, keys, (hashed + moved * ~flips(self.hit, n, source)) % buckets)

    def _prefixes(self, codes: NDArray[np.uint64], levels: NDArray[np.int64] | int) -> NDArray[np.uint64]:
        shift = (np.asarray(self.length - levels) * self.bits).astype(np.uint64)
        return codes >> shift << shift

    def supports(self, reports: HeavyReports, value: str) -> NDArray[np.bool_]:
        """Whether each report names the bucket of this string's prefix."""
        prefixes = self._prefixes(np.repeat(self.encode([value]), len(reports.levels)), reports.levels)
        return np.asarray(_parities(prefixes, reports.keys) == reports.buckets)

    def search(self, reports: HeavyReports, *, most: int = 64, confidence: float = 0.95) -> list[HeavyHitter]:
        """Strings that stand out from none, most common first; at most `most` prefixes are followed.

        Shares are unbiased for a string named in advance; of those found by looking, some are found because chance
        raised them. So what stands out, and the intervals, are corrected for the number of candidates looked at: with
        this confidence (of the normal approximation) all intervals hold at once. Proof: docs/proofs/local.md.
        """
        if reports.law != self.id:
            hint = "Reports with another epsilon have another law."
            raise InputError("reports", reports.law, f"reports of the law {self.id}", hint)
        if reports.keys.shape != (len(reports.levels), self.parities):
            raise InputError(
                "reports", Phrase(f"keys of shape {reports.keys.shape}"), f"reports with {self.parities} keys each"
            )
        if len(reports.levels) and not 1 <= reports.levels.min() <= reports.levels.max() <= self.length:
            raise InputError("reports", Phrase("a level out of range"), f"at levels from 1 to {self.length}")
        if len(reports.buckets) != len(reports.levels) or (
            len(reports.buckets) and not 0 <= reports.buckets.min() <= reports.buckets.max() < 1 << self.parities
        ):
            allowed = f"one from 0 to {(1 << self.parities) - 1} for each report"
            raise InputError("reports", Phrase("buckets out of range"), allowed)
        kept, miss = np.zeros(1, dtype=np.uint64), float(1 - read_confidence(confidence))
        limit = read_count(most, "most")
        shares, error = np.zeros(0), 0.0
        for level in range(1, self.length + 1):
            asked = reports.levels == level
            candidates = self._extend(kept, level)
            shares, error = self._shares(candidates, reports.keys[asked], reports.buckets[asked])
            quantile = -NormalDist().inv_cdf(miss / len(candidates))
            order = np.argsort(-shares)[:limit]
            order = order[shares[order] > quantile * error]
            kept, shares = candidates[order], shares[order]
            if len(kept) == 0:
                return []
        halves = -NormalDist().inv_cdf(miss / 2 / len(candidates)) * self._errors(shares, int(asked.sum()))
        return [
            HeavyHitter(self.decode(int(code)), float(share), float(share - half), float(share + half))
            for code, share, half in zip(kept, shares, halves, strict=True)
        ]

    def half_width(self, people: int, confidence: float = 0.95, *, most: int = 64) -> float:
        """Half the length of the interval of a string that is found, for the share that is worst for it, at most."""
        n = read_count(people, "people") / self.length
        z = -NormalDist().inv_cdf(float(1 - read_confidence(confidence)) / 2 / self._candidates(most))
        return float(z * self._errors(np.linspace(0, 1, 201), n).max())

    def least_share(self, people: int, confidence: float = 0.95, *, most: int = 64) -> float:
        """About the smallest share that a string has which `search` finds nine times in ten; 1 if none is.

        It has to stand out at every level, each asked of another part of the people.
        """
        n, miss = read_count(people, "people") / self.length, float(1 - read_confidence(confidence))
        bar = -NormalDist().inv_cdf(miss / self._candidates(most)) * float(self._errors(np.zeros(1), n)[0])
        shares = np.linspace(0, 1, 2001)
        margin = NormalDist().inv_cdf(_FOUND ** (1 / self.length)) * self._errors(shares, n)
        enough = np.flatnonzero(shares - margin > bar)
        return float(shares[enough[0]]) if len(enough) else 1.0

    def _candidates(self, most: int) -> int:
        """How many prefixes are looked at together, at most."""
        return read_count(most, "most") * (len(self.alphabet) + 1)

    def _errors(self, shares: NDArray[np.float64], n: float) -> NDArray[np.float64]:
        """The error of each share, of scrambling and of having asked only these `n` about whole strings."""
        hit, miss = float(self.hit), 2.0**-self.parities
        seen = miss + np.clip(shares, 0, 1) * (hit - miss)
        return np.asarray(np.sqrt(seen * (1 - seen) / n) / (hit - miss))

    def _extend(self, kept: NDArray[np.uint64], level: int) -> NDArray[np.uint64]:
        """Every prefix kept, with every letter after it; one that has ended stays as it is."""
        shift = np.uint64((self.length - level) * self.bits)
        letters = np.arange(len(self.alphabet) + 1, dtype=np.uint64) << shift
        last = kept >> shift >> np.uint64(self.bits) & np.uint64((1 << self.bits) - 1)
        ended = (last == 0) if level > 1 else np.zeros(len(kept), dtype=np.bool_)
        grown = (kept[~ended, None] | letters).reshape(-1)
        return np.concatenate([kept[ended], grown])

    def _shares(
        self, candidates: NDArray[np.uint64], keys: NDArray[np.uint64], buckets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], float]:
        """The share of people whose prefix each candidate is, and the error of a share that is zero."""
        n, hit, miss = len(keys), float(self.hit), 2.0**-self.parities
        if n == 0:
            raise InputError(
                "reports",
                Phrase("none at one of them"),
                "at least one for each level",
                "Ask more people, or for shorter strings.",
            )
        supported = np.zeros(len(candidates), dtype=np.int64)
        step = max(1, _PAIRS // len(candidates))
        for start in range(0, n, step):
            part = slice(start, start + step)
            hashed = _parities(candidates[None, :], keys[part][:, None, :])
            supported += (hashed == buckets[part][:, None]).sum(axis=0)
        return (supported / n - miss) / (hit - miss), float(self._errors(np.zeros(1), n)[0])

    def to_dict(self) -> dict[str, Json]:
        """All parameters as plain values."""
        entry: dict[str, Any] = {"kind": "heavy", "epsilon": str(self.epsilon), "ratio": str(self.ratio)}
        return {**entry, "length": self.length, "alphabet": self.alphabet, "parities": self.parities}

    @property
    def id(self) -> str:
        """Sixteen letters that stand for all its parameters."""
        return identity(self.to_dict())


def _parities(codes: NDArray[np.uint64], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The bucket of each code under its keys (last axis): one inner product modulo 2 for each key."""
    out = np.zeros(np.broadcast_shapes(codes.shape, keys.shape[:-1]), dtype=np.int64)
    for place in range(keys.shape[-1]):
        out = out << 1 | (np.bitwise_count(codes & keys[..., place]) & 1)
    return out
