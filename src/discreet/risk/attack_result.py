"""How an attack went: in words that end in one sentence, drawn, and as plain values; and what settings it may have."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, ClassVar, cast

from discreet.errors import InputError
from discreet.show import Picture

__all__ = ["AttackResult", "check_epsilon", "check_size", "most_right"]


class AttackResult(ABC):
    """What an attack finds without a budget and under one: a dataclass of plain values, which says and draws them."""

    __slots__ = ()
    drawn: ClassVar[tuple[str, ...]] = ()
    """Fields that pictures alone are made of: they are no plain values."""
    derived: ClassVar[tuple[str, ...]] = ()
    """Properties that stand among the plain values, too."""

    @abstractmethod
    def details(self) -> Sequence[str]:
        """What was found without a budget and under one, a control beside it, and the cost in accuracy: a line each."""

    @abstractmethod
    def conclusion(self) -> str:
        """One sentence: what failed, what held, and why."""

    @abstractmethod
    def picture(self) -> Picture:
        """The same drawn."""

    def explain(self) -> str:
        """In words: the details, and the conclusion last."""
        return "\n".join((*self.details(), self.conclusion()))

    def __str__(self) -> str:
        return self.explain()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without what is only drawn, and the conclusion."""
        fields = {name: value for name, value in asdict(cast(Any, self)).items() if name not in self.drawn}
        return {**fields, **{name: getattr(self, name) for name in self.derived}, "conclusion": self.conclusion()}


def check_epsilon(epsilon: float, most: float = math.inf) -> None:
    """An epsilon that an attack can be tried under."""
    if not 0 < epsilon < most:
        raise InputError("epsilon", epsilon, "more than zero" + (f" and below {most:g}" if most < math.inf else ""))


def check_size(field: str, value: int, least: int, most: int) -> None:
    """How many there are of something."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(field, value, f"a whole number from {least:,} to {most:,}")


def most_right(epsilon: float) -> float:
    """What no attack on epsilon-private answers beats on average, guessing bits of even odds: e^eps / (1 + e^eps).

    >>> round(most_right(1), 3), most_right(1000)
    (0.731, 1.0)
    """
    return 1 / (1 + math.exp(-epsilon))
