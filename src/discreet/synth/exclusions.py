"""Rows that cannot be: conditions that are public knowledge, and rows changed until none meets one.

Nobody pays for what is known anyway. A row that meets a condition has some of the columns it names replaced by those of
another row: as few as will do, of a row that agrees in the others. Only synthetic rows are looked at.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.core.release import plural
from discreet.data.column import Column, Date, Integer, Real, Timestamp
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase
from discreet.marginals.domain import Attribute, Domain
from discreet.noise.replay import Replay, uniforms
from discreet.query.parse import parse_condition
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Not, Or, Predicate, checked, columns_of
from discreet.synth.parts import MadeColumn, assemble, draw_parts, names_of, plain_columns
from discreet.synth.rows import ColumnValues, number_of, seed_of
from discreet.synth.sample import Codes

__all__ = [
    "compared_columns",
    "holds",
    "named_columns",
    "possible",
    "read_conditions",
    "repaired",
    "repaired_beside",
]

_TRIES = 2**17
_FIRST = 2**10
_ROUNDS = 3
_COMPARE = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_SIGNS = {"=": "==", "<>": "!="}
_NAME = r'("(?:[^"]|"")+"|[^\W\d]\w*)'
_COMPARED = re.compile(rf"{_NAME} (<=|>=|<>|!=|=|<|>) {_NAME}")
Truth = NDArray[np.bool_]


def read_conditions(
    conditions: Iterable[str | Predicate], schema: Schema, domain: Domain, made: Sequence[MadeColumn] | None = None
) -> tuple[Predicate, ...]:
    """Conditions on the columns of the table, which leave something possible."""
    columns = plain_columns(domain) if made is None else made
    if isinstance(conditions, (str, Compare, IsIn, IsMissing, And, Or, Not)):
        conditions = [conditions]
    found = []
    for condition in conditions:
        try:
            read = checked(parse_condition(condition) if isinstance(condition, str) else condition, schema)
        except InputError as problem:
            raise problem.about("impossible") from None
        for name in named_columns(read):
            if name not in domain.names and name not in (one.name for one in columns):
                raise InputError("impossible", name, "about columns that are made", among=[one.name for one in columns])
            if name in domain.names and domain.attributes[domain.place(name)].unknown:
                raise InputError("impossible", name, "about columns whose values are declared, not discovered")
        for name in columns_of(read):
            _check_compared(name, schema)
        found.append(read)
    # A plan is free, and a few combinations settle nearly every case: more are tried only where none is possible.
    declared = {name: schema.column(name) for name in (*domain.names, *(one.name for one in columns))}
    if found and not any(len(possible(domain, declared, found, tries, columns)) for tries in (_FIRST, _TRIES)):
        hint = "Nothing was spent. Conditions say which rows cannot be, not which ones can."
        allowed = f"conditions that leave some rows possible: none of the {_TRIES:,} combinations tried is"
        raise InputError("impossible", Phrase(plural(len(found), "condition")), allowed, hint)
    return tuple(found)


def compared_columns(name: str) -> tuple[str, str, str] | None:
    """Two columns and the sign between them, if that is what an expression is.

    >>> compared_columns('dropoff < "pick up"'), compared_columns("fare")
    (('dropoff', '<', 'pick up'), None)
    """
    found = _COMPARED.fullmatch(name)
    if found is None:
        return None
    left, sign, right = found.groups()
    return _unquoted(left), _SIGNS.get(sign, sign), _unquoted(right)


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def _check_compared(name: str, schema: Schema) -> None:
    """Refuse to compare columns whose values are not of one kind."""
    pair = None if name in schema.columns else compared_columns(name)
    if pair is None:
        return
    kinds = [schema.column(one, "impossible") for one in (pair[0], pair[2])]
    numbers = all(isinstance(one, Integer | Real) for one in kinds)
    if not numbers and not (type(kinds[0]) is type(kinds[1]) and isinstance(kinds[0], Date | Timestamp)):
        raise InputError("impossible", name, "a comparison of two columns of numbers, of days or of times")


def named_columns(condition: Predicate) -> list[str]:
    """The columns that a condition names; those of a comparison of two columns are two."""
    found = []
    for name in columns_of(condition):
        pair = compared_columns(name)
        found += [name] if pair is None else [pair[0], pair[2]]
    return list(dict.fromkeys(found))


def possible(
    domain: Domain,
    columns: Mapping[str, Column],
    conditions: Sequence[Predicate],
    tries: int = _TRIES,
    made: Sequence[MadeColumn] = (),
) -> Codes:
    """Some combinations of codes that meet no condition, evenly from all of the domain."""
    names = {name for one in conditions for name in named_columns(one)}
    named = sorted({place for name in names for place in _places(name, domain, made)})
    sizes = [domain.sizes[place] for place in named]
    codes = np.zeros((tries, len(domain)), dtype=np.int64)
    shares = uniforms(Replay(b"possible"), tries * len(domain)).reshape(tries, -1)
    for place, size in enumerate(domain.sizes):
        codes[:, place] = np.minimum((shares[:, place] * size).astype(np.int64), size - 1)
    if domain.cells(named) <= tries:  # few enough to try them all
        every = np.unravel_index(np.arange(tries) % domain.cells(named), sizes)
        for place, column in zip(named, every, strict=True):
            codes[:, place] = column
    drawn = draw_parts(domain, made, columns, codes)
    return codes[~_any(conditions, _all(drawn, columns, made), domain)]


def _places(name: str, domain: Domain, made: Sequence[MadeColumn]) -> list[int]:
    """The attributes that a column of the table is made of, or the one attribute of that name."""
    parts = {one.name: one.parts for one in made}.get(name, (name,))
    return [domain.place(part) for part in parts]


def _all(
    drawn: dict[str, ColumnValues], columns: Mapping[str, Column], made: Sequence[MadeColumn]
) -> dict[str, ColumnValues]:
    """Values of all attributes, and of the columns that are made of them."""
    return drawn | assemble(made, columns, drawn)


def repaired(
    domain: Domain,
    columns: Mapping[str, Column],
    codes: Codes,
    conditions: Sequence[Predicate],
    made: Sequence[MadeColumn] = (),
) -> tuple[Codes, dict[str, ColumnValues], int]:
    """Codes and values that meet no condition, and how many rows were changed for it."""
    drawn = draw_parts(domain, made, columns, codes)
    full = _all(drawn, columns, made)
    bad = _any(conditions, full, domain) if conditions else np.zeros(len(codes), dtype=bool)
    changed = int(bad.sum())
    if changed == 0:
        return codes, full, 0
    bits = Replay(hashlib.sha256(b"repair" + np.ascontiguousarray(codes, dtype="<i8").tobytes()).digest())
    if bad.all():  # not one row to learn from: any that can be
        found = possible(domain, columns, conditions, made=made)
        codes = found[(uniforms(bits, len(codes)) * len(found)).astype(np.int64)]
        return _settled(domain, columns, codes, conditions, changed, made)
    work = _Repair(domain, columns, made, conditions, codes.copy(), drawn, bits)
    for condition in conditions:
        work.mend(condition)
    work.replace(list(range(len(domain))), [])
    return work.codes, work.full, changed


def repaired_beside(
    domain: Domain,
    columns: Mapping[str, Column],
    codes: Codes,
    drawn: Mapping[str, ColumnValues],
    conditions: Sequence[Predicate],
    made: Sequence[MadeColumn],
    settled: Collection[str],
) -> tuple[dict[str, ColumnValues], int, Truth]:
    """Values of rows of which some columns may not change, how many rows changed, and which of them still cannot be.

    `settled` are those columns and their parts; `drawn` the values of all attributes as they are.
    """
    bits = Replay(seed_of(codes) + b"repair beside")
    kept = {domain.place(name) for name in settled if name in domain.names}
    work = _Repair(domain, columns, made, conditions, codes.copy(), dict(drawn), bits, kept)
    before = len(codes) - len(work.good)
    if len(work.good):
        for condition in conditions:
            work.mend(condition)
    bad = _any(conditions, work.full, domain)
    return work.drawn, before - int(bad.sum()), bad


def _settled(
    domain: Domain,
    columns: Mapping[str, Column],
    codes: Codes,
    conditions: Sequence[Predicate],
    changed: int,
    made: Sequence[MadeColumn],
) -> tuple[Codes, dict[str, ColumnValues], int]:
    """Codes that were possible once, with values drawn anew; where they are not possible now, those of other rows."""
    drawn = _all(draw_parts(domain, made, columns, codes), columns, made)
    bad = _any(conditions, drawn, domain)
    if bad.all():
        raise InputError("impossible", Phrase("these conditions"), "conditions that leave more rows possible")
    good = np.flatnonzero(~bad)
    rows = np.where(bad, good[np.arange(len(codes)) % len(good)], np.arange(len(codes)))
    return codes[rows], {name: one.taken(rows) for name, one in drawn.items()}, changed


class _Repair:
    def __init__(
        self,
        domain: Domain,
        columns: Mapping[str, Column],
        made: Sequence[MadeColumn],
        conditions: Sequence[Predicate],
        codes: Codes,
        drawn: dict[str, ColumnValues],
        bits: Replay,
        settled: Collection[int] = (),
    ) -> None:
        self.settled = settled
        self.domain, self.columns, self.made, self.conditions, self.bits = domain, columns, made, conditions, bits
        self.codes, self.drawn = codes, drawn
        self.good = np.flatnonzero(~_any(conditions, self.full, domain))  # as they came: whom others may borrow from

    @property
    def full(self) -> dict[str, ColumnValues]:
        """The values of attributes and columns as they are now."""
        return _all(self.drawn, self.columns, self.made)

    def mend(self, condition: Predicate) -> None:
        """Change rows that meet this condition: one of its columns, the last named first; then all of them."""
        named = [_places(name, self.domain, self.made) for name in named_columns(condition)]
        every = list(dict.fromkeys(place for places in named for place in places))
        free = [place for place in every if place not in self.settled]
        for places in reversed(named):
            changed = [place for place in places if place in free]
            self.replace(changed, [other for other in every if other not in changed], condition)
        for _ in range(_ROUNDS):
            self.replace(free, [], condition)

    def replace(self, columns: list[int], kept: list[int], condition: Predicate | None = None) -> None:
        """Columns of impossible rows from possible ones that agree in `kept`, where fewer conditions are met then."""
        wanted = self.conditions if condition is None else [condition]
        bad = np.flatnonzero(_any(wanted, self.full, self.domain))
        if len(bad) == 0:
            return
        donors = self._donors(bad, kept)
        bad, donors = bad[donors >= 0], donors[donors >= 0]
        names = {self.domain.names[column] for column in columns}
        names |= {name for one in self.made if names.intersection(one.parts) for name in names_of(one)}
        before = {name: one.taken(bad) for name, one in self.drawn.items()}
        after = before | {name: self.drawn[name].taken(donors) for name in names}
        better = self._met(after) < self._met(before)
        bad, donors = bad[better], donors[better]
        for name in sorted(names):
            if name in self.domain.names:
                column = self.domain.place(name)
                self.codes[bad, column] = self.codes[donors, column]
            values, missing = self.drawn[name].values.copy(), self.drawn[name].missing.copy()
            values[bad], missing[bad] = values[donors], missing[donors]
            self.drawn[name] = ColumnValues(values, missing)

    def _met(self, drawn: Mapping[str, ColumnValues]) -> NDArray[np.int64]:
        """How many conditions each row meets."""
        full = _all(dict(drawn), self.columns, self.made)
        return np.asarray(sum(holds(one, full, self.domain).astype(np.int64) for one in self.conditions))

    def _donors(self, bad: NDArray[np.int64], kept: list[int]) -> NDArray[np.int64]:
        """For every impossible row a possible one that agrees in some columns; -1 if there is none."""
        share = uniforms(self.bits, len(bad))
        if not kept:
            return self.good[(share * len(self.good)).astype(np.int64)]
        both = np.concatenate([self.codes[self.good][:, kept], self.codes[bad][:, kept]])
        _, group = np.unique(both, axis=0, return_inverse=True)
        theirs, ours = group.ravel()[: len(self.good)], group.ravel()[len(self.good) :]
        order = np.argsort(theirs, kind="stable")
        first = np.searchsorted(theirs[order], ours, side="left")
        many = np.searchsorted(theirs[order], ours, side="right") - first
        place = np.minimum(first + (share * many).astype(np.int64), len(order) - 1)
        return np.where(many > 0, self.good[order[place]], -1)


def _any(conditions: Sequence[Predicate], drawn: Mapping[str, ColumnValues], domain: Domain) -> Truth:
    """Which rows meet at least one of the conditions."""
    found = np.zeros(len(next(iter(drawn.values())).values), dtype=bool)
    for condition in conditions:
        found |= holds(condition, drawn, domain)
    return found


def holds(condition: Predicate, drawn: Mapping[str, ColumnValues], domain: Domain) -> Truth:
    """Where a condition is true: not where a missing value leaves it open."""
    return _truth(condition, drawn, domain)[0]


def _attribute(domain: Domain, name: str) -> Attribute | None:
    return domain.attributes[domain.place(name)] if name in domain.names else None


def _truth(condition: Predicate, drawn: Mapping[str, ColumnValues], domain: Domain) -> tuple[Truth, Truth]:
    """Where a condition is true, and where it is false."""
    match condition:
        case Compare(name, operator, value) if name not in drawn and (pair := compared_columns(name)) is not None:
            left, right = drawn[pair[0]], drawn[pair[2]]
            known = ~left.missing & ~right.missing
            met = _COMPARE[pair[1]](left.values, right.values)
            met = met if bool(value) == (operator == "==") else ~met
            return met & known, ~met & known
        case Compare(name, operator, value):
            one, number = drawn[name], number_of(_attribute(domain, name), value)
            met = _COMPARE[operator](one.values, number)
            return met & ~one.missing, ~met & ~one.missing
        case IsIn(name, values):
            one = drawn[name]
            numbers = [number_of(_attribute(domain, name), value) for value in values]
            met = np.isin(one.values, numbers)
            return met & ~one.missing, ~met & ~one.missing
        case IsMissing(name):
            return drawn[name].missing, ~drawn[name].missing
        case Not(part):
            true, false = _truth(part, drawn, domain)
            return false, true
        case And(parts):
            found = [_truth(part, drawn, domain) for part in parts]
            return np.logical_and.reduce([t for t, _ in found]), np.logical_or.reduce([f for _, f in found])
        case Or(parts):
            found = [_truth(part, drawn, domain) for part in parts]
            return np.logical_or.reduce([t for t, _ in found]), np.logical_and.reduce([f for _, f in found])
