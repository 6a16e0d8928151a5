"""Constraints and an objective as a schema's file declares them: linear and quadratic ones, by the names of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

from discreet.constraints.quadratic import Quadratic
from discreet.constraints.system import AtMost, Equal
from discreet.core.exact import as_written
from discreet.errors import MISSING, InputError, Phrase, kind_of

__all__ = ["Rules"]

_SHAPE = ("weights", "squares", "constant")
_ENDS = ("equal", "least", "most")
Built = Quadratic | Equal | AtMost


@dataclass(frozen=True, slots=True)
class Rules:
    """What [values.constraints.NAME] and [values.objective] say; empty where there are none.

    `weights` and `squares` are one number for all, a list, or a table by name, in which those left out are 0. Without
    both, numbers are added up as they are.
    """

    constraints: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    objective: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, constraints: Any, objective: Any) -> Self:
        """From the tables of a file. What depends on how many numbers there are is checked when they are built."""
        if not isinstance(constraints, Mapping):
            raise InputError("values.constraints", kind_of(constraints), "tables by name: [values.constraints.total]")
        if not isinstance(objective, Mapping):
            raise InputError("values.objective", kind_of(objective), "a table: [values.objective]")
        for name, one in constraints.items():
            where = f"values.constraints.{name}"
            if not isinstance(one, Mapping):
                raise InputError(where, kind_of(one), f"a table: [{where}]")
            _known(where, one, (*_SHAPE[:2], *_ENDS))
            if not any(end in one for end in _ENDS):
                raise InputError(where, MISSING, "given an end: equal, least or most")
            if "equal" in one and ("least" in one or "most" in one):
                raise InputError(f"{where}.equal", one["equal"], "alone, without least and most")
            if "squares" in one and "most" not in one:
                raise InputError(where, Phrase("squares without most"), "`most` alone where there are squares")
            if "squares" in one and "least" in one:
                raise InputError(f"{where}.least", one["least"], "left out where there are squares: that is not convex")
        if objective:
            _known("values.objective", objective, ("name", *_SHAPE))
            if not isinstance(objective.get("name"), str) or not objective["name"].strip():
                raise InputError("values.objective.name", objective.get("name", MISSING), "what it is called, as text")
        return cls(dict(constraints), dict(objective))

    def __bool__(self) -> bool:
        return bool(self.constraints or self.objective)

    def to_dict(self) -> dict[str, Any]:
        """The tables of the file; nothing where there are none."""
        parts = {"constraints": self.constraints, "objective": self.objective}
        return {name: _plain(part) for name, part in parts.items() if part}

    def build_objective(self, names: Sequence[str]) -> Quadratic | None:
        """The objective of numbers of these names; None where none is declared."""
        if not self.objective:
            return None
        weights, squares = _shape(self.objective, names, "values.objective")
        constant = as_written(self.objective.get("constant", 0), "values.objective.constant")
        return Quadratic(self.objective["name"], weights, squares, constant=constant)

    def build_constraints(self, names: Sequence[str]) -> tuple[Built, ...]:
        """The constraints on numbers of these names."""
        found: list[Built] = []
        for name, one in self.constraints.items():
            where = f"values.constraints.{name}"
            weights, squares = _shape(one, names, where)
            ends = {end: float(as_written(one[end], f"{where}.{end}")) for end in _ENDS if end in one}
            row = [float(weight) for weight in weights]
            if "squares" in one:
                found.append(Quadratic(name, weights, squares, most=ends["most"]))
            elif "equal" in ends:
                found.append(Equal(name, [row], [ends["equal"]]))
            else:
                signs = {"most": 1, "least": -1}
                listed = [(signs[end], value) for end, value in ends.items()]
                rows = [[sign * weight for weight in row] for sign, _ in listed]
                found.append(AtMost(name, rows, [sign * value for sign, value in listed], labels=list(ends)))
        return tuple(found)


def _known(where: str, entry: Mapping[str, Any], names: Sequence[str]) -> None:
    if unknown := set(entry) - set(names):
        raise InputError.unknown(f"{where}.{min(unknown)}", names)


def _shape(entry: Mapping[str, Any], names: Sequence[str], where: str) -> tuple[list[Fraction], list[Fraction]]:
    """The weight and the square of each number."""
    usual = 0 if "squares" in entry else 1
    weights = _each(entry.get("weights", usual), names, f"{where}.weights")
    return weights, _each(entry.get("squares", 0), names, f"{where}.squares")


def _each(value: Any, names: Sequence[str], field: str) -> list[Fraction]:
    if isinstance(value, Mapping):
        if unknown := [name for name in value if name not in names]:
            raise InputError(field, unknown[0], among=names)
        return [as_written(value.get(name, 0), field) for name in names]
    if isinstance(value, (list, tuple)):
        if len(value) != len(names):
            raise InputError(field, Phrase(f"{len(value)} numbers"), f"one number, or one for each, {len(names)}")
        return [as_written(one, field) for one in value]
    return [as_written(value, field)] * len(names)


def _plain(value: Any) -> Any:
    """Numbers as they are written."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return str(value)
