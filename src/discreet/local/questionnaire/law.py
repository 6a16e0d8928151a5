"""The laws of chance that a survey's page carries: what is sent, with which probability, for each true answer.

A law is exact: its probabilities are rationals, and the page draws from them with whole numbers alone. It says the same
as the mechanism it was made from; the tests hold both against each other. Proof: docs/proofs/survey.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any, assert_never

from discreet.core.exact import log_up, round_up
from discreet.errors import InputError, Phrase
from discreet.local.questionnaire.prefixes import Prefixes

__all__ = [
    "Choice",
    "Hashed",
    "Law",
    "Marks",
    "Near",
    "Parts",
    "Rows",
    "Sets",
    "Table",
    "law_epsilon",
    "law_to_page",
    "longest",
    "parsed_report",
    "read_report",
]

_WHOLE = re.compile(r"[0-9]{1,15}")
_PART = re.compile(r"(0|[1-9][0-9]{0,2}):([0-9]+)")


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the answers: the true one with probability `own`, every other equally likely. Sent as its number."""

    values: int
    own: Fraction

    def probability(self, report: int, value: int) -> Fraction:
        """The probability of a report, given the true value."""
        return self.own if report == value else (1 - self.own) / (self.values - 1)

    def reports(self) -> Iterator[int]:
        """Everything that can be sent."""
        yield from range(self.values)


@dataclass(frozen=True, slots=True)
class Marks:
    """A mark at each answer: with probability `own` at the true one, `other` elsewhere. Sent as zeros and ones."""

    values: int
    own: Fraction
    other: Fraction

    def probability(self, report: str, value: int) -> Fraction:
        """The probability of a report, given the true value."""
        chances = (self.own if place == value else self.other for place in range(self.values))
        return math.prod(
            (p if mark == "1" else 1 - p for mark, p in zip(report, chances, strict=True)), start=Fraction(1)
        )

    def reports(self) -> Iterator[str]:
        """Everything that can be sent."""
        yield from map("".join, product("01", repeat=self.values))


@dataclass(frozen=True, slots=True)
class Sets:
    """`size` marked answers, the true one among them with probability `own`, others by chance. Sent as 0s and 1s."""

    values: int
    size: int
    own: Fraction

    def probability(self, report: str, value: int) -> Fraction:
        """The probability of a report, given the true value."""
        if report[value] == "1":
            return self.own / math.comb(self.values - 1, self.size - 1)
        return (1 - self.own) / math.comb(self.values - 1, self.size)

    def reports(self) -> Iterator[str]:
        """Everything that can be sent."""
        for chosen in combinations(range(self.values), self.size):
            yield "".join("1" if place in chosen else "0" for place in range(self.values))


@dataclass(frozen=True, slots=True)
class Near:
    """A number below `count`: one of the `width` from `stride` * value on with probability `own`, else any other."""

    values: int
    stride: int
    width: int
    count: int
    own: Fraction

    def probability(self, report: int, value: int) -> Fraction:
        """The probability of a report, given the true value."""
        first = self.stride * value
        if first <= report < first + self.width:
            return self.own / self.width
        return (1 - self.own) / (self.count - self.width)

    def reports(self) -> Iterator[int]:
        """Everything that can be sent."""
        yield from range(self.count)


@dataclass(frozen=True, slots=True)
class Table:
    """Report r with probability `rows[value][r]`. Sent as its number."""

    rows: tuple[tuple[Fraction, ...], ...]

    @property
    def values(self) -> int:
        """How many values there are."""
        return len(self.rows)

    def probability(self, report: int, value: int) -> Fraction:
        """The probability of a report, given the true value."""
        return self.rows[value][report]

    def reports(self) -> Iterator[int]:
        """Everything that can be sent."""
        yield from range(len(self.rows[0]))


@dataclass(frozen=True, slots=True)
class Hashed:
    """A key of so many `digits` below `buckets`, each equally likely, and a bucket: the answer's own with `own`.

    The bucket of an answer is the inner product of its digits with the key's. Sent as key * buckets + bucket.
    """

    values: int
    buckets: int
    digits: int
    own: Fraction

    def probability(self, report: int, value: int) -> Fraction:
        """The probability of a report, given the true value."""
        key, bucket = divmod(report, self.buckets)
        places = range(self.digits)
        true = sum(key // self.buckets**d % self.buckets * (value // self.buckets**d % self.buckets) for d in places)
        chance = self.own if true % self.buckets == bucket else (1 - self.own) / (self.buckets - 1)
        return chance / int(self.buckets**self.digits)

    @property
    def count(self) -> int:
        """How many reports there are."""
        return int(self.buckets ** (self.digits + 1))

    def reports(self) -> Iterator[int]:
        """Everything that can be sent."""
        yield from range(self.count)


@dataclass(frozen=True, slots=True)
class Rows:
    """A place of one of `blocks` blocks of `length`: with `own` one of those that belong to the answer, else any other.

    An answer's places are those of its block where its row of a Hadamard matrix is +1. Sent as its number.
    """

    values: int
    length: int
    blocks: int
    own: Fraction

    @property
    def count(self) -> int:
        """How many reports there are."""
        return self.blocks * self.length

    def probability(self, report: int, value: int) -> Fraction:
        """The probability of a report, given the true value."""
        block, row = divmod(value, self.length - 1)
        half = self.length // 2
        mine = report // self.length == block and (report % self.length & (row + 1)).bit_count() % 2 == 0
        return self.own / half if mine else (1 - self.own) / (self.count - half)

    def reports(self) -> Iterator[int]:
        """Everything that can be sent."""
        yield from range(self.count)


@dataclass(frozen=True, slots=True)
class Parts:
    """One of several values, each equally likely, by its own law. Sent as the part's number, a colon and its report."""

    parts: tuple[Choice | Marks, ...]

    def probability(self, report: str, value: Sequence[int]) -> Fraction:
        """The probability of a report, given the true values."""
        part, _, text = report.partition(":")
        law = self.parts[int(part)]
        own = (
            law.probability(int(text), value[int(part)])
            if isinstance(law, Choice)
            else law.probability(text, value[int(part)])
        )
        return own / len(self.parts)

    def reports(self) -> Iterator[str]:
        """Everything that can be sent."""
        yield from (f"{part}:{report}" for part, law in enumerate(self.parts) for report in law.reports())


Law = Choice | Marks | Sets | Near | Table | Hashed | Rows | Parts | Prefixes


def law_epsilon(law: Law) -> Fraction:
    """The epsilon of one report, rounded up: the logarithm of the largest ratio between two answers' probabilities."""
    match law:
        case Choice(values, own):
            odds = own * (values - 1) / (1 - own)
        case Marks(_, own, other):
            odds = own * (1 - other) / (other * (1 - own))
        case Sets(values, size, own):
            odds = own * (values - size) / ((1 - own) * size)
        case Near(_, _, width, count, own):
            odds = own * (count - width) / ((1 - own) * width)
        case Table(rows):
            odds = max(max(column) / min(column) for column in zip(*rows, strict=True))
        case Hashed(_, buckets, _, own):
            odds = own * (buckets - 1) / (1 - own)
        case Rows(_, length, _, own):
            odds = own * (law.count - length // 2) / ((1 - own) * (length // 2))
        case Prefixes(own=own):
            odds = own * (law.buckets - 1) / (1 - own)
        case Parts(parts):
            return max(law_epsilon(part) for part in parts)
        case _:
            assert_never(law)
    return round_up(log_up(max(odds, 1 / odds)))


def law_to_page(law: Law) -> dict[str, Any]:
    """The law in whole numbers, as randomise.js reads it. Long ones travel as text."""
    match law:
        case Choice(values, own):
            (first,), total = _whole(own)
            return {"law": "choice", "values": values, "own": first, "total": total}
        case Marks(values, own, other):
            (first, second), total = _whole(own, other)
            return {"law": "bits", "values": values, "own": first, "other": second, "total": total}
        case Sets(values, size, own):
            (first,), total = _whole(own)
            return {"law": "subset", "values": values, "size": size, "own": first, "total": total}
        case Near(values, stride, width, count, own):
            (first,), total = _whole(own)
            shape = {"values": values, "stride": stride, "width": width, "count": count}
            return {"law": "near", **shape, "own": first, "total": total}
        case Table(rows):
            flat, total = _whole(*(p for row in rows for p in row))
            width = len(rows[0])
            cut = [flat[start : start + width] for start in range(0, len(flat), width)]
            return {"law": "table", "values": len(rows), "rows": cut, "total": total}
        case Hashed(values, buckets, digits, own):
            (first,), total = _whole(own)
            return {"law": "hash", "values": values, "buckets": buckets, "digits": digits, "own": first, "total": total}
        case Rows(values, length, blocks, own):
            (first,), total = _whole(own)
            return {"law": "rows", "values": values, "length": length, "blocks": blocks, "own": first, "total": total}
        case Prefixes(length, letters, bits, parities, own):
            (first,), total = _whole(own)
            shape = {"length": length, "letters": letters, "bits": bits, "parities": parities}
            return {"law": "prefix", **shape, "own": first, "total": total}
        case Parts(parts):
            return {"law": "parts", "parts": [law_to_page(part) for part in parts]}
        case _:
            assert_never(law)


def _whole(*probabilities: Fraction) -> tuple[list[str], str]:
    total = math.lcm(*(p.denominator for p in probabilities))
    return [str(p.numerator * (total // p.denominator)) for p in probabilities], str(total)


def read_report(law: Law, sent: object, field: str) -> int | str:
    """A report as plain values, or an `InputError` that does not repeat it."""
    match law:
        case Choice() | Near() | Table() | Hashed() | Rows():
            if isinstance(sent, int) and not isinstance(sent, bool) and 0 <= sent < _count(law):
                return sent
        case Marks(values, _, _):
            if _marks(sent, values):
                return str(sent)
        case Sets(values, size, _):
            if _marks(sent, values) and str(sent).count("1") == size:
                return str(sent)
        case Prefixes():
            if law.is_report(sent):
                return str(sent)
        case Parts(parts):
            split = _PART.fullmatch(sent) if isinstance(sent, str) else None
            if split and int(split[1]) < len(parts):
                try:
                    return f"{split[1]}:{parsed_report(parts[int(split[1])], split[2], field)}"
                except InputError:
                    pass
        case _:
            assert_never(law)
    raise InputError(field, Phrase("another form"), _form(law))


def parsed_report(law: Law, text: str, field: str) -> int | str:
    """A report from a cell of a table."""
    number = isinstance(law, (Choice, Near, Table, Hashed, Rows)) and _WHOLE.fullmatch(text)
    return read_report(law, int(text) if number else text, field)


def _count(law: Choice | Near | Table | Hashed | Rows) -> int:
    match law:
        case Choice(values, _):
            return values
        case Near() | Hashed() | Rows():
            return law.count
        case Table(rows):
            return len(rows[0])
        case _:
            assert_never(law)


def _marks(sent: object, values: int) -> bool:
    return isinstance(sent, str) and len(sent) == values and set(sent) <= {"0", "1"}


def _form(law: Law) -> str:
    match law:
        case Choice() | Near() | Table() | Hashed() | Rows():
            return f"a whole number from 0 to {_count(law) - 1}"
        case Marks(values, _, _):
            return f"{values} zeros and ones in a string"
        case Sets(values, size, _):
            return f"{values} zeros and ones in a string, {size} of them ones"
        case Prefixes(length):
            return f"1 to {length}, a key in hexadecimal and a number below {law.buckets}, with colons between them"
        case Parts(parts):
            return f"a part from 0 to {len(parts) - 1}, a colon and the report of that part"
        case _:
            assert_never(law)


def longest(law: Law) -> int:
    """No report's JSON text is longer than this."""
    if isinstance(law, Parts):
        return 6 + max(longest(part) for part in law.parts)
    if isinstance(law, Prefixes):
        return law.longest
    return 20 if isinstance(law, (Choice, Near, Table, Hashed, Rows)) else law.values + 2
