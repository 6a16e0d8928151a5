"""One SELECT of a statement: its keys, outputs and what is computed of released rows, read through an allow-list."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from discreet.data.column import Date, Real, Text, Timestamp
from discreet.data.expression import Call, Constant, Expression, Name
from discreet.data.expression.node import columns_in
from discreet.data.instant import Instant
from discreet.data.schema import Schema
from discreet.data.text import read_constant
from discreet.errors import InputError, Phrase
from discreet.query.aggregate import Aggregate, VectorMean
from discreet.query.formula import Formula
from discreet.query.function import kinds
from discreet.query.key import MOST_GROUPS, Bin, Key, bins, discover, key
from discreet.query.over import Over
from discreet.query.predicate import condition_of
from discreet.query.presentation import Order, Presentation
from discreet.query.pruning import narrowed_bins
from discreet.query.quantile import Ordered
from discreet.query.question import Query
from discreet.query.sql_check import check_types
from discreet.query.sql_hint import SHAPE, grouped_by, instead, only, refuse, shown_aggregates
from discreet.query.sql_levels import grouping_sets
from discreet.query.sql_relation import Relations
from discreet.query.sql_scope import Computed, Published, Scope, computes, read_count, reference, unwrapped
from discreet.query.sql_share import with_shares
from discreet.query.sql_total import TotalReading
from discreet.query.sql_vector import with_vectors
from discreet.query.union import Union, UnionPart

__all__ = ["Reading"]

_CLAUSES = (
    "expressions",
    "from",
    "joins",
    "where",
    "group",
    "having",
    "order",
    "limit",
    "offset",
    "with",
    "kind",
    "qualify",
    "distinct",
)


class Reading:
    """One SELECT, read: outputs are noted as they are met."""

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
        self.constants: dict[str, Any] = {}
        """Columns that are the same in all rows."""
        self.levels: list[set[str]] = []
        """The keys of each level of groups."""
        self.groupings: dict[str, str] = {}
        """Columns that say whether a key is rolled up, and the key."""
        self.totals = TotalReading(schema, dialect)

    def read(self, tree: Any) -> Reading:
        """Read a SELECT; refuses everything it does not fully understand."""
        from sqlglot import exp

        if type(tree) is not exp.Select:
            apart = type(tree) in (exp.Intersect, exp.Except)
            raise refuse(tree, SHAPE, "Released numbers differ by their noise: ask with UNION ALL." if apart else "")
        self.tree = tree = with_vectors(with_shares(tree))
        only(tree, *_CLAUSES)
        self.rows = self.rows.read(tree)
        self.reader, self.schema = self.rows.reader(), self.rows.about
        query = Query(persons=self.rows.persons)
        conditions = self.rows.conditions()
        if where := tree.args.get("where"):
            conditions.append(self.reader.read(where.this))
        for condition in conditions:
            query = query.where(condition_of(condition))
        self.query = query
        self.group(tree)
        for node in tree.expressions:
            self.item(node)
        labels = [label for _, label in self.shown]
        if repeated := [label for label in labels if labels.count(label) > 1]:
            raise InputError("sql", repeated[0], "a SELECT list of different names", "Use AS to name them.")
        self.condition, self.order = self._having(tree), self._order(tree)
        if not self.outputs and not self.keys:
            raise refuse(tree, f"at least one aggregate: {shown_aggregates()}", "Such as COUNT(*).")
        if not self.outputs:
            query = query.list_groups()
        check_types(self)
        keys = [narrowed_bins(each, query.condition, self.schema) for each in self.keys]
        self.query = query.group_by(*keys).agg(**self.outputs)
        return self

    @property
    def presentation(self) -> Presentation:
        """What is done with the released table."""
        limit, offset = read_count(self.tree, "limit"), read_count(self.tree, "offset") or 0
        constants = tuple(Formula(name, Constant(value)) for name, value in self.constants.items())
        made = Presentation(tuple(self.shown), (*constants, *self.formulas), self.condition, self.order, limit, offset)
        return replace(made, totals=self.totals.joined(self._levels())[1])

    @property
    def asked(self) -> Query | Union:
        """What is asked of the data: one question, or one for each level of groups and for totals beside them."""
        return self.totals.joined(self._levels())[0]

    def _levels(self) -> Query | Union:
        if len(self.levels) < 2:
            return self.query
        parts = []
        for level in self.levels:
            keys = tuple(key for key in self.query.keys if key.column in level)
            rolled = [(name, int(column not in level)) for name, column in self.groupings.items()]
            parts.append(UnionPart(replace(self.query, keys=keys), tuple(rolled)))
        return Union(tuple(parts))

    # Keys.

    def group(self, tree: Any) -> None:
        """Note the keys of GROUP BY, of each of its levels, or of SELECT DISTINCT."""
        from sqlglot import exp

        group = tree.args.get("group")
        if tree.args.get("distinct"):
            only(tree.args["distinct"])
        if not group and tree.args.get("distinct"):
            items = [item.this if type(item) is exp.Alias else item for item in tree.expressions]
            if not any(self.aggregates(item) or type(item) is exp.Star for item in items):
                self.levels.append({self.key(item) for item in items})
            return
        if not group:
            return
        sets = grouping_sets(group)
        nodes = sets[0]
        if group.args.get("all") or [str(node) for node in nodes] == ["ALL"]:
            items = [item.this if type(item) is exp.Alias else item for item in tree.expressions]
            nodes = [item for item in items if not self.aggregates(item)]
            sets = [nodes]
        for nodes in sets:
            meant = [self._meant(node, tree, "GROUP BY") for node in nodes]  # a total is the same in all rows
            self.levels.append({self.key(node) for node in meant if type(node) is not exp.Subquery})

    def aggregates(self, node: Any) -> bool:
        """Whether there is an aggregate in a piece."""
        return computes(node)

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

    def key(self, node: Any) -> str:
        """An expression, BIN(column, width) or a column of undeclared text to group by; the name of its key."""
        from sqlglot import exp

        text = "" if self.aggregates(node) else self.text_of(node)
        if text in self.references:
            return self.references[text]
        if type(node) is exp.Anonymous and str(node.this).upper() == "BIN":
            only(node, "this", "expressions")
            if len(node.expressions) < 2:
                raise refuse(node, "BIN(column, width)")
            column = self.schema.canonical(reference(self.reader.read(node.expressions[0])), "sql")
            made = _bins(column, [read_constant(each, "sql") for each in node.expressions[1:]])
        else:
            if self.aggregates(node):
                raise refuse(node, "something known of each row to group by", instead(node))
            column = self.schema.canonical(reference(self.reader.read(node)), "sql")
            declared = self.schema.columns.get(column)
            if isinstance(declared, Real | Timestamp):
                hint = f"Such as {grouped_by(column, declared)}."
                raise refuse(node, "a category, a boolean, an integer, or in bins: groups must be known", hint)
            free = isinstance(declared, Text)  # nobody declared what it holds
            days = _days(declared) if isinstance(declared, Date) else None
            made = discover(column) if free else key(column, days)
        if made.column in self.references.values():
            raise refuse(node, "grouped by once")
        self.references[text] = made.column
        self.keys.append(made)
        return made.column

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
        if isinstance(made, Name) and made.name not in {over.name for over in self.overs}:
            return made.name
        if isinstance(made, Name):
            return next(
                (each.name for each in self.formulas if str(each.expression) == str(made)), None
            ) or self.formula(made, label, node)
        if isinstance(made, Constant):
            return self._constant(made.value, label)
        if not isinstance(made, Call):
            raise refuse(node, f"a key or an aggregate: {shown_aggregates()}")
        return self.formula(made, label, node)

    def _constant(self, value: Any, label: str | None) -> str:
        """A column that is the same in all rows."""
        name = label if label and label.isidentifier() else f"column_{len(self.shown) + 1}"
        while name in {*self.outputs, *self.constants, *self.references.values()}:
            name += "_"
        self.constants[name] = value
        return name

    def grouping(self, node: Any) -> str:
        """GROUPING(key): 1 in the rows in which the key is rolled up, 0 in the others."""
        text = self.text_of(node)
        if text not in self.references or len(self.levels) < 2:
            raise refuse(node, "GROUPING(key) of one of the keys of ROLLUP, CUBE or GROUPING SETS")
        name = next((name for name, column in self.groupings.items() if column == self.references[text]), None)
        if name is None:
            name = f"grouping_{len(self.groupings) + 1}"
            self.groupings[name] = self.references[text]
        return name

    def total(self, node: Any) -> Expression:
        """(SELECT COUNT(*) FROM table) beside aggregates: another output, or a question of its own."""

        def merged(query: Query, output: Aggregate | Ordered) -> str | None:
            same = not self.levels and (query.condition, query.persons) == (self.query.condition, self.query.persons)
            return self._noted(output, None) if same else None

        taken = {*self.outputs, *self.references.values(), *self.constants, *(each.name for each in self.formulas)}
        views = self.tree.args.get("with_") or self.tree.args.get("with")
        return self.totals.read(node, views, taken, merged)

    def formula(self, expression: Expression, label: str | None, node: Any) -> str:
        """Note a column that is computed from released ones; its name."""
        names = columns_in(expression)
        overs = tuple(over for over in self.overs if over.name in names)
        used = [name for name in names if name in self.outputs]
        used += [name for over in overs for name in over.uses if name in self.outputs]
        totals = [name for name in names if name in self.totals.outputs]
        of_keys = not used and not overs and not totals
        if of_keys and any(isinstance(label, Bin | Instant) for each in self.keys for label in self.first(each)):
            raise refuse(node, "made of aggregates", "What is computed of keys alone can be grouped by.")
        name = label if label and label.isidentifier() else f"column_{len(self.shown) + 1}"
        taken = {*self.outputs, *(each.name for each in self.formulas), *self.constants, *self.references.values()}
        while name in {*taken, *self.totals.outputs}:
            name += "_"
        shared = self._share_noise(dict.fromkeys(used)) or self.totals.shares_noise(totals)
        self.formulas.append(Formula(name, expression, overs, shared, of_keys))
        return name

    def is_tied(self, name: str) -> bool:
        """Whether the rows of a released column have noise in common: that of a window or a total in it."""
        made = next((each for each in self.formulas if each.name == name), None)
        names = [name] if made is None else columns_in(made.expression)
        return bool(made and made.overs) or any(each in self.totals.outputs for each in names)

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
        return self._noted(self.aggregate(node), label)

    def _noted(self, aggregate: Aggregate | Ordered, label: str | None) -> str:
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

    def _having(self, tree: Any) -> Expression | None:
        found = [Computed(self).read(clause.this) for name in ("having", "qualify") if (clause := tree.args.get(name))]
        return found[0] if len(found) == 1 else Call("and", tuple(found)) if found else None

    def _order(self, tree: Any) -> tuple[Order, ...]:
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

    def first(self, each: Key) -> list[Any]:
        """A value of a key, if there is one; some text for those that are found."""
        return ["text"] if each.discovered else each.checked(self.schema).labels(self.schema)[:1]


def _plain_name(aggregate: Aggregate | Ordered) -> str:
    columns = (aggregate.column,) if isinstance(aggregate, VectorMean) else aggregate.columns
    named = [column for column in columns if column.isidentifier()]
    name = "_".join([aggregate.label, *named])
    return name if name.isidentifier() else "value"


def _bins(column: str, given: list[Any]) -> Key:
    """BIN(column, width), BIN(day, 'month') or BIN(column, edge, edge, ...)."""
    if len(given) > 1:
        return bins(column, given)
    (size,) = given
    return bins(column, every=size) if isinstance(size, str) and size.isalpha() else bins(column, width=size)


def _days(column: Date) -> list[date | None]:
    """Every day that is declared, and none where there may be none."""
    many = (column.upper - column.lower).days + 1
    if many > MOST_GROUPS:
        raise InputError(
            "group_by", Phrase(f"{many:,} days"), f"at most {MOST_GROUPS:,} groups", "Use DATE_TRUNC('year', ...)."
        )
    days: list[date | None] = [column.lower + timedelta(days=place) for place in range(many)]
    return [*days, None] if column.nullable else days
