"""The same questions in SQL. Text is parsed and read through an allow-list into a `Query`; it never reaches an engine.

Every node and every argument that is not understood is refused, with the piece of text it stands for. What is allowed:

    [WITH name AS (SELECT columns and expressions FROM table WHERE ...)]
    SELECT keys, aggregates and arithmetic over them
    FROM the table [[LEFT] JOIN a public table ON its key]
    [WHERE condition] [GROUP BY expressions, BIN(column, width)] [HAVING condition] [ORDER BY ...] [LIMIT n]

HAVING, ORDER BY, LIMIT and arithmetic over aggregates work on the released table: they cost nothing and see only
published numbers. The values of a text column in GROUP BY are discovered, which takes a delta.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from discreet.core.exact import Number
from discreet.data.column import Date, Text, Timestamp
from discreet.data.expression import Call, Expression, Name
from discreet.data.expression.domain import value_of
from discreet.data.schema import Schema
from discreet.data.text import check_dialect, read_constant, read_statement
from discreet.errors import InputError
from discreet.query.aggregate import Aggregate
from discreet.query.formula import Formula, Over
from discreet.query.function import kinds
from discreet.query.key import Key, bins, discover, key, published
from discreet.query.predicate import condition_of
from discreet.query.presentation import Order, Presentation
from discreet.query.quantile import Ordered
from discreet.query.question import Query
from discreet.query.sql_hint import SHAPE, instead, only, refuse, shown_aggregates
from discreet.query.sql_privacy import read_private
from discreet.query.sql_relation import Relations
from discreet.query.sql_scope import Published, Scope, is_aggregate, reference, unwrapped

__all__ = ["Scope", "Statement", "parse_sql"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as what is asked of the data, and what is done with the released table."""

    query: Query
    presentation: Presentation
    price: dict[str, Number] = field(default_factory=dict)
    """Epsilon and delta, where the statement names them."""


def parse_sql(text: str, schema: Schema, dialect: str = "duckdb") -> Statement:
    """Read one SELECT statement about the table of `schema`; refuses everything it does not fully understand."""
    check_dialect(dialect)
    try:
        private = read_private(text, schema, dialect)
        statement = _Statement(schema, dialect).read(read_statement(private.text, dialect=dialect))
        query = statement.query.limits(**private.limits) if private.limits else statement.query
        found = query.discovered  # only there a delta buys something
        price = {name: value for name, value in private.price.items() if name != "delta" or found}
        return replace(statement, query=query.checked(schema), price=price)
    except RecursionError:
        raise InputError("sql", text, "a shorter statement") from None


def _levels(node: Any) -> bool:
    """Whether a piece asks for several levels of groups at once."""
    return type(node).__name__ in ("Rollup", "Cube", "GroupingSets")


class _Statement:
    """Reads one statement, noting outputs as they are met."""

    def __init__(self, schema: Schema, dialect: str) -> None:
        self.schema = schema
        self.dialect = dialect
        self.rows = Relations(schema, dialect)
        self.keys: list[Key] = []
        self.references: dict[str, str] = {}
        """Keys by the text of what they are grouped by."""
        self.outputs: dict[str, Aggregate | Ordered] = {}
        self.formulas: list[Formula] = []
        self.overs: list[Over] = []
        self.shown: list[tuple[str, str]] = []
        self.aliases: dict[str, str] = {}
        """Published columns by their names in the SELECT list, in lower case."""

    def read(self, tree: Any) -> Statement:
        from sqlglot import exp

        while type(tree) is exp.Subquery and not [
            name for name, value in tree.args.items() if value and name != "this"
        ]:
            tree = tree.this
        if type(tree) is not exp.Select:
            raise refuse(tree, SHAPE)
        only(
            tree, "expressions", "from", "joins", "where", "group", "having", "order", "limit", "offset", "with", "kind"
        )
        self.rows = self.rows.read(tree)
        self.reader, self.schema = self.rows.reader(), self.rows.about
        query = Query(persons=self.rows.persons)
        conditions = self.rows.conditions()
        if where := tree.args.get("where"):
            conditions.append(self.reader.read(where.this))
        for condition in conditions:
            query = query.where(condition_of(condition))
        self.group(tree)
        for node in tree.expressions:
            self.item(node)
        labels = [label for _, label in self.shown]
        if repeated := [label for label in labels if labels.count(label) > 1]:
            raise InputError("sql", repeated[0], "a SELECT list of different names", "Use AS to name them.")
        having, order = self.having(tree), self.order(tree)
        if not self.outputs:
            raise refuse(tree, f"at least one aggregate: {shown_aggregates()}", "Such as COUNT(*).")
        self._check_types(tree, having)
        limit, offset = self.count(tree, "limit"), self.count(tree, "offset") or 0
        shown = tuple(self.shown)
        presentation = Presentation(shown, tuple(self.formulas), having, order, limit, offset)
        whole = query.group_by(*self.keys).agg(**self.outputs)
        return Statement(whole.checked(self.rows.schema), presentation)

    # Keys.

    def group(self, tree: Any) -> None:
        from sqlglot import exp

        group = tree.args.get("group")
        if not group:
            return
        only(group, "expressions", "all")
        nodes = list(group.expressions)
        if group.args.get("all") or [str(node) for node in nodes] == ["ALL"]:
            items = [item.this if type(item) is exp.Alias else item for item in tree.expressions]
            nodes = [item for item in items if not self.aggregates(item)]
        for node in nodes:
            self.key(self._meant(node, tree, "GROUP BY"))

    def aggregates(self, node: Any) -> bool:
        """Whether there is an aggregate in a piece."""
        return any(is_aggregate(part) for part in node.walk())

    def _meant(self, node: Any, tree: Any, clause: str) -> Any:
        """What a number or an alias of the SELECT list stands for; the piece itself if it is none."""
        from sqlglot import exp

        node = unwrapped(node)
        items = tree.expressions
        if type(node) is exp.Literal and not node.is_string:
            place = str(node.this)
            if not place.isdigit() or not 1 <= int(place) <= len(items):
                raise refuse(node, f"{clause} with the number of a column from 1 to {len(items)}")
            item = items[int(place) - 1]
            return item.this if type(item) is exp.Alias else item
        if type(node) is exp.Column and not node.table:
            known = {name.lower() for relation in self.rows.visible.values() for name in relation.columns}
            for item in items:
                if (
                    type(item) is exp.Alias
                    and item.alias.lower() == node.name.lower()
                    and node.name.lower() not in known
                ):
                    return item.this
        return node

    def key(self, node: Any) -> None:
        """An expression, BIN(column, width) or a column of undeclared text to group by."""
        from sqlglot import exp

        text = "" if self.aggregates(node) or _levels(node) else self.text_of(node)
        if text in self.references:
            return
        if type(node) is exp.Anonymous and str(node.this).upper() == "BIN":
            only(node, "this", "expressions")
            if len(node.expressions) != 2:
                raise refuse(node, "BIN(column, width)")
            column = self.schema.canonical(reference(self.reader.read(node.expressions[0])), "sql")
            made = bins(column, width=read_constant(node.expressions[1], "sql"))
        else:
            if self.aggregates(node) or _levels(node):
                raise refuse(node, "something known of each row to group by", instead(node))
            column = self.schema.canonical(reference(self.reader.read(node)), "sql")
            free = isinstance(self.schema.columns.get(column), Text)  # nobody declared what it holds
            made = discover(column) if free else key(column)
        if made.column in self.references.values():
            raise refuse(node, "grouped by once")
        self.references[text] = made.column
        self.keys.append(made)

    def text_of(self, node: Any) -> str:
        """One text for all ways to write the same piece."""
        from sqlglot import exp

        node = unwrapped(node)
        if type(node) is exp.Anonymous and str(node.this).upper() == "BIN":
            return str(node.sql("duckdb")).lower()
        return self.schema.canonical(reference(self.reader.read(node)), "sql")

    # What is shown.

    def item(self, node: Any) -> None:
        """One item of the SELECT list: a key, an aggregate, or arithmetic over them."""
        from sqlglot import exp

        label = None
        if type(node) is exp.Alias:
            only(node, "this", "alias")
            node, label = node.this, str(node.alias)
        if type(node) is exp.Star:
            raise refuse(node, f"an aggregate: {shown_aggregates()}", instead(node))
        name = self.published(node, label)
        own = node.name if type(unwrapped(node)) is exp.Column else ""
        self.shown.append((name, label or (own if name in self.references.values() and own else name)))
        self.aliases[self.shown[-1][1].lower()] = name

    def published(self, node: Any, label: str | None = None) -> str:
        """The released column that a piece stands for; one computed from others is noted if it is new."""
        made = Published(self, label).read(node)
        if isinstance(made, Name):
            return made.name
        if not isinstance(made, Call):
            raise refuse(node, f"a key or an aggregate: {shown_aggregates()}")
        return self.formula(made, label, node)

    def formula(self, expression: Expression, label: str | None, node: Any) -> str:
        from discreet.data.expression.node import columns_in

        names = columns_in(expression)
        overs = tuple(over for over in self.overs if over.name in names)
        used = [name for name in names if name in self.outputs] + [over.output for over in overs]
        if not used:
            raise refuse(node, "made of aggregates", "What is computed of keys alone can be grouped by.")
        name = label if label and label.isidentifier() else f"column_{len(self.shown) + 1}"
        taken = {*self.outputs, *(each.name for each in self.formulas), *self.references.values()}
        while name in taken:
            name += "_"
        self.formulas.append(Formula(name, expression, overs, self._share_noise(dict.fromkeys(used))))
        return name

    def _share_noise(self, names: Any) -> bool:
        seen: set[Any] = set()
        for name in names:
            output = self.outputs[name]
            measures = set(output.measures(self.schema)) if isinstance(output, Aggregate) else {output.column}
            if seen & measures:
                return True
            seen |= measures
        return False

    def output(self, node: Any, label: str | None) -> str:
        """The name of an aggregate, noted if it is new."""
        aggregate = self.aggregate(node)
        for name, known in self.outputs.items():
            if known == aggregate:
                return name
        name = label if label and label.isidentifier() else _plain_name(aggregate)
        taken = {*self.outputs, *self.references.values()}
        while name in taken or any(name in (f"{each}_lower", f"{each}_upper") for each in taken):
            name += "_"
        self.outputs[name] = aggregate
        return name

    def aggregate(self, node: Any) -> Aggregate | Ordered:
        """What a piece of the statement computes, read by the class that has a function of this name."""
        from sqlglot import exp

        scope = Scope(self.schema, self.reader)
        if type(node) is exp.Filter:
            only(node, "this", "expression")
            scope = Scope(self.schema, self.reader, self.reader.read(node.expression.this))
            node = node.this
        for kind in kinds():
            output: Aggregate | Ordered | None = kind.read_sql(node, scope)
            if output is not None:
                return output
        if type(node) in (exp.Min, exp.Max):
            hint = "Ask for QUANTILE_CONT(column, 0.01) or QUANTILE_CONT(column, 0.99)."
            raise refuse(node, "another aggregate: the smallest and the largest value are one person's", hint)
        raise refuse(node, f"an aggregate: {shown_aggregates()}", instead(node))

    # What happens to the released table.

    def having(self, tree: Any) -> Expression | None:
        having = tree.args.get("having")
        return None if not having else Published(self).read(having.this)

    def order(self, tree: Any) -> tuple[Order, ...]:
        order = tree.args.get("order")
        if not order:
            return ()
        only(order, "expressions")
        steps = []
        for node in order.expressions:
            only(node, "this", "desc", "nulls_first")
            column = self.published(self._meant(node.this, tree, "ORDER BY"))
            descending, first = bool(node.args.get("desc")), bool(node.args.get("nulls_first"))
            written = "nulls first" in node.sql("duckdb").lower()
            steps.append(Order(column, descending, first and written))
        return tuple(steps)

    def _check_types(self, tree: Any, having: Expression | None) -> None:
        """Compute once what will be computed of released rows: what makes no sense is refused, and nothing spent."""
        row: dict[str, Any] = {over.name: 3.0 for over in self.overs}
        for name, output in self.outputs.items():
            days = isinstance(output, Ordered) and isinstance(
                self.schema.column(output.column, "sql"), Date | Timestamp
            )
            row[name] = "2024-12-31" if days else 1.5
        for each in self.keys:
            labels = ["text"] if each.discovered else [published(x) for x in self._labels(each)]
            row[each.column] = labels[0]
        pieces = [(formula.name, formula.expression) for formula in self.formulas]
        for name, piece in [*pieces, *([("", having)] if having is not None else [])]:
            try:
                row[name] = value_of(piece, row)
            except (TypeError, ValueError, AttributeError, KeyError, ArithmeticError):
                raise InputError("sql", str(piece), "computed of values of one type") from None
            if not name and not isinstance(row[name], bool | None):
                raise refuse(tree.args["having"], "a condition on keys and aggregates")

    def _labels(self, each: Key) -> list[Any]:
        return each.checked(self.schema).labels(self.schema)

    def count(self, tree: Any, clause: str) -> int | None:
        """LIMIT n or OFFSET n, also as TOP and FETCH."""
        from sqlglot import exp

        found = tree.args.get(clause)
        if not found:
            return None
        if type(found) is exp.Fetch:
            only(found, "direction", "count", "limit_options")
            node = found.args.get("count")
        else:
            only(found, "expression")
            node = found.expression
        value = 1 if node is None else read_constant(unwrapped(node), "sql")
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise refuse(found, f"{clause.upper()} with a whole number")
        return value


def _plain_name(aggregate: Aggregate | Ordered) -> str:
    column = getattr(aggregate, "column", None) or ""
    name = aggregate.label + (f"_{column}" if column.isidentifier() else "")
    return name if name.isidentifier() else "value"
