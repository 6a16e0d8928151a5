"""SELECT person, COUNT(*) ... GROUP BY person in a subquery: a table of persons, in SQL and in short texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.data.expression import Call, Constant, Expression, Name
from discreet.data.expression.read import Reader
from discreet.data.schema import Schema
from discreet.data.text import read_constant, read_statement
from discreet.errors import InputError
from discreet.query.over import Over
from discreet.query.person_table import Each, PersonTable
from discreet.query.predicate import And, Predicate, condition_of
from discreet.query.sql_hint import only, refuse
from discreet.query.sql_scope import Published, Scope, computes, is_aggregate, reference, unwrapped

if TYPE_CHECKING:
    from discreet.query.sql_relation import Relations

__all__ = ["SHAPE", "PersonStatement", "read_each"]

SHAPE = "COUNT(*), COUNT(column), COUNT(DISTINCT column), SUM, AVG, MIN or MAX of a person's rows"
_NAMED = {"Sum": "sum", "Avg": "mean", "Min": "min", "Max": "max", "LogicalOr": "max", "LogicalAnd": "min"}


def read_each(given: Any) -> Each:
    """What is computed of each person's rows, as people write it: `count(*)`, `least(sum(cost), 500)`, `total("cost")`.

    >>> read_each("least(count(*), 50)").to_dict()
    {'of': 'count', 'upper': '50'}
    """
    from discreet.query.aggregate import Count, Mean, Sum

    match given:
        case Each():
            return given
        case Count():
            return Each("count", given.column)
        case Sum() | Mean() if given.bounds is None:
            return Each("sum" if isinstance(given, Sum) else "mean", given.column)
        case str():
            tree = read_statement(f"SELECT {'count(*)' if given.lower() == 'count' else given}", "per_person", given)
            found = bounded(unwrapped(tree.expressions[0]), _plain) if len(tree.expressions) == 1 else None
            if found is not None:
                return found
    raise InputError("per_person", given, SHAPE, 'Such as per_person(visits="count(*)", paid="sum(cost)").')


def _plain(node: Any, condition: Any, number: bool) -> str:
    read = Reader("per_person").read
    value = read(node) if node is not None else Constant(1)
    return reference(value if condition is None else Call("case", (read(condition), value, Constant(None))))


Column = Callable[[Any, Any, bool], str]
"""What a piece stands for where a condition is met, by its one name; None for a piece is every row."""


def bounded(node: Any, column: Column) -> Each | None:
    """An aggregate of a person's rows, perhaps within LEAST or GREATEST; None if it is none."""
    from sqlglot import exp

    node = unwrapped(node)
    if isinstance(node, exp.Least | exp.Greatest) and len(node.expressions) == 1:
        parts = [unwrapped(node.this), unwrapped(node.expressions[0])]
        limits = [part for part in parts if type(part) in (exp.Literal, exp.Neg)]
        inner = [found for part in parts if part not in limits and (found := bounded(part, column)) is not None]
        if len(limits) == len(inner) == 1 and inner[0].of in ("count", "distinct", "sum"):
            end = "upper" if isinstance(node, exp.Least) else "lower"
            if getattr(inner[0], end) is None:
                return replace(inner[0], **{end: read_constant(limits[0], "sql")})
    return each_of(node, column)


def each_of(node: Any, column: Column) -> Each | None:
    """An aggregate of a person's rows; None if it is none."""
    from sqlglot import exp

    condition = None
    if type(node) is exp.Filter:
        only(node, "this", "expression")
        condition, node = node.expression.this, node.this
    if type(node) is exp.CountIf:
        only(node, "this", "zero_on_all_null")
        both = node.this if condition is None else exp.and_(condition, node.this)
        return Each("count", column(None, both, False))
    if type(node) is exp.Count:
        only(node, "this", "big_int")
        inner = node.this
        if type(inner) is exp.Distinct:
            only(inner, "expressions")
            if len(inner.expressions) != 1:
                raise refuse(node, "COUNT(DISTINCT column) of one column")
            return Each("distinct", column(inner.expressions[0], condition, False))
        if type(inner) in (exp.Star, exp.Literal):
            return Each("count", None if condition is None else column(None, condition, False))
        return Each("count", column(inner, condition, False))
    if (of := _NAMED.get(type(node).__name__)) is None:
        return None
    only(node, "this")
    if type(node.this) is exp.Distinct:
        raise refuse(node, f"{of.upper()} of one column or expression")
    return Each(of, column(node.this, condition, of in ("sum", "mean")))


class PersonStatement:
    """Reads one SELECT whose groups are persons, noting columns of the table of persons as they are met."""

    def __init__(self, schema: Schema, rows: Relations) -> None:
        self.schema = schema
        self.dialect = rows.dialect
        self.reader = rows.reader()
        self.references: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        self.overs: list[Over] = []
        self.keys: list[tuple[str, str]] = []
        self.columns: dict[str, Each] = {}

    def read(
        self, tree: Any, conditions: list[Expression]
    ) -> tuple[PersonTable, dict[str, Expression], list[Expression]]:
        """The table of persons, what the names of the SELECT list are of it, and which of its rows count."""
        from sqlglot import exp

        grouped = tree.args["group"].expressions if tree.args.get("group") else []
        for node in grouped or (tree.expressions if tree.args.get("distinct") else []):
            self.key(_meant(node, tree), tree)
        if grouped and tree.args.get("distinct"):
            plain = {self.text_of(item.unalias()) for item in tree.expressions if not computes(item)}
            if not plain.issuperset(self.references):
                raise refuse(tree, "a subquery with DISTINCT or with GROUP BY: some of its groups are not shown")
        if self.schema.unit.column not in self.references.values():
            who = self.schema.unit.column
            hint = f"Such as GROUP BY {who}." if who else "The unit of this schema is a row: nobody's rows are known."
            raise refuse(tree, f"a subquery grouped by the person{f', {who}' if who else ''}", hint)
        shown: dict[str, Expression] = {}
        for item in tree.expressions:
            label = str(item.alias) if type(item) is exp.Alias else None
            node = item.this if type(item) is exp.Alias else item
            made = _Columns(self, label).read(node)
            name = label or (str(node.name) if type(node) is exp.Column else None)
            if name is None and not isinstance(made, Name):
                raise refuse(item, "a column with a name", "Use AS to name it.")
            shown[name or str(made)] = made
            self.aliases[(name or str(made)).lower()] = made.name if isinstance(made, Name) else ""
        having = tree.args.get("having")
        later = [] if not having else [_Columns(self).read(having.this)]
        where: Predicate | None = None
        if conditions:
            parts = tuple(condition_of(condition) for condition in conditions)
            where = parts[0] if len(parts) == 1 else And(parts)
        return PersonTable(tuple(self.columns.items()), where, tuple(self.keys)), shown, later

    def key(self, node: Any, tree: Any) -> None:
        """The person, or what else of a row tells a person's rows apart."""
        from sqlglot import exp

        text = self.text_of(node)
        if text == self.schema.unit.column:
            self.references[text] = text
        elif text not in self.references:
            labels = [item.alias for item in tree.expressions if type(item) is exp.Alias and item.this == node]
            name = text if text in self.schema.columns else str(labels[0]) if labels else f"key_{len(self.keys) + 1}"
            self.references[text] = name
            self.keys.append((name, text))

    def text_of(self, node: Any) -> str:
        """One text for all ways to write the same piece."""
        return self.schema.canonical(reference(self.reader.read(unwrapped(node))), "sql")

    def aggregates(self, node: Any) -> bool:
        """Whether there is an aggregate in a piece."""
        return computes(node)

    def output(self, node: Any, label: str | None) -> str:
        """The column of an aggregate, noted if it is new."""
        each = bounded(node, self.column)
        if each is None:
            raise refuse(node, SHAPE)
        for name, known in self.columns.items():
            if known == each:
                return name
        name = label if label and label.isidentifier() else each.of
        taken = {*self.columns, *self.references.values(), *self.schema.columns}
        while name in taken:
            name += "_"
        self.columns[name] = each
        return name

    def published(self, node: Any, label: str | None = None) -> str:
        """There are no windows over rows."""
        raise refuse(node, SHAPE)

    def grouping(self, node: Any) -> str:
        """There are no levels of groups here."""
        raise refuse(node, SHAPE)

    def total(self, node: Any) -> Expression:
        """There are no totals of released rows here."""
        raise refuse(node, SHAPE)

    def is_tied(self, name: str) -> bool:
        """Nothing is released here."""
        return False

    def column(self, node: Any, condition: Any, number: bool) -> str:
        """What a piece stands for where a condition is met."""
        scope = Scope(self.schema, self.reader, None if condition is None else self.reader.read(condition))
        if node is None:
            return self.schema.canonical(reference(scope.filtered(Constant(1))), "sql")
        return scope.column(node, number=number)


class _Columns(Published):
    """Reads pieces over columns of persons; LEAST(COUNT(*), 50) is a count with a limit of its own."""

    def read(self, node: Any) -> Expression:
        from sqlglot import exp

        inner = unwrapped(node)
        if isinstance(inner, exp.Window):
            raise refuse(node, SHAPE, "There are no windows over rows.")
        if isinstance(inner, exp.Least | exp.Greatest) and any(is_aggregate(part) for part in inner.walk()):
            statement: Any = self.statement
            if bounded(inner, statement.column) is not None:
                return Name(statement.output(inner, self.label if self.depth == 0 else None))
        return super().read(node)


def _meant(node: Any, tree: Any) -> Any:
    """What a number or an alias of the SELECT list stands for."""
    from sqlglot import exp

    node, items = unwrapped(node), tree.expressions
    if type(node) is exp.Alias:
        return node.this
    if type(node) is exp.Literal and not node.is_string and str(node.this).isdigit():
        place = int(str(node.this))
        if not 1 <= place <= len(items):
            raise refuse(node, f"GROUP BY with the number of a column from 1 to {len(items)}")
        item = items[place - 1]
        return item.this if type(item) is exp.Alias else item
    for item in items:
        if type(node) is exp.Column and type(item) is exp.Alias and item.alias.lower() == node.name.lower():
            return item.this
    return node
