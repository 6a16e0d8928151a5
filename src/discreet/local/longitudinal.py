"""The same question again and again: answers remembered, and what that costs in the long run.

Scrambling anew each time would add up: after a hundred reports the truth is plain. So a respondent scrambles once, for
good, and remembers it (`permanent`); what is sent each time is that, scrambled again (`instant`), so that reports of
one person cannot be linked by being all the same. However often one is asked, an answer that stays costs no more than
the permanent part.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.check import settle
from discreet.core.exact import Number
from discreet.core.loss import Pure
from discreet.core.mechanism import Bits
from discreet.core.wire import Json
from discreet.errors import InputError, LossError, kind_of
from discreet.local.grr import GRR
from discreet.local.protocol import identity, read_answers
from discreet.local.ratio import epsilon_of
from discreet.mechanisms.inputs import read_count

__all__ = ["Longitudinal", "Memory"]


@dataclass(frozen=True, slots=True)
class Longitudinal:
    """Categories reported many times: `permanent` is remembered, `instant` (if any) is drawn anew each time.

    Guarantee
        `loss(rounds)` for an answer that stays the same, at most `permanent`'s however many rounds; see `loss` for
        answers that change. Proof: docs/proofs/shuffle.md, "Again and again".

    >>> diary = Longitudinal(4, permanent=2, instant=1)
    >>> [round(float(diary.loss(rounds).epsilon), 2) for rounds in (1, 2, 10, 1000)]
    [0.65, 1.23, 2.0, 2.0]
    """

    permanent: GRR
    instant: GRR | None

    def __init__(self, categories: int, permanent: Number | GRR = 2, instant: Number | GRR | None = None) -> None:
        first = permanent if isinstance(permanent, GRR) else GRR(categories, permanent)
        again = instant if instant is None or isinstance(instant, GRR) else GRR(categories, instant)
        if first.categories != categories or (again is not None and again.categories != categories):
            raise InputError("categories", categories, "the same in both parts")
        settle(self, permanent=first, instant=again)

    @property
    def categories(self) -> int:
        """How many answers there are."""
        return self.permanent.categories

    @property
    def each(self) -> GRR:
        """The law of a single report: what one round's reports are estimated with."""
        if self.instant is None:
            return self.permanent
        one, two = self.permanent, self.instant
        return GRR.truthful(one.hit * two.hit + (self.categories - 1) * one.miss * two.miss, self.categories)

    def start(self, remembered: Mapping[Any, int] | None = None) -> Memory:
        """A respondent's memory: empty, or as it was saved."""
        return Memory(self, remembered)

    def ratio(self, rounds: int) -> Fraction:
        """The largest likelihood ratio of `rounds` reports between two answers that stay the same: exact.

        It is attained by reports that all name the first answer.
        """
        count = read_count(rounds, "rounds")
        if self.instant is None:
            return self.permanent.ratio
        one, rare = self.permanent, 1 / self.instant.ratio**count
        rest = (self.categories - 2) * one.miss * rare
        return (one.hit + one.miss * rare + rest) / (one.miss + one.hit * rare + rest)

    def loss(self, rounds: int, *, values: int = 1, hidden: bool = False) -> Pure:
        """What `rounds` reports of one person cost.

        `values` is how many different answers the person gives over time at most. In which rounds the answer is the
        same is not protected then, also where it comes back: reports show it, for an answer keeps its memory. With
        `hidden` that is protected, too: only the instant part does it, and it adds up.
        """
        count, different = read_count(rounds, "rounds"), read_count(values, "values")
        if different > min(count, self.categories):
            raise InputError("values", values, f"at most {min(count, self.categories)}")
        if hidden:
            if self.instant is None:
                raise LossError("without an instant part reports show when an answer changes: no epsilon covers that")
            return Pure(count * self.instant.spent)
        # Fewer answers may tell more: each is then given more often.
        return Pure(max(many * epsilon_of(self.ratio(count - many + 1)) for many in range(1, different + 1)))

    def to_dict(self) -> dict[str, Json]:
        """Both parts as plain values."""
        return {
            "kind": "longitudinal",
            "permanent": self.permanent.to_dict(),
            "instant": None if self.instant is None else self.instant.to_dict(),
        }

    @property
    def id(self) -> str:
        """Sixteen letters that stand for all its parameters."""
        return identity(self.to_dict())


class Memory:
    """What a respondent's device remembers: for each answer ever given, what it was turned into for good."""

    __slots__ = ("_law", "_lock", "_remembered")

    def __init__(self, law: Longitudinal, remembered: Mapping[Any, int] | None = None) -> None:
        if not isinstance(law, Longitudinal):
            raise InputError("law", kind_of(law), "a Longitudinal, whose start() makes a memory")
        if remembered is not None and not isinstance(remembered, Mapping):
            raise InputError("remembered", kind_of(remembered), "what to_dict() returned")
        self._law = law
        self._lock = threading.Lock()  # an answer turned into two things for good would cost twice
        self._remembered: dict[int, int] = {}
        for answer, memory in (remembered or {}).items():
            read_answers([int(answer), memory], law.categories)
            self._remembered[int(answer)] = int(memory)

    def report(self, value: int, *, bits: Bits | None = None) -> Any:
        """This round's report."""
        _, one = read_answers(value, self._law.categories)
        if not one:
            raise InputError("value", kind_of(value), "one category number")
        with self._lock:
            if value not in self._remembered:
                self._remembered[int(value)] = self._law.permanent.privatize(int(value), bits=bits)
            memory = self._remembered[int(value)]
        return memory if self._law.instant is None else self._law.instant.privatize(memory, bits=bits)

    def to_dict(self) -> dict[str, int]:
        """To be saved where only the respondent can read it: it tells what was answered."""
        with self._lock:
            return {str(answer): memory for answer, memory in self._remembered.items()}
