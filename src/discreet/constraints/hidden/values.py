"""Numbers that are private, opened by the one door only; and what is declared about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.decimal_steps import as_decimal
from discreet.core.digest import digest_of
from discreet.core.exact import Number, as_written
from discreet.core.unit import Metric
from discreet.errors import InputError, Phrase, kind_of

__all__ = ["Exact", "PrivateValues", "ValuesSchema"]

Exact = NDArray[np.object_]
"""Numbers as fractions, the decimal ones that were written."""


class PrivateValues:
    """Private numbers with public names: {"north": 12.5, "south": 3.25}, or a list, numbered from 1.

    >>> PrivateValues({"north": 12.5, "south": 3.25})
    <private values, 2 of them>
    """

    __slots__ = ("_values", "names")

    def __init__(self, values: Mapping[str, Any] | Sequence[Any] | NDArray[Any]) -> None:
        allowed = "a list of numbers, or numbers by name"
        if isinstance(values, Mapping):
            names, numbers = [str(name) for name in values], list(values.values())
        elif isinstance(values, (list, tuple)) or (isinstance(values, np.ndarray) and values.ndim == 1):
            numbers = list(values)
            names = [str(place) for place in range(1, len(numbers) + 1)]
        else:
            raise InputError("values", kind_of(values), allowed)
        if not numbers or len(set(names)) < len(names):
            raise InputError("values", Phrase("none, or one name twice"), allowed)
        if any(isinstance(one, bool) or not isinstance(one, (int, float, str, Fraction, np.number)) for one in numbers):
            raise InputError("values", Phrase("something that is no number"), allowed)
        self.names = tuple(names)
        found = np.empty(len(numbers), dtype=object)
        found[:] = [as_decimal(number) for number in numbers]
        self._values: Exact = found

    def __len__(self) -> int:
        """How many there are."""
        return len(self.names)

    def __repr__(self) -> str:
        return f"<private values, {len(self):,} of them>"

    @contextmanager
    def open(self) -> Iterator[Exact]:
        """The numbers. Called by the one door only, after the charge is durable."""
        yield self._values.copy()


@dataclass(frozen=True, slots=True)
class ValuesSchema:
    """What is public about private numbers: what they are called, and the distance that any one is hidden up to.

    >>> print(ValuesSchema("prices", Fraction(5, 2), ("a", "b"), "EUR").unit)
    one value, moved by at most 2.5 EUR
    """

    subject: ClassVar[str] = "values"

    name: str
    alpha: Fraction
    names: tuple[str, ...]
    counted_in: str = "units"

    @classmethod
    def of(cls, name: str, alpha: Number, names: Sequence[str], measure: str = "units") -> ValuesSchema:
        """The same, read as it was written."""
        if not isinstance(name, str) or not name:
            raise InputError("dataset", name, "the name of the dataset, as text")
        if not isinstance(measure, str) or not measure.strip():
            raise InputError("measure", measure, "what the numbers are counted in, as text")
        apart = as_written(alpha, "alpha")
        if apart <= 0:
            raise InputError("alpha", alpha, "more than zero")
        return cls(name, apart, tuple(names), measure)

    @property
    def unit(self) -> Metric:
        """What is protected."""
        return Metric("one value", self.alpha, self.counted_in)

    @property
    def digest(self) -> str:
        """A fingerprint of everything declared."""
        return digest_of(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        about = {"alpha": str(self.alpha), "names": list(self.names), "measure": self.counted_in}
        return {"dataset": {"name": self.name}, "values": about}
