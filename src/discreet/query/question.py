"""A question: a frozen description with no data in it, to and from JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import isfunction
from typing import Any, NoReturn, TypeVar

from discreet.data.expression import Expression
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase, kind_of
from discreet.query.aggregate import Aggregate, aggregate_from, aggregate_to, count, settled
from discreet.query.combination import (
    Combinations,
    checked_combinations,
    combination_numbers,
    read_combinations,
)
from discreet.query.function import listed_functions
from discreet.query.key import MOST_GROUPS, Key, bins, key, published
from discreet.query.limits import PersonLimits
from discreet.query.modes import Mode
from discreet.query.parse import parse_condition
from discreet.query.person_table import Each, PersonTable, checked_keys
from discreet.query.predicate import And, Predicate, checked, condition_of, predicate_from, predicate_to
from discreet.query.pruning import pruned
from discreet.query.quantile import Ordered, check_ordered, ordered_to

__all__ = ["Query", "output_from", "refuse_nameless", "refuse_reading"]

_ENTRIES = ("per_person", "where", "group_by", "outputs", "limits", "listing", "groups")
_KEYS = "column names, bins(...), key(...) or discover(...)"


def refuse_nameless(outputs: tuple[object, ...]) -> None:
    """An output without a name would be a column without one."""
    if outputs:
        raise InputError("agg", outputs[0], "given named outputs", "Write agg(rows=count()): the name is the column's.")


def _refuse_strange(output: object) -> None:
    if not isinstance(output, Aggregate):
        *most, last = [function.call for function in listed_functions().values()]
        several = isinstance(output, Mapping)
        hint = "Several outputs are given by their names: agg(**mean(['x', 'y'], norm=5))." if several else ""
        given = Phrase("several outputs under one name") if several else output
        if isfunction(output):
            given, hint = Phrase(f"the function {output.__name__}"), f"Call it: {output.__name__}(...)."
        raise InputError("outputs", given, f"{', '.join(most)} or {last}", hint)


def refuse_reading(how: str) -> NoReturn:
    """A question has no rows yet: it is a description."""
    hint = "Plan and release it first: question.plan(epsilon=0.5).release() has rows(), to_pandas() and more."
    raise InputError.refused("question", Phrase(f"cannot be {how}:"), "it has no rows yet", hint)


_Output = TypeVar("_Output")


def _canonical(output: _Output, schema: Schema) -> _Output:
    """The same output, its column under the one name it has."""
    if isinstance(output, Aggregate):
        return output.canonical(schema)
    column = getattr(output, "column", None)
    if column is None or (isinstance(column, str) and column in schema.columns):
        return output
    named: Any = output
    return replace(named, column=schema.canonical(column, "mode" if isinstance(output, Mode) else "quantile"))  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Query:
    """Rows of one table that meet a condition, grouped by public keys, and what is computed of each group.

    >>> from discreet.data.column import Integer, Category
    >>> schema = Schema("people", {"age": Integer(0, 120), "sex": Category(["f", "m"])})
    >>> query = Query().where("age >= 18").group_by("sex").agg(adults=count())
    >>> Query.from_json(query.to_json(), schema) == query.checked(schema)
    True
    """

    condition: Predicate | None = None
    keys: tuple[Key, ...] = ()
    outputs: tuple[tuple[str, Aggregate], ...] = ()
    ordered: tuple[tuple[str, Ordered], ...] = ()
    asked: tuple[str, ...] = ()
    """Names of outputs, of either kind, in the order they were asked for: see `names`."""
    person_limits: PersonLimits | None = None
    """How much of each person counts, where the schema's limits are not to be in force."""
    persons: PersonTable | None = None
    """What the table is computed of, where the question is about one of persons."""
    listing: bool = False
    """Whether the groups themselves are asked for, and nothing about them."""
    combinations: Combinations | None = None
    """The only combinations of the keys' values that are groups, in the order of publication."""

    def where(self, condition: str | Predicate | Expression) -> Query:
        """Keep the rows for which the condition is true; a second condition narrows the first."""
        read = parse_condition(condition) if isinstance(condition, str) else condition
        if isinstance(read, Expression):
            read = condition_of(read)
        if self.condition is None:
            return replace(self, condition=read)
        first = self.condition.parts if isinstance(self.condition, And) else (self.condition,)
        return replace(self, condition=And((*first, read)))

    def group_by(self, *keys: str | Key | Expression) -> Query:
        """Answer for every group: declared values, an expression's, `bins(...)`, `key(...)`, or `discover(column)`."""
        if strange := [k for k in keys if not isinstance(k, (str, Key, Expression))]:
            several = isinstance(strange[0], (list, tuple))
            hint = "Several keys are given one after the other: group_by('sex', 'county')." if several else ""
            raise InputError("group_by", kind_of(strange[0]), _KEYS, hint)
        return replace(self, keys=self.keys + tuple(k if isinstance(k, Key) else key(k) for k in keys))

    def only_groups(self, combinations: Sequence[Sequence[Any]]) -> Query:
        """Have no other groups than these combinations of the keys' values, in this order; other rows are left out.

        `group_by("county", "sex").only_groups([("Ash", "female"), ("Oak", "male")])`.
        """
        return replace(self, combinations=read_combinations(combinations))

    def list_groups(self) -> Query:
        """Ask which groups there are, and nothing else: of keys that nobody declared, those that enough units share."""
        return replace(self, listing=True)

    def per_person(self, **columns: str | Aggregate | Each) -> Query:
        """Ask about a table with a row for each person: `per_person(visits="count(*)", paid="sum(cost)")`.

        What was asked so far decides the rows it is computed of: the condition, and keys, with which each person has a
        row for every combination. What follows is about the new columns.
        """
        from discreet.query.sql_person import read_each

        if self.persons is not None or self.outputs or self.ordered or self.combinations is not None:
            raise InputError("per_person", Phrase("after outputs"), "called before outputs and groups, once")
        if strange := [k for k in self.keys if k.discovered or k.values is not None or k.edges is not None]:
            raise InputError("per_person", strange[0].column, "grouped by columns as they are")
        keys = tuple((k.title, k.column) for k in self.keys)
        made = tuple((name, read_each(each)) for name, each in columns.items())
        return Query(person_limits=self.person_limits, persons=PersonTable(made, self.condition, keys))

    def agg(self, /, *nameless: Aggregate | Ordered, **outputs: Aggregate | Ordered) -> Query:
        """Name what is computed: `agg(visits=count(), cost=mean("cost"), typical=median("cost"))`."""
        refuse_nameless(nameless)
        return self._computing(outputs)

    def limits(self, groups: int | None = None, rows: int | None = None, rows_total: int | None = None) -> Query:
        """How much of each person counts in this question, instead of what the schema states: in at most `groups`
        groups, as at most `rows` rows in each, and with at most `rows_total` rows over all groups, drawn at random.
        Who is protected stays the same; price and error follow."""
        return self._limited(PersonLimits(groups, rows, rows_total))

    def _limited(self, limits: PersonLimits | None) -> Query:
        if limits is None or self.person_limits is None:
            return replace(self, person_limits=limits or self.person_limits)
        return replace(self, person_limits=self.person_limits.merged(limits))

    def limited(self, schema: Schema) -> Schema:
        """The schema as this question is planned and counted with: its own limits in force, if it has any; that of a
        table of persons, if it asks about one."""
        if schema.persons is not None:
            return schema
        rows = schema if self.person_limits is None else self.person_limits.applied(schema)
        return rows if self.persons is None else self.persons.schema(rows, checked_keys(self.keys))

    def __iter__(self) -> NoReturn:
        refuse_reading("iterated over")

    def __getitem__(self, index: object) -> NoReturn:
        refuse_reading("indexed")

    def _computing(self, outputs: Mapping[str, Aggregate | Ordered]) -> Query:
        sums = tuple((name, output) for name, output in outputs.items() if not isinstance(output, Ordered))
        ordered = tuple((name, output) for name, output in outputs.items() if isinstance(output, Ordered))
        asked = self.asked + tuple(outputs)
        return replace(self, outputs=self.outputs + sums, ordered=self.ordered + ordered, asked=asked)

    def histogram(
        self, column: str, edges: Any = None, *, by: str | Key | Expression | None = None, **how: Any
    ) -> Query:
        """How many rows in each bin of a column (or at each of its declared values).

        With `by`, a second column or `bins(...)` of it: how many in each bin of both.
        """
        binned = key(column) if edges is None and not how else bins(column, edges, **how)
        return self.group_by(binned, *([] if by is None else [by])).agg(count=count())

    def _refuse_strange(self) -> None:
        """Refuse keys and outputs that are none."""
        if strange := [k for k in self.keys if not isinstance(k, Key)]:
            raise InputError("group_by", strange[0], _KEYS)
        for _, output in self.outputs:
            _refuse_strange(output)

    def _check_listing(self) -> None:
        """Refuse a list of groups where there are outputs, or where the list is public as it is."""
        if self.outputs or self.ordered:
            raise InputError("outputs", self.names[0], "left out where groups alone are asked for")
        if not self.discovered:
            named = ", ".join(k.title for k in self.keys if isinstance(k, Key)) or "keys"
            hint = "Ask how many rows each has: COUNT(*) in SQL, agg(n=count()) in Python."
            allowed = "grouped by values that nobody declared: declared ones are public, and cost nothing to know"
            raise InputError("group_by", Phrase(named), allowed, hint)

    def checked(self, schema: Schema, most: int = MOST_GROUPS) -> Query:
        """The same question, read against a schema. Every error comes from here, before anything is spent.

        `most` is how many groups it may have.
        """
        if not self.outputs and not self.ordered and not self.listing:
            raise InputError("outputs", Phrase("none"), "at least one output, such as agg(rows=count())")
        if self.listing:
            self._check_listing()
        self._refuse_strange()
        schema, persons = self.limited(schema), self.persons
        if schema.persons is not None and self.searched:
            hint = "State them: LEAST(SUM(column), 1000) in SQL, or upper= in Python."
            raise InputError("bounds", "private", "known beforehand in a table of persons", hint)
        if schema.persons is not None and persons is not None:
            persons = schema.persons.table
        keys = tuple(k.checked(schema) for k in self.keys)
        names = [k.title for k in keys]
        for name, _ in (*self.outputs, *self.ordered):
            if not isinstance(name, str) or not name.isidentifier():
                raise InputError("outputs", name, "a plain name (letters, digits, _)")
            names += [name, f"{name}_lower", f"{name}_upper"]
        for column in self.searched:
            names += [f"{column}_{bound}{end}" for bound in ("low", "high") for end in ("", "_lower", "_upper")]
        for name, times in Counter(names).items():
            if times > 1:
                allowed = "names that differ from each other, from their _lower and _upper, and from the keys"
                if self.searched:
                    allowed += "; and from the bounds that are found, COLUMN_low and COLUMN_high"
                raise InputError("outputs", name, allowed)
        outputs = tuple((name, _canonical(output, schema)) for name, output in self.outputs)
        by_order = tuple((name, _canonical(output, schema)) for name, output in self.ordered)
        for _, aggregate in outputs:
            settled(aggregate, None).measures(schema)
        for _, ordered in by_order:
            check_ordered(ordered, schema)
        condition = None if self.condition is None else checked(self.condition, schema)
        combinations = None if self.combinations is None else self._check_combinations(keys, schema)
        if combinations is None:
            keys = tuple(pruned(k, condition, schema) for k in keys)
        query = Query(
            condition, keys, outputs, by_order, self.names, self.person_limits, persons, self.listing, combinations
        )
        if (many := query.listed_groups(schema)) > most:
            raise InputError("group_by", Phrase(f"{many:,} groups"), f"such that there are at most {most:,} groups")
        return query

    def _check_combinations(self, keys: tuple[Key, ...], schema: Schema) -> Combinations:
        if self.searched:
            hint = "State the bounds, or list the values of each key: key(column, values)."
            raise InputError("groups", Phrase("combinations"), "left out where bounds are private", hint)
        return checked_combinations(self.combinations or (), keys, schema)

    @property
    def names(self) -> tuple[str, ...]:
        """The outputs in the order of publication, which is that of asking. No digest depends on it."""
        known = [name for name, _ in (*self.outputs, *self.ordered)]
        return tuple(dict.fromkeys([*(name for name in self.asked if name in known), *known]))

    @property
    def searched(self) -> tuple[str, ...]:
        """The columns whose bounds are private, to be searched for."""
        found = [getattr(output, "column", "") for _, output in self.outputs if getattr(output, "private", False)]
        return tuple(dict.fromkeys(found))

    @property
    def listed(self) -> tuple[Key, ...]:
        """The keys whose values are public."""
        return tuple(k for k in self.keys if not k.discovered)

    @property
    def discovered(self) -> tuple[Key, ...]:
        """The keys whose values are found in the data."""
        return tuple(k for k in self.keys if k.discovered)

    def groups(self, schema: Schema) -> int:
        """How many groups will be published: known before anything is read, unless keys are discovered."""
        if self.discovered:
            allowed = "listed: only a plan of its own, with a delta, can discover keys"
            raise InputError("group_by", self.discovered[0].column, allowed)
        return self.listed_groups(schema)

    def listed_groups(self, schema: Schema) -> int:
        """How many groups the public keys make."""
        if self.combinations is not None:
            return len(self.combinations)
        total, schema = 1, self.limited(schema)
        for k in self.listed:
            total *= len(k.labels(schema))
        return total

    def numbers(self, schema: Schema) -> list[int] | None:
        """The places of the combinations that are groups among all that the keys make; None if all are."""
        return None if self.combinations is None else combination_numbers(self.combinations, self.keys, schema)

    def key_columns(self, schema: Schema) -> dict[str, list[Any]]:
        """The groups in the order of publication, which is that of the keys' labels: the last key moves fastest."""
        columns: dict[str, list[Any]] = {}
        if self.combinations is not None:
            return {k.title: [each[place] for each in self.combinations] for place, k in enumerate(self.keys)}
        schema = self.limited(schema)
        groups = repeat = self.groups(schema)
        for k in self.listed:
            labels = [published(label) for label in k.labels(schema)]
            repeat //= len(labels)
            once = [label for label in labels for _ in range(repeat)]
            columns[k.title] = once * (groups // len(once))
        return columns

    def to_dict(self) -> dict[str, Any]:
        """The question as plain values."""
        self._refuse_strange()  # a question may be written down before any schema is read against it
        outputs = {name: aggregate_to(aggregate) for name, aggregate in self.outputs}
        outputs |= {name: ordered_to(ordered) for name, ordered in self.ordered}
        limits = {} if self.person_limits is None else {"limits": self.person_limits.to_dict()}
        persons = {} if self.persons is None else {"per_person": self.persons.to_dict()}
        return {
            **persons,
            "where": None if self.condition is None else predicate_to(self.condition),
            "group_by": [k.to_dict() for k in self.keys],
            "outputs": {name: outputs[name] for name in self.names},
            **limits,
            **({"listing": True} if self.listing else {}),
            **({} if self.combinations is None else {"groups": [list(each) for each in self.combinations]}),
        }

    def to_json(self) -> str:
        """The question as JSON text."""
        return json.dumps(self.to_dict(), sort_keys=False)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any], schema: Schema) -> Query:
        """A question from its JSON values, checked against the schema."""
        unknown = set(entry) - set(_ENTRIES)
        if unknown:
            raise InputError.unknown(f"query.{min(unknown)}", _ENTRIES)
        where, keyed, named = entry.get("where"), entry.get("group_by") or [], entry.get("outputs") or {}
        if not isinstance(keyed, list):
            raise InputError("group_by", keyed, "a list of keys")
        if not isinstance(named, Mapping):
            raise InputError("outputs", named, "an object: {name: {'of': ...}}")
        condition = None
        if where is not None:
            condition = parse_condition(where) if isinstance(where, str) else predicate_from(where)
        persons = None if "per_person" not in entry else PersonTable.from_dict(entry["per_person"])
        limits = None if entry.get("limits") is None else PersonLimits.from_dict(entry["limits"])
        about = cls(person_limits=limits, persons=persons).limited(schema)
        keys = tuple(key(k) if isinstance(k, str) else Key.from_dict(k, about) for k in keyed)
        outputs = {name: output_from(value) for name, value in named.items()}
        listing = entry.get("listing", False)
        if not isinstance(listing, bool):
            raise InputError("listing", listing, "true or false")
        combinations = None if entry.get("groups") is None else read_combinations(entry["groups"])
        return (
            cls(condition, keys, person_limits=limits, persons=persons, listing=listing, combinations=combinations)
            ._computing(outputs)
            .checked(schema)
        )

    @classmethod
    def from_json(cls, text: str, schema: Schema) -> Query:
        """A question from the text that `to_json` makes."""
        try:
            entry = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError("query", text, "valid JSON") from None
        if not isinstance(entry, dict):
            raise InputError("query", text, "a JSON object")
        return cls.from_dict(entry, schema)


def output_from(entry: Any) -> Aggregate | Ordered:
    """What is computed, from its JSON values."""
    output: Aggregate | Ordered = aggregate_from(entry)
    return output
