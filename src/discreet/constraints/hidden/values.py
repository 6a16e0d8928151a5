"""Numbers that are private, opened by the one door only; and what is declared about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.constraints.hidden.rules import Rules
from discreet.core.decimal_steps import Exact, exact_numbers
from discreet.core.digest import digest_of
from discreet.core.exact import Number, as_written
from discreet.core.unit import Metric
from discreet.errors import MISSING, InputError, Phrase, kind_of

__all__ = ["PrivateValues", "ValuesSchema"]

_TABLES = ("dataset", "values", "budget", "ledger")
_FIELDS = {
    "alpha": "the distance that any one number is hidden up to",
    "column": "the column of the CSV file that holds the numbers",
    "label": "the column that names them",
    "measure": "what they are counted in",
    "names": "what they are called",
    "constraints": "the constraints that released numbers meet",
    "objective": "the objective that released numbers come close to",
}


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
        self._values = exact_numbers(numbers)

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
    times: ClassVar[int] = 1

    name: str
    alpha: Fraction
    names: tuple[str, ...]
    counted_in: str = "units"
    column: str = ""
    """Of a CSV file: the column of the numbers, and that of their names."""
    label: str = ""
    rules: Rules = field(default_factory=Rules)
    """Constraints and an objective that are declared."""

    @classmethod
    def from_dict(cls, declared: Mapping[str, Any]) -> ValuesSchema:
        """From the tables of a schema file, or from what `to_dict` gave."""
        if unknown := set(declared) - set(_TABLES):
            raise InputError.unknown(min(unknown), _TABLES, "A schema with [values] declares no table of rows.")
        about, values = declared.get("dataset", {}), declared["values"]
        for table, entry in (("dataset", about), ("values", values)):
            if not isinstance(entry, Mapping):
                raise InputError(table, entry, f"a table: [{table}]")
        for table, entry, known in (("dataset", about, ("name", "version")), ("values", values, _FIELDS)):
            if unknown := set(entry) - set(known):
                raise InputError.unknown(f"{table}.{min(unknown)}", known)
        for name in ("alpha", "column"):
            if name not in values and (name == "alpha" or "names" not in values):  # of a file, or of numbers by name
                raise InputError(f"values.{name}", MISSING, f"given: {_FIELDS[name]}")
        for name in ("column", "label"):
            if not isinstance(values.get(name, ""), str):
                raise InputError(f"values.{name}", values[name], "the name of a column")
        names = values.get("names", ())
        if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
            raise InputError("values.names", names, "a list of names, as text")
        rules = Rules.read(values.get("constraints", {}), values.get("objective", {}))
        made = cls.of(about.get("name", ""), values["alpha"], names, values.get("measure", "units"))
        return replace(made, column=values.get("column", ""), label=values.get("label", ""), rules=rules)

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
        file = {name: value for name, value in (("column", self.column), ("label", self.label)) if value}
        about |= {**file, **self.rules.to_dict()}
        return {"dataset": {"name": self.name}, "values": about}
