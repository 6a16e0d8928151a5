"""The law of a word that is typed: its first letters, how many of them is up to chance, in a hashed group.

It says the same as `HeavyHitters`, with keys no longer than a word. Proof: docs/proofs/survey.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Prefixes"]

_REPORT = re.compile(r"([1-9][0-9]?):(0|[1-9a-f][0-9a-f]{0,127}):(0|[1-9][0-9]{0,2})")


@dataclass(frozen=True, slots=True)
class Prefixes:
    """How many of the first letters, each number equally likely; a key; their bucket with `own`, else any other.

    An answer is the numbers of its letters, each of so many `bits` and 0 after the last. A key has `parities` parts of
    as many bits as an answer, uniform; the bits of a bucket are the inner products of the first letters with the
    parts. Sent as the number of letters, the key in hexadecimal and the bucket, with colons between them.
    """

    length: int
    letters: int
    bits: int
    parities: int
    own: Fraction

    @property
    def buckets(self) -> int:
        """How many there are."""
        return 1 << self.parities

    @property
    def keys(self) -> int:
        """How many keys there are."""
        return 1 << self.length * self.bits * self.parities

    def probability(self, report: str, value: Sequence[int]) -> Fraction:
        """The probability of a report, given the numbers of an answer's letters."""
        level, key, sent = self.split(report)
        whole, true = self.length * self.bits, 0
        padded = [*value, *[0] * (self.length - len(value))]
        code = sum(letter << self.bits * (self.length - 1 - place) for place, letter in enumerate(padded[:level]))
        for part in reversed(range(self.parities)):
            true = 2 * true + (key >> whole * part & code).bit_count() % 2
        chance = self.own if true == sent else (1 - self.own) / (self.buckets - 1)
        return chance / self.keys / self.length

    def split(self, report: str) -> tuple[int, int, int]:
        """How many letters, the key and the bucket."""
        level, key, bucket = report.split(":")
        return int(level), int(key, 16), int(bucket)

    def reports(self) -> Iterator[str]:
        """Everything that can be sent."""
        for level in range(1, self.length + 1):
            yield from (f"{level}:{key:x}:{bucket}" for key in range(self.keys) for bucket in range(self.buckets))

    def is_report(self, sent: object) -> bool:
        """Whether this can be sent."""
        split = _REPORT.fullmatch(sent) if isinstance(sent, str) else None
        if split is None:
            return False
        level, key, bucket = self.split(split[0])
        return level <= self.length and key < self.keys and bucket < self.buckets

    @property
    def longest(self) -> int:
        """No report's JSON text is longer than this."""
        return 10 + -(-self.length * self.bits * self.parities // 4)
