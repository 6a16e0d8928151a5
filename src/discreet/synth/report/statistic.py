"""Questions put to synthetic rows: what share of them meets a condition, and what the mean of a column is among those.

"age >= 25 and sex = 'F'" asks for a share; "mean(pay) where age >= 25" for a mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.column import Boolean, Column, Integer, Real, Timestamp
from discreet.data.instant import Instant, read_instant
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.marginals.domain import Domain
from discreet.query.parse import parse_condition
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Not, Or, Predicate, checked
from discreet.synth.exclusions import holds, named_columns
from discreet.synth.parts import MadeColumn
from discreet.synth.report.quality import associations
from discreet.synth.rows import ColumnValues

__all__ = ["Statistic", "answer", "default_statistics", "read_statistics"]

MOST = 100
"""How many questions a report answers."""
_FORMS = 'a condition such as "age >= 25 and sex = \'F\'", or "mean(pay) where age >= 25"'
_MEAN = re.compile(r"""\s*mean\s*\(\s*("[^"]+"|[^()"]+?)\s*\)\s*(?:where\s+(.+))?""", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Statistic:
    """A share of rows (no `column`), or the mean of a column among the rows that meet a condition."""

    text: str
    condition: Predicate | None
    column: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column it names; of a comparison of two columns both."""
        named = [] if self.condition is None else named_columns(self.condition)
        return tuple(dict.fromkeys([*named, *([] if self.column is None else [self.column])]))


def read_statistics(
    asked: Iterable[str | Predicate], domain: Domain, declared: Mapping[str, Column]
) -> tuple[Statistic, ...]:
    """Questions about the columns of a synthetic table."""
    if isinstance(asked, (str, Compare, IsIn, IsMissing, And, Or, Not)):
        asked = [asked]
    if not isinstance(asked, Iterable):
        raise InputError("asks", asked, f"a list of questions, each {_FORMS}")
    found = tuple(_read(one, domain, declared) for one in asked)
    if len(found) > MOST:
        raise InputError("asks", len(found), f"at most {MOST} questions")
    return found


def _read(asked: Any, domain: Domain, declared: Mapping[str, Column]) -> Statistic:
    schema = Schema("synthetic", dict(declared))
    try:
        if not isinstance(asked, str):
            read = checked(asked, schema)
            ask = Statistic(in_words(read), read)
        elif (mean := _MEAN.fullmatch(asked)) is None:
            ask = Statistic(asked.strip(), checked(parse_condition(asked), schema))
        else:
            condition = None if mean[2] is None else checked(parse_condition(mean[2]), schema)
            ask = Statistic(asked.strip(), condition, mean[1].strip('"'))
    except InputError as problem:
        raise problem.about("asks") from None
    except (AttributeError, TypeError):
        raise InputError("asks", asked, _FORMS) from None
    for name in ask.columns:
        if name not in declared:  # also one that the schema has, and that was not made
            domain.place(name, "asks")
    if ask.column is not None and not isinstance(declared[ask.column], (Integer, Real, Boolean)):
        raise InputError("asks", ask.text, f"the mean of a column of numbers, and {ask.column} is none")
    return ask


def answer(ask: Statistic, drawn: Mapping[str, ColumnValues], domain: Domain) -> float:
    """What rows say; NaN if none of them is asked about."""
    rows = len(next(iter(drawn.values())).values)
    met: NDArray[np.bool_] = np.ones(rows, dtype=bool)
    if ask.condition is not None:
        met = holds(ask.condition, drawn, domain)
    if ask.column is None:
        return float(met.mean()) if rows else float("nan")
    values = drawn[ask.column]
    known = met & ~values.missing
    return float(values.values[known].mean()) if known.any() else float("nan")


def default_statistics(
    domain: Domain, declared: Mapping[str, Column], codes: NDArray[np.int64], made: Sequence[MadeColumn] = ()
) -> tuple[Statistic, ...]:
    """Questions worth asking if nobody says which: about columns that go together in the synthetic rows."""
    if len(codes) == 0:
        return ()
    halves = {place: part for place in range(len(domain)) if (part := _part(domain, place, codes)) is not None}
    parts = _as_columns(halves, domain, declared, made)
    strength = associations(domain, codes)
    pairs = [(abs(float(strength[a, b])), a, b) for a in parts for b in parts if a < b]
    pairs = sorted((one for one in pairs if one[0] == one[0]), key=lambda one: -one[0])
    sets: list[tuple[int, ...]] = [(a, b) for _, a, b in pairs[:3]]
    if pairs and len(parts) > 2:
        _, a, b = pairs[0]
        weight = {c: float(np.nansum(np.abs(strength[[a, b], c]))) for c in parts if c not in (a, b)}
        sets.append(tuple(sorted((a, b, max(weight, key=lambda c: weight[c])))))
    conditions = [And(tuple(parts[place] for place in one)) for one in sets] or list(parts.values())[:3]
    asks = [Statistic(in_words(condition), condition) for condition in conditions]
    numbers = [place for place, name in enumerate(domain.names) if isinstance(declared[name], (Integer, Real))]
    for place in numbers[-1:]:
        name = domain.names[place]
        others = [parts[other] for other in parts if other != place and not domain.attributes[other].ordered]
        condition = And(tuple(others[:2])) if len(others) > 1 else others[0] if others else None
        text = f"mean({name})" + ("" if condition is None else f" where {in_words(condition)}")
        asks.append(Statistic(text, condition, name))
    return tuple(asks)


def _as_columns(
    parts: dict[int, Compare], domain: Domain, declared: Mapping[str, Column], made: Sequence[MadeColumn]
) -> dict[int, Compare]:
    """Conditions as a person would ask: about a timestamp, not about its day, and not about its minute at all."""
    found = dict(parts)
    for one in made:
        column = declared[one.name]
        if one.base is None and not one.plain and isinstance(column, Timestamp):
            day, time = (domain.place(part) for part in one.parts)
            found.pop(time, None)
            if day in found:
                start = read_instant(found[day].value, column.timezone, "asks")
                found[day] = Compare(one.name, found[day].operator, start)
    return found


def _part(domain: Domain, place: int, codes: NDArray[np.int64]) -> Compare | None:
    """A condition that splits the rows by one column: the upper half, or the most common value."""
    attribute = domain.attributes[place]
    counts = np.bincount(codes[:, place], minlength=attribute.size)
    if attribute.missing:
        counts[-1] = 0
    if not counts.any() or (counts > 0).sum() < 2:
        return None
    if attribute.ordered:
        label = attribute.labels[max(int(np.searchsorted(np.cumsum(counts), counts.sum() / 2)), 1)]
        start = getattr(label, "start", label)
        return None if label is None else Compare(attribute.name, ">=", start)
    return Compare(attribute.name, "==", attribute.labels[int(np.argmax(counts))])


def in_words(condition: Predicate) -> str:
    """A condition as people write it.

    >>> in_words(And((Compare("age", ">=", 25), Compare("sex", "==", "f"))))
    "age >= 25 and sex = 'f'"
    """
    match condition:
        case Compare(column, operator, value):
            sign = {"==": "=", "!=": "<>"}.get(operator, operator)
            return f"{_name(column)} {sign} {_constant(value)}"
        case IsIn(column, values):
            return f"{_name(column)} in ({', '.join(_constant(value) for value in values)})"
        case IsMissing(column):
            return f"{_name(column)} is null"
        case Not(part):
            return f"not ({in_words(part)})"
        case And(parts):
            return " and ".join(f"({in_words(one)})" if isinstance(one, Or) else in_words(one) for one in parts)
        case Or(parts):
            return " or ".join(in_words(one) for one in parts)


def _name(column: str) -> str:
    return column if re.fullmatch(r"[A-Za-z_]\w*", column) else f'"{column}"'


def _constant(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date | Instant):
        return f"'{value}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    number = Fraction(value)
    return str(number.numerator) if number.denominator == 1 else f"{float(number):g}"
