"""How outputs of any kind become rows of numbers: the numbers, what else there was, and of which type it was.

A mechanism that raises an error for one neighbour only, or answers 3 for one and 3.0 for the other, gives that
neighbour away, however good its noise is. So errors and types are outputs, too. A layout is decided on runs that choose
and never judge, and holds for all runs after them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Layout", "Raised", "attempt", "code_of", "kind_of_output"]

_CODE = 6  # bytes: whole numbers that floats hold exactly
_SHOWN = 60  # letters of a value in a witness
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


@dataclass(frozen=True, slots=True)
class Raised:
    """A run that ended with an error instead of an answer: that is what whoever asked sees."""

    error: str
    message: str


def attempt(call: Callable[[], Any]) -> Any:
    """What a run gives: its answer, or the error that it ended with."""
    try:
        return call()
    except Exception as problem:
        return Raised(type(problem).__name__, str(problem))


def kind_of_output(value: Any) -> str:
    """What an output is, apart from its value: its type, how many numbers, or which error.

    >>> kind_of_output(3), kind_of_output([1.5, 2.0]), kind_of_output(Raised("ValueError", ""))
    ('int', 'list of 2 float', 'an error (ValueError)')
    """
    if isinstance(value, Raised):
        return f"an error ({value.error})"
    name = type(value).__name__
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return f"{name} of more than 64 bits"
    if isinstance(value, np.ndarray):
        return f"{name} of {value.shape} {value.dtype}"
    if isinstance(value, (list, tuple)):
        inner = " and ".join(sorted({kind_of_output(one) for one in value}))
        return f"{name} of {len(value)} {inner}".rstrip()
    return name


def code_of(value: Any) -> int:
    """A whole number that stands for a value: the same for the same value in every run and on every machine."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        value = sorted(value.items(), key=repr)
    return int.from_bytes(hashlib.blake2b(repr(value).encode(), digest_size=_CODE).digest(), "little")


@dataclass(frozen=True, slots=True)
class Layout:
    """Rows of `width` numbers (of outputs of the commonest `kind`), a code of any other value, and one of the kind."""

    kind: str
    width: int
    real: bool
    names: dict[int, str] = field(default_factory=dict)
    """What codes stand for, for whoever reads what was found."""

    @classmethod
    def of(cls, outputs: Sequence[Any]) -> Layout:
        """The layout for outputs like these."""
        kind = Counter(map(kind_of_output, outputs)).most_common(1)[0][0]
        first = next(one for one in outputs if kind_of_output(one) == kind)
        numbers = _flat(first)
        if numbers is None:
            return cls(kind, 0, real=False)
        return cls(kind, len(numbers), real=any(isinstance(one, (float, np.floating)) for one in numbers))

    @property
    def code(self) -> int:
        """The column of values that are no numbers of the commonest kind."""
        return self.width

    @property
    def type(self) -> int:
        """The column of kinds."""
        return self.width + 1

    def read(self, outputs: Sequence[Any]) -> NDArray[Any]:
        """One row for each output."""
        rows = np.zeros((len(outputs), self.width + 2), dtype=np.float64 if self.real else np.int64)
        codes: dict[str, int] = {}
        for row, (value, kind) in zip(rows, self._kinds(outputs), strict=True):
            if kind not in codes:
                codes[kind] = code_of(kind)
                self.names[codes[kind]] = kind
            row[self.type] = codes[kind]
            if kind == self.kind and self.width:
                row[: self.width] = _flat(value) or 0
                continue
            row[self.code] = code = code_of(value)
            self.names[code] = _brief(value)
        return rows

    def _kinds(self, outputs: Sequence[Any]) -> Iterator[tuple[Any, str]]:
        return ((value, kind_of_output(value)) for value in outputs)


def _flat(value: Any) -> list[Any] | None:
    """The numbers of an output, or None if it is something else."""
    if isinstance(value, np.ndarray):
        return value.ravel().tolist() if value.dtype.kind in "bif" and value.size else None
    if isinstance(value, _NUMBERS):
        return [value] if "bits" not in kind_of_output(value) else None
    if isinstance(value, (list, tuple)) and value:
        parts = [_flat(one) for one in value]
        return None if any(part is None for part in parts) else [one for part in parts for one in part or ()]
    return None


def _brief(value: Any) -> str:
    text = f"an error ({value.error}: {value.message})" if isinstance(value, Raised) else repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
