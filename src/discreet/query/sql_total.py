"""(SELECT COUNT(*) FROM table) beside aggregates, and CROSS JOIN of a subquery with one row: totals of their own.

A total is another question under the same price. What is computed of it and of groups is computed after the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.data.expression import Expression, Name
from discreet.data.expression.node import columns_in
from discreet.data.expression.substitution import substituted
from discreet.data.schema import Schema
from discreet.query.aggregate import Aggregate
from discreet.query.presentation import Presentation
from discreet.query.quantile import Ordered
from discreet.query.question import Query
from discreet.query.sql_hint import refuse
from discreet.query.sql_scope import computes
from discreet.query.totals import GROUPS, Totals
from discreet.query.union import Union, UnionPart

if TYPE_CHECKING:
    from discreet.query.sql_select import Reading

__all__ = ["TotalReading", "inlined"]

_SHAPE = "a subquery of one number, such as (SELECT COUNT(*) FROM {})"
_HINT = "A share of all groups is COUNT(*) * 1.0 / SUM(COUNT(*)) OVER ()."
_SUFFIXES = ("", "_lower", "_upper")
Computed = Aggregate | Ordered


class TotalReading:
    """Reads subqueries that are one number, noting which questions they ask."""

    def __init__(self, schema: Schema, dialect: str) -> None:
        self.schema = schema
        self.dialect = dialect
        self.parts: dict[str, Query] = {}
        """The question of each total, without its outputs."""
        self.outputs: dict[str, tuple[str, Computed]] = {}
        """Which total each new column is from, and what it computes."""

    def read(
        self,
        node: Any,
        views: Any,
        taken: Iterable[str],
        merged: Callable[[Query, Computed], str | None] = lambda query, output: None,
    ) -> Expression:
        """What a subquery stands for, of new columns. `views` are those of WITH, `merged` names one that is there."""
        from discreet.query.sql_select import Reading

        inner = Reading(self.schema, self.dialect).read(_with_views(node.this, views))
        expression = self._number(inner, node)
        names: dict[str, Expression] = {}
        for name in columns_in(expression):
            output = inner.outputs[name]
            bare = Query(inner.query.condition, persons=inner.query.persons)
            names[name] = Name(merged(bare, output) or self._column(bare, output, {*taken}))
        return substituted(expression, names)

    def _number(self, inner: Reading, node: Any) -> Expression:
        """The one number that a SELECT computes, of its outputs."""
        clauses = ("order", "limit", "offset", "group", "having", "qualify", "distinct")
        allowed = _SHAPE.format(self.schema.name)
        if len(inner.shown) != 1 or any(inner.tree.args.get(clause) for clause in clauses) or inner.totals.parts:
            raise refuse(node, allowed, _HINT)
        name = inner.shown[0][0]
        found = next((each for each in inner.formulas if each.name == name), None)
        expression = Name(name) if found is None else found.expression
        if not set(columns_in(expression)) <= set(inner.outputs) or (found is not None and found.overs):
            raise refuse(node, allowed, _HINT)
        return expression

    def _column(self, query: Query, output: Computed, taken: set[str]) -> str:
        part = next((name for name, known in self.parts.items() if known == query), None)
        if part is None:
            part = "total" if not self.parts else f"total_{len(self.parts) + 1}"
            self.parts[part] = query
        for name, known in self.outputs.items():
            if known == (part, output):
                return name
        column = f"{part}_{output.label}" if str(output.label).isidentifier() else part
        taken = taken | set(self.outputs)
        while any(column + end in {each + other for each in taken for other in _SUFFIXES} for end in _SUFFIXES):
            column += "_"
        self.outputs[column] = (part, output)
        return column

    def shares_noise(self, names: Iterable[str]) -> bool:
        """Whether two of some columns are from one total."""
        parts = [self.outputs[name][0] for name in names if name in self.outputs]
        return len(set(parts)) < len(parts)

    def joined(self, query: Query | Union) -> tuple[Query | Union, Totals | None]:
        """A question with the totals beside it, and how its table is read; as it was if there are none."""
        if not self.parts:
            return query, None
        parts = query.parts if isinstance(query, Union) else (UnionPart(query),)
        mark = "part"
        while mark in {*self.outputs, *(Union(parts).titles), *(name for each in parts for name in each.query.names)}:
            mark += "_"
        made = [replace(part, constants=(*part.constants, (mark, GROUPS))) for part in parts]
        for part, bare in self.parts.items():
            own = {name: output for name, (total, output) in self.outputs.items() if total == part}
            made.append(UnionPart(bare.agg(**own), ((mark, part),)))
        columns = tuple((name, part, name) for name, (part, _) in self.outputs.items())
        return Union(tuple(made)), Totals(mark, columns)

    def carried(self, first: Presentation) -> Presentation:
        """A presentation whose tables, to the last, have the totals too."""
        later = None if first.then is None else self.carried(first.then)
        return replace(first, shown=(*first.shown, *((name, name) for name in self.outputs)), then=later)


def _with_views(tree: Any, views: Any) -> Any:
    """A SELECT with those views before it that it uses."""
    from sqlglot import exp

    while type(tree) is exp.Subquery:
        tree = tree.this
    if type(tree) is not exp.Select or not views:
        return tree
    known = {str(view.alias).lower(): view for view in views.expressions}
    used: set[str] = set()
    waiting = [tree]
    while waiting:
        for table in waiting.pop().find_all(exp.Table):
            name = str(table.name).lower()
            if name in known and name not in used:
                used.add(name)
                waiting.append(known[name])
    own = tree.args.get("with_") or tree.args.get("with")
    if not used or own:
        return tree
    made = tree.copy()
    kept = [view.copy() for name, view in known.items() if name in used]
    made.set("with_" if "with_" in type(made).arg_types else "with", exp.With(expressions=kept))
    return made


# One row beside all others, written as the numbers it holds.


def inlined(tree: Any, schema: Schema) -> Any:
    """A statement in which columns of joined subqueries with one row are written as subqueries of one number."""
    from sqlglot import exp

    if not any(_one_row(select) for select in tree.find_all(exp.Select) if select is not tree):
        return tree
    tree = tree.copy()
    views: dict[str, Any] = {}
    for view in [view for holder in tree.find_all(exp.With) for view in holder.expressions]:
        if _one_row(view.this) and not view.args["alias"].args.get("columns"):
            views[str(view.alias).lower()] = view.this
    for select in list(tree.find_all(exp.Select)):
        _inline(select, views, schema)
    for holder in list(tree.find_all(exp.With)):
        used = {str(table.name).lower() for table in tree.find_all(exp.Table)}
        kept = [v for v in holder.expressions if str(v.alias).lower() not in views or str(v.alias).lower() in used]
        if not kept:
            holder.pop()
        elif len(kept) < len(holder.expressions):
            holder.set("expressions", kept)
    return tree


def _one_row(select: Any) -> bool:
    """Whether a SELECT has aggregates and no groups: one row, whatever the data."""
    from sqlglot import exp

    clauses = ("group", "having", "limit", "offset", "distinct", "qualify", "order")
    if type(select) is not exp.Select or any(select.args.get(clause) for clause in clauses):
        return False
    return all(computes(item) and not item.find(exp.Window) for item in select.expressions)


def _inline(select: Any, views: dict[str, Any], schema: Schema) -> None:
    from sqlglot import exp

    known = {name.lower() for name in schema.columns}
    shown = {str(item.alias).lower() for item in select.expressions if type(item) is exp.Alias}
    rows: dict[str, Any] = {}
    slot = "from_" if select.args.get("from_") else "from"
    source, joins = select.args.get(slot), list(select.args.get("joins") or ())
    kept = []
    for join in joins:
        alias, inner = _single(join.this, views)
        if inner is not None and _crosses(join):
            rows[alias] = inner
        else:
            kept.append(join)
    if source is not None and joins:
        alias, inner = _single(source.this, views)
        if inner is not None and kept and _crosses(kept[0]):
            rows[alias] = inner
            source.set("this", kept.pop(0).this)
        elif inner is not None and rows and not kept:
            rows[alias] = inner  # all of them are single rows
            select.set(slot, None)
    if not rows:
        _unwrap(select, views)
        _lift(select)
        return
    select.set("joins", kept)
    for column in list(select.find_all(exp.Column)):
        if column.find_ancestor(exp.Select) is not select:
            continue
        table, name = str(column.table or "").lower(), str(column.name).lower()
        if not table and name in shown and column.find_ancestor(exp.Order) is not None:
            continue  # an alias of the SELECT list comes first there
        for alias, inner in rows.items():
            items = {str(item.alias_or_name).lower(): item.unalias() for item in inner.expressions}
            if name in items and (table == alias or (not table and name not in known)):
                made = inner.copy()
                made.set("expressions", [items[name].copy()])
                bare = type(column.parent) is exp.Select and column.arg_key == "expressions"
                piece = exp.Subquery(this=made)
                column.replace(exp.alias_(piece, column.name) if bare else piece)
                break
    if group := select.args.get("group"):
        left = [node for node in group.expressions if type(node) is not exp.Subquery]
        if not left and not any(group.args.get(kind) for kind in ("rollup", "cube", "grouping_sets", "all")):
            select.set("group", None)
        group.set("expressions", left)
    _unwrap(select, views)
    _lift(select)


def _lift(select: Any) -> None:
    """SELECT (SELECT a FROM t) / (SELECT b FROM t), without FROM, as SELECT a / (SELECT b FROM t) FROM t."""
    from sqlglot import exp

    clauses = ("from_", "from", "where", "group", "having", "joins", "distinct", "qualify")
    if any(select.args.get(clause) for clause in clauses):
        return
    pieces = [piece for item in select.expressions for piece in item.find_all(exp.Subquery, bfs=False)]
    first = next((piece for piece in pieces if _one_row(piece.this) and len(piece.this.expressions) == 1), None)
    if first is None or first.find_ancestor(exp.Select) is not select:
        return
    inner = first.this
    for clause in ("from_", "from", "where", "joins"):
        if inner.args.get(clause):
            select.set(clause, inner.args[clause])
    first.replace(exp.paren(inner.expressions[0].unalias().copy()))


def _unwrap(select: Any, views: dict[str, Any]) -> None:
    """(SELECT n FROM view), where the view is one row, as the number it is."""
    from sqlglot import exp

    source = select.args.get("from_") or select.args.get("from")
    inside = type(select.parent) is exp.Subquery and type(select.parent.parent) not in (exp.From, exp.Join)
    if source is None or not inside or len(select.expressions) != 1 or select.args.get("joins"):
        return
    _, inner = _single(source.this, views)
    if inner is None or any(select.args.get(each) for each in ("where", "group", "having", "limit", "order")):
        return
    items = {str(item.alias_or_name).lower(): item.unalias() for item in inner.expressions}
    item = select.expressions[0].unalias()
    if computes(item):
        return
    for column in [item, *item.find_all(exp.Column)]:
        if type(column) is exp.Column and str(column.name).lower() in items:
            piece = exp.paren(items[str(column.name).lower()].copy())
            item = piece if column is item else (column.replace(piece) and item)
    made = inner.copy()
    made.set("expressions", [item.copy()])
    select.replace(made)


def _single(table: Any, views: dict[str, Any]) -> tuple[str, Any | None]:
    """The alias of a table or subquery, and the SELECT that it is, if that has one row."""
    from sqlglot import exp

    if type(table) is exp.Subquery and _one_row(table.this) and not _columns(table):
        return str(table.alias or "").lower(), table.this
    if type(table) is exp.Table and str(table.name).lower() in views and not _columns(table):
        return str(table.alias or table.name).lower(), views[str(table.name).lower()]
    return "", None


def _columns(table: Any) -> bool:
    alias = table.args.get("alias")
    return bool(alias and alias.args.get("columns"))


def _crosses(join: Any) -> bool:
    """Whether a join pairs every row with every other."""
    from sqlglot import exp

    on, kind = join.args.get("on"), str(join.args.get("kind") or "").upper()
    if join.args.get("using") or join.args.get("side") or join.args.get("method"):
        return False
    if on is not None:
        same = type(on) is exp.EQ and type(on.left) is exp.Literal and on.left == on.right
        return kind in ("", "INNER") and (same or (type(on) is exp.Boolean and bool(on.this)))
    return kind in ("", "CROSS")
