"""Several questions as one table: the levels of a ROLLUP, or the parts of a UNION ALL, under one price.

Each part is bought with an equal share of the price, coarser levels too: a sum of finer ones would have their errors
added up. Where no unit is in two parts, each has the whole price.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from discreet.accounting.compose import compose
from discreet.accounting.parallel import parallel
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.unit import Neighbours
from discreet.data.column import Boolean, Category
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError, Phrase
from discreet.ledger.budget import Allotment
from discreet.query.composite_plan import GroupedPlan, PlanOfParts, plan_question, together
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Not, Or, Predicate
from discreet.query.price import Price
from discreet.query.question import Query

__all__ = ["Union", "UnionPart", "UnionPlan", "plan_union"]

_MOST = 64
_SCALARS = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True)
class UnionPart:
    """One question of a union, and columns that are the same in all its rows."""

    query: Query
    constants: tuple[tuple[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"query": self.query.to_dict()} | ({"constants": dict(self.constants)} if self.constants else {})


@dataclass(frozen=True, slots=True)
class Union:
    """Questions whose tables stand one below the other; a key or an output that a part does not have is missing."""

    parts: tuple[UnionPart, ...]

    condition: ClassVar[None] = None

    @property
    def keys(self) -> tuple[Any, ...]:
        """The keys of all parts."""
        return tuple(dict.fromkeys(key for part in self.parts for key in part.query.keys))

    @property
    def outputs(self) -> tuple[Any, ...]:
        """What is computed, of every part."""
        return tuple(output for part in self.parts for output in part.query.outputs)

    @property
    def ordered(self) -> tuple[Any, ...]:
        """Quantiles that are asked for, of every part."""
        return tuple(output for part in self.parts for output in part.query.ordered)

    @property
    def names(self) -> list[str]:
        """What is computed, by name."""
        return list(dict.fromkeys(name for part in self.parts for name in part.query.names))

    @property
    def titles(self) -> list[str]:
        """The key columns of the table, in order."""
        named = [name for part in self.parts for name, _ in part.constants]
        return list(dict.fromkeys([*named, *(key.title for key in self.keys)]))

    def where(self, condition: Any) -> Union:
        """Keep the rows for which the condition is true, in every part."""
        return Union(tuple(replace(part, query=part.query.where(condition)) for part in self.parts))

    def limits(self, groups: int | None = None, rows: int | None = None, rows_total: int | None = None) -> Union:
        """How much of each person counts in each part: see `Query.limits`."""
        return Union(tuple(replace(part, query=part.query.limits(groups, rows, rows_total)) for part in self.parts))

    def checked(self, schema: Schema) -> Union:
        """The same, read against a schema. Every error comes from here, before anything is spent."""
        if not 1 <= len(self.parts) <= _MOST:
            raise InputError("union", Phrase(f"{len(self.parts)} questions"), f"made of 1 to {_MOST} questions")
        parts = []
        for part in self.parts:
            query = part.query.checked(schema)
            if query.discovered:
                hint = "Declare its values, or ask for each level in a question of its own."
                raise InputError("union", query.discovered[0].column, "grouped by declared values", hint)
            if strange := [name for name, value in part.constants if not isinstance(value, _SCALARS)]:
                raise InputError("union", strange[0], "constants that are numbers or texts")
            parts.append(replace(part, query=query))
        made = Union(tuple(parts))
        taken = {end for name in made.names for end in (name, f"{name}_lower", f"{name}_upper")}
        if clash := taken & set(made.titles):
            raise InputError("union", min(clash), "keys with other names than the outputs")
        return made

    @property
    def discovered(self) -> tuple[()]:
        """The keys whose values are found in the data: none."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"union": [part.to_dict() for part in self.parts]}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any], schema: Schema) -> Union:
        """From plain values, checked against the schema."""
        listed = entry.get("union")
        if set(entry) != {"union"} or not isinstance(listed, list) or not 1 <= len(listed) <= _MOST:
            raise InputError("query", entry, "{'union': [{'query': ..., 'constants': {...}}, ...]}")
        parts = []
        for each in listed:
            named = each.get("constants", {}) if isinstance(each, Mapping) else None
            if not isinstance(named, Mapping) or set(each) - {"query", "constants"}:
                raise InputError("union", each, "{'query': ..., 'constants': {...}}")
            if not isinstance(each.get("query"), Mapping):
                raise InputError("union", each, "an object with a query")
            parts.append(UnionPart(Query.from_dict(each["query"], schema), tuple(named.items())))
        return cls(tuple(parts)).checked(schema)

    def disjoint(self, schema: Schema) -> bool:
        """Whether a unit is in one part at most, whatever the data: it is one row, and conditions exclude each other.

        Guarantee: follows from the question and the schema alone. Proof: docs/proofs/query.md, "Several questions as
        one table".
        """
        if schema.unit.column is not None or schema.unit.promised:  # its rows may be in several parts
            return False
        conditions = [part.query.condition for part in self.parts]
        return all(_exclude(a, b, schema) for a, b in itertools.combinations(conditions, 2))


_OPEN = frozenset({True, False, None})
"""What a condition may be of which nothing is known: each by itself."""


def _exclude(a: Predicate | None, b: Predicate | None, schema: Schema) -> bool:
    """Whether no row can meet both: by one column whose every value, missing or not, is ruled out by one of them.

    Only of categories and truth values, which conditions see as one of the declared values or as missing: others are
    compared as they are stored, within their bounds or not.
    """
    if a is None or b is None:
        return False
    for name, column in schema.columns.items():
        if isinstance(column, Category | Boolean):
            values = column.values if isinstance(column, Category) else (False, True)
            labels = (*values, None)  # a column declared complete may be missing all the same
            if all(any(True not in _truths(each, name, label) for each in (a, b)) for label in labels):
                return True
    return False


def _truths(condition: Predicate, column: str, label: Any) -> frozenset[bool | None]:
    """What a condition may be where a column has this value; None if it is missing. All else is left open."""
    match condition:
        case Compare(name, "==" | "!=" as operator, value) if name == column:
            return frozenset({None if label is None else (label == value) == (operator == "==")})
        case IsIn(name, values) if name == column:
            return frozenset({None if label is None else label in values})
        case IsMissing(name) if name == column:
            return frozenset({label is None})
        case Not(part):
            return frozenset(None if truth is None else not truth for truth in _truths(part, column, label))
        case And(parts) | Or(parts):
            found = [_truths(part, column, label) for part in parts]
            last = isinstance(condition, Or)  # the truth value that decides alone
            decided = {last} if any(last in truths for truths in found) else set()
            undecided = all(truths - {last} for truths in found)  # no part need decide
            unknown = {None} if undecided and any(None in truths for truths in found) else set()
            rest = {not last} if all((not last) in truths for truths in found) else set()
            return frozenset(decided | unknown | rest)
        case _:
            return _OPEN


@dataclass(frozen=True, slots=True)
class UnionPlan(PlanOfParts):
    """Plans that are charged and run together and published as one table, one below the other."""

    kind: ClassVar[str] = "question"
    version: ClassVar[int] = 1
    question: Union
    parts: tuple[GroupedPlan, ...]
    disjoint: bool = False
    """Whether a unit is in one part at most."""

    @property
    def groups(self) -> int:
        """How many rows will be published."""
        return sum(part.groups for part in self.parts)

    @property
    def cost(self) -> Loss:
        """The composition of all parts; where a unit is in one at most, the largest, or the two largest if replaced."""
        losses = [part.cost for part in self.parts]
        if not self.disjoint:
            return compose(losses)
        if self.schema.unit.neighbours is Neighbours.ADD_REMOVE or len(losses) == 1:
            return parallel(losses)
        return parallel([compose(pair) for pair in itertools.combinations(losses, 2)])

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        return [name for part in self.parts for name in part.columns]

    def explained(self) -> Explanation:
        """What there is to know before it is paid: the parts, under one price."""
        share = "the whole price: no unit is in two of them" if self.disjoint else "an equal share of the price"
        return Explanation(
            title=f"Plan for {self.dataset!r}",
            unit=str(self.unit),
            shape=(f"Releases {self.groups:,} rows of {len(self.parts)} questions, each with {share}.",),
            parts=tuple((self._named(place), part.explained()) for place, part in enumerate(self.parts)),
            confidence=self.confidence,
        )

    def _named(self, place: int) -> str:
        part = self.question.parts[place]
        words = [str(value) for _, value in part.constants if isinstance(value, str)]
        return f"{place + 1}: {', '.join([*words, *(key.title for key in part.query.keys)]) or 'all'}"

    def expected(self) -> list[Accuracy]:
        """The error of every output: of the part where it is largest, which is the first of equal ones."""
        found: dict[str, Accuracy] = {}
        for accuracy in (each for part in self.parts for each in part.expected()):
            known = found.get(accuracy.output)
            if known is None or (accuracy.half_width or 0) > (known.half_width or 0):
                found[accuracy.output] = accuracy
        return list(found.values())

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Each part in turn, with noise of its own. Called by the one door only."""
        return {"parts": [part.draw(data, bits) for part in self.parts]}

    def publish(self, measured: Mapping[str, Any], *, confidence: float | None = None) -> dict[str, Any]:
        """The tables of all parts, one below the other."""
        drawn = zip(self.parts, measured["parts"], strict=True)
        tables = [part.publish(one, confidence=confidence) for part, one in drawn]
        outputs = self.question.names
        columns: dict[str, list[Any]] = {name: [] for name in self.question.titles}
        columns |= {output + end: [] for output in outputs for end in ("", "_lower", "_upper")}
        absent: dict[str, list[int]] = {}
        for part, plan, table in zip(self.question.parts, self.parts, tables, strict=True):
            constants = dict(part.constants)
            for name, values in columns.items():
                if name not in table["columns"] and name not in constants and name in {*outputs, *self.question.titles}:
                    absent.setdefault(name, []).extend(range(len(values), len(values) + plan.groups))
                values += table["columns"].get(name) or [constants.get(name)] * plan.groups
        notes = together([note for table in tables for note in table["notes"]])
        keys = self.question.titles
        made = {**tables[0], "columns": columns, "keys": keys, "outputs": outputs, "notes": notes}
        return {**made, "absent": absent} if absent else made


def plan_union(question: Union, schema: Schema, allotment: Allotment, price: Price) -> UnionPlan:
    """Price several questions as one table. Raises before anything is spent."""
    checked = question.checked(schema)
    disjoint = checked.disjoint(schema)
    shares = len(checked.parts)
    if disjoint:
        shares = 1 if schema.unit.neighbours is Neighbours.ADD_REMOVE else min(2, shares)
    each = price if price.way == "within" else price.part(Fraction(1, shares))
    return UnionPlan(
        checked, tuple(plan_question(part.query, schema, allotment, each) for part in checked.parts), disjoint
    )
