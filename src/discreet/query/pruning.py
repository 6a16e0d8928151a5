"""Groups that a condition leaves empty whatever the data: they follow from what is declared, and are not published."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from discreet.data.column import Boolean
from discreet.data.expression import Call, Domain, Expression, Name, domain_of
from discreet.data.expression.domain import constant_domain, listed_domain, structural, value_of
from discreet.data.expression.node import columns_in
from discreet.data.expression.resolve import resolve
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.key import Key
from discreet.query.predicate import (
    And,
    Compare,
    IsIn,
    IsMissing,
    Not,
    Or,
    Predicate,
    checked,
    columns_of,
    expression_in,
)
from discreet.query.value_range import beyond, holds, image, is_exact, stretches

__all__ = ["narrowed_bins", "pruned"]

_MOST = 20_000
_MOST_TRIED = 2_000
_FEW = 4_096
_TRIED = 6
_OPEN = Domain("boolean", values=(False, True), missing=True)
_NOTHING = listed_domain("integer", ())


def pruned(key: Key, condition: Predicate | None, schema: Schema, *, bins: bool = False) -> Key:
    """The same key without the values that no row can have which meets the condition; with `bins`, without such bins
    before the first and after the last that may have rows.

    Guarantee: which groups are left follows from the question and the schema alone. Proof: docs/proofs/query.md.
    """
    if condition is None or key.discovered or (key.edges is not None and not bins):
        return key
    labels = key.labels(schema)
    columns = schema.read_by([key.column])
    if len(labels) > _MOST or len(columns) != 1 or columns[0] not in schema.read_by(columns_of(condition)):
        return key
    left = labels
    for base in _bases(schema.expression(key.column), schema):
        left = [label for label in left if base.can_have(label, labels, condition)]
    if not left or len(left) == len(labels):
        return key
    if key.edges is None:
        return replace(key, values=tuple(left))
    there = [place for place, label in enumerate(labels) if label is not None and label in left]
    if not there:
        return key
    return replace(key, edges=key.edges[there[0] : there[-1] + 2], missing=key.missing and None in left)


def narrowed_bins(key: Key, condition: Predicate | None, schema: Schema) -> Key:
    """A key as it is, unless it is of bins: then without those that a condition rules out.

    For SQL, where nobody lists the bins. Edges that a person listed stay as they are.
    """
    if key.edges is None or condition is None:
        return key
    whole = key.checked(schema)
    left = pruned(whole, checked(condition, schema), schema, bins=True)
    return key if left == whole else left


def _bases(whole: Expression, schema: Schema) -> Iterator[_Base]:
    """What a key is a function of: itself, the parts that it is computed of, and its column.

    A part of floats is none: rounding may move it out of what it can be.
    """
    waiting, seen = [whole], set()
    while waiting:
        part = waiting.pop()
        if str(part) in seen or not columns_in(part):
            continue
        seen.add(str(part))
        text = part.name if isinstance(part, Name) else str(part)
        if isinstance(part, Name) or part is whole or schema.domain(text).kind != "real":
            base = _Base(whole, part, text, schema, {})
            if columns_in(base.key) == [base.value]:
                yield base
        waiting += part.arguments if isinstance(part, Call) else ()


def _name(name: str, schema: Schema) -> str:
    """A name that no column has."""
    while name in schema.columns:
        name += " "
    return name


def _replaced(expression: Expression, part: Expression, name: str) -> Expression:
    """An expression with a name wherever the part was."""
    if str(expression) == str(part) and type(expression) is type(part):
        return Name(name)
    if isinstance(expression, Call):
        return Call(expression.function, tuple(_replaced(each, part, name) for each in expression.arguments))
    return expression


@dataclass(frozen=True, slots=True)
class _Base:
    """A part of a key's expression, on which conditions are tried: the column, or what is computed of it."""

    whole: Expression
    part: Expression
    text: str
    schema: Schema
    known: dict[str, Any]
    """What is the same for all labels."""

    @property
    def value(self) -> str:
        """What stands for the part, as the key has it."""
        return _name("value", self.schema)

    @property
    def stored(self) -> str:
        """What stands for the column as conditions compare it: within its bounds or not."""
        return _name("stored", self.schema)

    @property
    def key(self) -> Expression:
        """The key as a function of the part."""
        return _replaced(self.whole, self.part, self.value)

    @property
    def domain(self) -> Domain:
        """What the part can be."""
        return self.schema.domain(self.text)

    def can_have(self, label: Any, labels: list[Any], condition: Predicate) -> bool:
        """Whether a row may have the label and meet the condition; what cannot be told, can be."""
        if "stretches" not in self.known:
            self.known["stretches"] = _possible_images(self, condition)
            self.known["origins"] = _origins(self, labels)
            self.known["tested"] = _tested(condition, self, exact=False)
        images, origins, tested = (self.known[each] for each in ("stretches", "origins", "tested"))
        if images is not None and not any(holds(found, label, labels) for found in images):
            return False
        if origins is None or tested is None or len(labels) > _MOST_TRIED:
            return True
        return any(_possible(tested, row) for row in origins[label])


@dataclass(frozen=True, slots=True)
class _Tested:
    """A condition about a part, and the names that stand for what others decide: one for each piece left open."""

    expression: Expression
    value: str
    stored: str
    open: tuple[str, ...]


def _tested(condition: Predicate, base: _Base, *, exact: bool) -> _Tested | None:
    """The condition, with everything that others decide left open; None where it makes no sense so.

    If `exact`, what rounding of floats may move is left open too.
    """
    names: list[str] = []
    try:
        whole = _about(condition, base, names, exact)
        column = base.schema.column(base.text)
        columns = {**base.schema.columns, base.value: column, base.stored: column, **dict.fromkeys(names, Boolean())}
        return _Tested(resolve(whole, columns, "where"), base.value, base.stored, tuple(names))
    except InputError:
        return None


def _about(condition: Predicate, base: _Base, names: list[str], exact: bool) -> Expression:
    """The condition, with everything that is not about the part left open.

    Each piece gets a name of its own, added to `names`: under one name two pieces would always be true together, and
    `x > 0 and not (y > 0)` never.
    """
    match condition:
        case And(parts) | Or(parts):
            whole = _about(parts[0], base, names, exact)
            for part in parts[1:]:
                part_ = _about(part, base, names, exact)
                whole = Call("and" if isinstance(condition, And) else "or", (whole, part_))
            return whole
        case Not(part):
            return Call("not", (_about(part, base, names, exact),))
        case Compare(name) | IsIn(name) | IsMissing(name):
            plain = name in base.schema.columns  # compared as it is stored
            made = expression_in(condition, base.schema.expression)
            made = _replaced(made, base.part, base.stored if plain else base.value)
            about = columns_in(made) in ([base.value], [base.stored])
            if about and not (exact and not plain and not is_exact(made, base.value, base.domain)):
                return made
            names.append(_fresh(len(names), base.schema))
            return Name(names[-1])


def _fresh(number: int, schema: Schema) -> str:
    """A name for a piece that is left open."""
    return _name(f"open {number}", schema)


def _possible_images(base: _Base, condition: Predicate) -> list[Domain | None] | None:
    """What the key can be on each stretch of the part on which the condition can be true; None if nobody knows."""
    tested = _tested(condition, base, exact=True)
    if tested is None:
        return None
    joint = _replaced(tested.expression, Name(base.stored), base.value)
    cut = stretches(base.domain, joint, base.value)
    if cut is None:
        return None
    found = [
        image(base.key, base.value, stretch, base.domain) for stretch in cut if _possible(tested, _both(base, stretch))
    ]
    found += [
        image(base.key, base.value, row[base.value], base.domain) for row in _outside(base) if _possible(tested, row)
    ]
    if _possible(tested, _both(base, _NOTHING)):  # a column declared complete may be missing all the same
        found.append(constant_domain(value_of(base.key, {base.value: None})))
    return found


def _outside(base: _Base) -> list[dict[str, Domain]]:
    """Rows with a stored value beyond the bounds, which counts as the nearer bound in an expression.

    In a group of a plain column there are none.
    """
    if not isinstance(base.part, Name) or isinstance(base.key, Name):
        return []
    return [{base.value: end, base.stored: outside} for end, outside in beyond(base.domain)]


def _origins(base: _Base, labels: list[Any]) -> dict[Any, list[dict[str, Domain]]] | None:
    """The values of the part that each label stands for, where they can be listed."""
    domain, key = base.domain, base.key
    if any(hasattr(label, "start") for label in labels):  # bins
        return None
    if isinstance(key, Name):
        known = {label: _only(domain, [] if label is None else [label], label is None) for label in labels}
        return {label: [_both(base, each)] for label, each in known.items()}
    values = domain.listed()
    if values is None:
        return None
    found: dict[Any, list[Any]] = {label: [] for label in labels}
    gaps = dict.fromkeys(labels, False)
    for value in values:
        found.setdefault(value_of(key, {base.value: value}), []).append(value)
    gaps[value_of(key, {base.value: None})] = True  # a column declared complete may be missing all the same
    rows = {label: [_both(base, _only(domain, found[label], gaps[label]))] for label in labels}
    for row in _outside(base):
        label = value_of(key, {base.value: row[base.value].lower})
        if label in rows:
            rows[label].append(row)
    return rows


def _both(base: _Base, values: Domain) -> dict[str, Domain]:
    return {base.value: values, base.stored: values}


def _only(domain: Domain, values: list[Any], missing: bool) -> Domain:
    return listed_domain(domain.kind, values, missing)


def _possible(tested: _Tested, row: Mapping[str, Domain]) -> bool:
    """Whether the condition can be true where the part is one of these; what cannot be told, can be."""
    values, stored = row[tested.value], row[tested.stored]
    if values.kind == "nothing":  # a missing value is of no type, so functions have no domain for it
        if len(tested.open) > _TRIED:
            return True
        ways = itertools.product((False, True, None), repeat=len(tested.open))
        rows = ({tested.value: None, tested.stored: None, **dict(zip(tested.open, way, strict=True))} for way in ways)
        return any(value_of(tested.expression, each) is True for each in rows)
    if len(values.values or ()) > _FEW:
        return True
    expression = tested.expression
    if values is stored:
        expression = _replaced(expression, Name(tested.stored), tested.value)
    look = structural if values.values is None else domain_of  # a stretch of seconds is not tried one by one
    try:
        found = look(expression, {**row, **dict.fromkeys(tested.open, _OPEN)})
    except InputError:
        return True
    return found.kind == "boolean" and True in (found.values or ())
