"""The same questions in SQL. Text is parsed and read through an allow-list into a `Query`; it never reaches an engine.

Every node and every argument that is not understood is refused, with the piece of text it stands for. What is allowed:

    [WITH name AS (SELECT * FROM table WHERE ...)]
    SELECT keys and aggregates FROM the table [[LEFT] JOIN a public table USING (its key)]
    [WHERE condition] [GROUP BY columns, BIN(column, width), DATE_TRUNC('month', column)]
    [HAVING aggregate > number] [ORDER BY ...] [LIMIT n]

HAVING, ORDER BY and LIMIT work on the released table: they cost nothing and see only published numbers. The values of a
text column in GROUP BY are discovered, which takes a delta.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.data.column import Category, Date, Text
from discreet.data.schema import Schema
from discreet.data.text import read_column, read_constant, read_statement
from discreet.errors import InputError
from discreet.query.aggregate import Aggregate
from discreet.query.function import kinds
from discreet.query.key import Key, bins, discover, key
from discreet.query.parse import read_condition
from discreet.query.predicate import IsIn, Predicate
from discreet.query.presentation import Having, Order, Presentation
from discreet.query.quantile import Ordered
from discreet.query.question import Query
from discreet.query.sql_hint import SHAPE, instead, only, refuse, shown_aggregates

__all__ = ["Statement", "parse_sql"]

_OPERATORS = {"EQ": "==", "NEQ": "!=", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as what is asked of the data, and what is done with the released table."""

    query: Query
    presentation: Presentation


def parse_sql(text: str, schema: Schema) -> Statement:
    """Read one SELECT statement about the table of `schema`; refuses everything it does not fully understand."""
    return _Reader(schema).statement(read_statement(text))


def _exp() -> Any:
    from sqlglot import exp

    return exp


def _where(tree: Any) -> list[Predicate]:
    where = tree.args.get("where")
    return [read_condition(where.this)] if where else []


def _table_name(table: Any, allowed: str) -> str:
    """A plain name: no schema, alias, function or sample."""
    exp = _exp()
    if type(table) is not exp.Table or type(table.this) is not exp.Identifier:
        hint = "Put the condition into WHERE, or name the rows: WITH some AS (SELECT * FROM table WHERE ...)."
        raise refuse(table, f"the name of a table: {allowed}", hint if type(table) is exp.Subquery else "")
    only(table, "this")
    return str(table.name)


def _numbered(node: Any, tree: Any, clause: str) -> str:
    """What to write instead of the number of a column; nothing if there is no number."""
    exp = _exp()
    if type(node) is not exp.Literal or node.is_string:
        return ""
    place, items = str(node.this), tree.expressions
    if not place.isdigit() or not 1 <= int(place) <= len(items):
        return "Name the column instead of its number."
    item = items[int(place) - 1]
    named = item.alias if type(item) is exp.Alias and clause == "ORDER BY" else item.unalias().sql("duckdb")
    return f"Name the column instead of its number: {clause} {named}."


class _Reader:
    """Reads one statement, noting outputs as they are met."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.keys: list[tuple[Any, Key]] = []
        self.outputs: dict[str, Aggregate | Ordered] = {}
        self.shown: list[tuple[str, str]] = []
        self.rows: dict[str, list[Predicate]] = {schema.name: []}

    def statement(self, tree: Any) -> Statement:
        exp = _exp()
        if type(tree) is not exp.Select:
            raise refuse(tree, SHAPE)
        only(tree, "expressions", "from", "joins", "where", "group", "having", "order", "limit", "with")
        self.views(tree)
        query = Query()
        for condition in [*self.table(tree), *self.joins(tree), *_where(tree)]:
            query = query.where(condition)
        if group := tree.args.get("group"):
            only(group, "expressions")
            self.keys = [(node, self.key(node, tree)) for node in group.expressions]
        for node in tree.expressions:
            self.item(node)
        labels = [label for _, label in self.shown]
        if repeated := [label for label in labels if labels.count(label) > 1]:
            raise InputError("sql", repeated[0], "a SELECT list of different names", "Use AS to name them.")
        if not self.outputs:
            raise refuse(tree, f"at least one aggregate: {shown_aggregates()}", "Such as COUNT(*).")
        presentation = Presentation(tuple(self.shown), self.having(tree), self.order(tree), self.limit(tree))
        whole = query.group_by(*(k for _, k in self.keys)).agg(**self.outputs)
        return Statement(whole.checked(self.schema), presentation)

    def views(self, tree: Any) -> None:
        """WITH name AS (SELECT * FROM table WHERE ...): a name for some of the rows."""
        exp = _exp()
        views = tree.args.get("with") or tree.args.get("with_")
        if not views:
            return
        only(views, "expressions")
        for view in views.expressions:
            only(view, "this", "alias")
            only(view.args["alias"], "this")
            inner = view.this
            if type(inner) is not exp.Select or [type(node) for node in inner.expressions] != [exp.Star]:
                raise refuse(inner, "SELECT * FROM table WHERE condition inside a WITH")
            only(inner.expressions[0])
            only(inner, "expressions", "from", "where")
            if view.alias in (self.schema.name, *self.rows, *self.schema.lookups):
                raise refuse(view, "a name that is not taken")
            self.rows[view.alias] = [*self.table(inner), *_where(inner)]

    def table(self, tree: Any) -> list[Predicate]:
        """The conditions that the rows named in FROM meet."""
        source = tree.args.get("from") or tree.args.get("from_")
        if source is None:
            raise refuse(tree, f"a statement with FROM {self.schema.name}")
        only(source, "this")
        name = _table_name(source.this, self.schema.name)
        if name not in self.rows:
            hint = "Upper and lower case matter." if name.lower() in map(str.lower, self.rows) else ""
            raise refuse(source.this, "a table", hint, among=self.rows)
        return self.rows[name]

    def joins(self, tree: Any) -> list[Predicate]:
        """[LEFT] JOIN of a declared public table USING (its key). Its columns are there already; an inner join also
        drops the rows whose key is not listed."""
        found: list[Predicate] = []
        for join in tree.args.get("joins") or ():
            only(join, "this", "using", "side", "kind")
            name = _table_name(join.this, "a public table")
            lookup = self.schema.lookups.get(name)
            keys = [part.name for part in join.args.get("using") or ()]
            side, kind = (str(join.args.get(part) or "").upper() for part in ("side", "kind"))
            if lookup is None or keys != [lookup.key] or (side, kind) not in (("LEFT", ""), ("", ""), ("", "INNER")):
                shapes = [f"JOIN {n} USING ({table.key})" for n, table in self.schema.lookups.items()]
                raise refuse(join, "a declared public table: " + (", ".join(shapes) or "none is declared in [lookups]"))
            if side != "LEFT":
                column = self.schema.columns[lookup.key]
                if not isinstance(column, Category):
                    raise refuse(join, "a LEFT JOIN, since the key is no category")
                listed = tuple(value for value in lookup.table[lookup.key] if value in column.values)
                found.append(IsIn(lookup.key, listed))
        return found

    def key(self, node: Any, tree: Any) -> Key:
        """A column, BIN(column, width) or DATE_TRUNC('month', column) to group by."""
        exp = _exp()
        listed = {item.alias: item.this for item in tree.expressions if type(item) is exp.Alias}
        if type(node) is exp.Column and node.name in listed and node.name not in self.schema.columns:
            hint = f"Name what it stands for: GROUP BY {listed[node.name].sql('duckdb')}."
            raise refuse(node, "a column, not a name given in the SELECT list", hint)
        if type(node) is exp.Column:
            name = read_column(node, "sql")
            free = isinstance(self.schema.columns.get(name), Text)  # nobody declared what it holds
            return discover(name) if free else key(name)
        if type(node) is exp.Anonymous and str(node.this).upper() == "BIN" and len(node.expressions) == 2:
            only(node, "this", "expressions")
            column, width = node.expressions
            return bins(read_column(column, "sql"), width=read_constant(width, "sql"))
        if type(node) in (exp.TimestampTrunc, exp.DateTrunc):
            only(node, "this", "unit")
            unit = node.args["unit"]
            return bins(read_column(node.this, "sql"), every=str(unit.this).lower())
        hint = _numbered(node, tree, "GROUP BY") or instead(node)
        raise refuse(node, "a column, BIN(column, width) or DATE_TRUNC('month', column) to group by", hint)

    def item(self, node: Any) -> None:
        """One item of the SELECT list: a key or an aggregate."""
        exp = _exp()
        label = None
        if type(node) is exp.Alias:
            only(node, "this", "alias")
            node, label = node.this, node.alias
        for written, k in self.keys:
            if written == node:
                self.shown.append((k.column, label or k.column))
                return
        if type(node) is exp.Column:
            hint = instead(node.this) or f"Such as GROUP BY {node.name}, or COUNT({node.name})."
            raise refuse(node, "in GROUP BY, or inside an aggregate", hint)
        self.shown.append((self.output(node, label), label or self.output(node, label)))

    def output(self, node: Any, label: str | None = None) -> str:
        """The name of an aggregate, noted if it is new."""
        aggregate = self.aggregate(node)
        for name, known in self.outputs.items():
            if known == aggregate:
                return name
        column = getattr(aggregate, "column", None)
        name = label or aggregate.label + (f"_{column}" if column else "")
        if name in self.outputs:
            raise refuse(node, f"named differently: {name!r} is taken", "Use AS.")
        self.outputs[name] = aggregate
        return name

    def aggregate(self, node: Any) -> Aggregate | Ordered:
        """What a piece of the statement computes, read by the class that has a function of this name."""
        exp = _exp()
        for kind in kinds():
            output: Aggregate | Ordered | None = kind.read_sql(node, self.schema.unit.column)
            if output is not None:
                return output
        if type(node) in (exp.Min, exp.Max):
            hint = "Ask for QUANTILE_CONT(column, 0.01) or QUANTILE_CONT(column, 0.99)."
            raise refuse(node, "another aggregate: the smallest and the largest value are one person's", hint)
        raise refuse(node, f"an aggregate: {shown_aggregates()}", instead(node))

    def having(self, tree: Any) -> tuple[Having, ...]:
        having = tree.args.get("having")
        if not having:
            return ()
        exp = _exp()
        tests, waiting = [], [having.this]
        while waiting:
            node = waiting.pop()
            if type(node) is exp.And:
                waiting += [node.right, node.left]
                continue
            operator = _OPERATORS.get(type(node).__name__)
            value: Any = read_constant(node.right, "sql") if operator else ""
            if operator is None or isinstance(value, (str, bool)):
                raise refuse(node, "an aggregate compared with a number, joined with AND")
            name = self.published(node.left, outputs_only=True)
            output = self.outputs[name]
            if isinstance(output, Ordered) and isinstance(self.schema.columns.get(output.column), Date):
                raise refuse(node, "an aggregate that is a number", "Filter released days yourself: it is free.")
            tests.append(Having(name, operator, float(value)))
        return tuple(tests)

    def order(self, tree: Any) -> tuple[Order, ...]:
        order = tree.args.get("order")
        if not order:
            return ()
        only(order, "expressions")
        steps = []
        for node in order.expressions:
            only(node, "this", "desc", "nulls_first")
            if hint := _numbered(node.this, tree, "ORDER BY"):
                raise refuse(node.this, "a column or an aggregate of the SELECT list", hint)
            steps.append(Order(self.published(node.this), bool(node.args.get("desc"))))
        return tuple(steps)

    def limit(self, tree: Any) -> int | None:
        limit = tree.args.get("limit")
        if not limit:
            return None
        only(limit, "expression")
        value = read_constant(limit.expression, "sql")
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise refuse(limit, "LIMIT with a whole number")
        return value

    def published(self, node: Any, *, outputs_only: bool = False) -> str:
        """The released column a name or an aggregate stands for."""
        exp = _exp()
        if type(node) is exp.Column:
            wanted = read_column(node, "sql")
            for name, label in self.shown:
                if wanted in (label, name) and (name in self.outputs or not outputs_only):
                    return name
            raise refuse(node, "a column of the SELECT list", among=[label for _, label in self.shown])
        for written, k in self.keys:
            if written == node and not outputs_only:
                return k.column
        aggregate = self.aggregate(node)
        for name, known in self.outputs.items():
            if known == aggregate:
                return name
        raise refuse(node, "an aggregate of the SELECT list", "Add it there: it has a price.")
