"""The functions an expression is made of. Each says what it can be, what it is in Python, and how an engine has it.

All three must agree: tests compute random expressions of dirty rows on every engine, in Python, and within the domain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.data.expression.domain import Domain

__all__ = ["FUNCTIONS", "Function", "Operand"]


@dataclass(frozen=True, slots=True)
class Operand:
    """An argument in an engine, and what it can be."""

    engine: Any
    domain: Domain
    loose: bool = False
    """Whether rounding may have moved it far out of its domain, for its size."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the values of one row."""

    domain: Callable[..., Domain]
    """What it can be, from what its arguments can be."""
    value: Callable[..., Any]
    """What it is, in Python; None for missing."""
    engine: Callable[[Sequence[Operand], Domain], Any] | None = None
    """The same as an ibis expression; None where only listed values are mapped, one by one."""
    strict: bool = True
    """Whether it is missing as soon as an argument is."""
    loose: bool = False
    """Whether it takes floats that rounding moved out of their domain, and may give such: sums do no harm with them."""


def _functions() -> Mapping[str, Function]:
    from discreet.data.expression import arithmetic, calendar, conversion, logic, rounding, time, words

    families = (arithmetic, rounding, logic, words, calendar, conversion, time)  # times take over from days
    return {name: function for family in families for name, function in family.FUNCTIONS.items()}


class _Lazy(dict[str, Function]):
    """Filled at first use: the families import this module."""

    def __missing__(self, name: str) -> Function:
        self.update(_functions())
        if name not in self:
            raise KeyError(name)
        return self[name]

    def names(self) -> list[str]:
        """The names of all functions."""
        self.update(_functions())
        return list(self)


FUNCTIONS = _Lazy()
