"""SELECT ... FROM (SELECT keys, aggregates ... GROUP BY keys): what is done with a released table, in a second step.

All of it is post-processing: rows are chosen, numbers computed with intervals, sums taken over released rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from discreet.data.expression import Call, Constant, Expression, Name
from discreet.data.expression.node import columns_in
from discreet.data.expression.read import Reader
from discreet.data.schema import Schema
from discreet.query.formula import Formula
from discreet.query.over import Over
from discreet.query.presentation import Order, Presentation
from discreet.query.sql_hint import only, refuse
from discreet.query.sql_over import read_over
from discreet.query.sql_scope import computes, is_aggregate, read_count, unwrapped
from discreet.query.sql_total import TotalReading

__all__ = ["ReleasedReading", "released_source"]

_CLAUSES = ("expressions", "from", "where", "group", "having", "order", "limit", "offset", "with", "kind", "qualify")
_FOLDS = {"Sum": "sum", "Avg": "avg", "Min": "min", "Max": "max"}
_ALLOWED = "SUM, AVG, MIN, MAX or COUNT(*) of a released table"


def released_source(tree: Any, schema: Schema) -> Any | None:
    """The SELECT in FROM whose groups are released, or None if FROM is about rows or persons."""
    from sqlglot import exp

    if type(tree) is not exp.Select:
        return None
    inner, before = _source(tree, [])
    if not _released(inner, before, schema):
        return None
    slot = "with_" if "with_" in tree.args else "with"
    made = inner.copy()
    if before and not made.args.get(slot):
        made.set(slot, exp.With(expressions=before))
    return made


def _source(tree: Any, views: list[Any]) -> tuple[Any, list[Any]]:
    """What stands in FROM, if it is a SELECT, and the views known to it: those of WITH, or else those given."""
    from sqlglot import exp

    source, own = (tree.args.get(name) or tree.args.get(f"{name}_") for name in ("from", "with"))
    views = list(own.expressions) if own else views
    table = None if source is None else source.this
    if type(table) is exp.Subquery:
        return table.this, views
    if type(table) is exp.Table:
        for place, view in enumerate(views):
            if str(view.alias).lower() == str(table.name).lower():
                return view.this, views[:place]
    return None, []


def _released(inner: Any, views: list[Any], schema: Schema) -> bool:
    """Whether a SELECT has groups that are released, or is about such a SELECT."""
    from sqlglot import exp

    while type(inner) is exp.Select:
        if _groups(inner, schema):
            return True
        inner, views = _source(inner, views)
    return False


def _groups(inner: Any, schema: Schema) -> bool:
    """Whether a SELECT has groups that are no persons."""
    from sqlglot import exp

    group = inner.args.get("group")
    if not group:
        return any(map(computes, inner.expressions))
    items = {item.alias.lower(): item.this for item in inner.expressions if type(item) is exp.Alias}
    person = str(schema.unit.column or "").lower()
    for node in group.expressions:
        if (
            type(node) is exp.Literal
            and str(node.this).isdigit()
            and 1 <= int(str(node.this)) <= len(inner.expressions)
        ):
            node = inner.expressions[int(str(node.this)) - 1]
        if type(node) is exp.Column:
            node = items.get(str(node.name).lower(), node)
        if any(str(column.name).lower() == person for column in node.find_all(exp.Column)):
            return False
    return True


class ReleasedReading:
    """Reads a SELECT about a released table, noting what is computed of it."""

    def __init__(self, labels: list[str], outputs: set[str], tied: set[str], totals: TotalReading) -> None:
        self.labels = labels
        self.outputs = outputs
        self.tied = tied
        self.totals = totals
        self.dialect = totals.dialect
        self.formulas: list[Formula] = []
        self.overs: list[Over] = []
        self.by: tuple[str, ...] = ()
        self.aliases: dict[str, str] = {}

    def read(self, tree: Any) -> Presentation:
        """What is done with the table."""
        from sqlglot import exp

        only(tree, *_CLAUSES)
        self.tree = tree
        rows = _Columns(self, fold=False)
        where = tree.args.get("where")
        chosen = None if not where else rows.read(where.this)
        group = tree.args.get("group")
        if group:
            only(group, "expressions")
            self.by = tuple(self._key(node, tree) for node in group.expressions)
        folded = bool(group) or any(self._folds(item) for item in tree.expressions)
        shown: list[tuple[str, str]] = []
        for item in tree.expressions:
            if type(item) is exp.Star or (type(item) is exp.Column and type(item.this) is exp.Star):
                shown += [(label, label) for label in self.labels]
                continue
            label = str(item.alias) if type(item) is exp.Alias else None
            node = item.this if type(item) is exp.Alias else item
            name = self.published(node, label)
            if folded and name in self.labels and name not in self.by:
                raise refuse(node, "in GROUP BY, or inside an aggregate")
            shown.append((name, label or name))
            self.aliases[(label or name).lower()] = name
        conditions = [
            _Columns(self, fold=True, kept=True).read(clause.this)
            for clause in (tree.args.get("having"), tree.args.get("qualify"))
            if clause
        ]
        having = None if not conditions else conditions[0] if len(conditions) == 1 else Call("and", tuple(conditions))
        steps = []
        for node in tree.args["order"].expressions if tree.args.get("order") else ():
            only(node, "this", "desc", "nulls_first")
            steps.append(Order(self._ordered(node.this, [name for name, _ in shown]), bool(node.args.get("desc"))))
        once = self.by if folded else None
        limit, offset = read_count(tree, "limit"), read_count(tree, "offset") or 0
        return Presentation(
            tuple(shown), tuple(self.formulas), having, tuple(steps), limit, offset, chosen=chosen, once=once
        )

    def _folds(self, item: Any) -> bool:
        from sqlglot import exp

        pieces = item.walk(prune=lambda part: type(part) is exp.Subquery)
        return any(is_aggregate(part) and not isinstance(part.parent, exp.Window) for part in pieces)

    def _key(self, node: Any, tree: Any) -> str:
        from sqlglot import exp

        if type(node) is exp.Literal and str(node.this).isdigit() and 1 <= int(str(node.this)) <= len(tree.expressions):
            node = tree.expressions[int(str(node.this)) - 1]
            node = node.this if type(node) is exp.Alias else node
        name = self.published(node)
        if name not in self.labels:
            raise refuse(node, "GROUP BY a column of the released table", among=self.labels)
        return name

    def _ordered(self, node: Any, names: list[str]) -> str:
        from sqlglot import exp

        if type(node) is exp.Literal and str(node.this).isdigit() and 1 <= int(str(node.this)) <= len(names):
            return names[int(str(node.this)) - 1]
        return self.published(node)

    def total(self, node: Any) -> Expression:
        """(SELECT COUNT(*) FROM table): a question of its own, whose number stands in every row."""
        views = self.tree.args.get("with_") or self.tree.args.get("with")
        taken = {*self.labels, *self.outputs, *(each.name for each in self.formulas)}
        made = self.totals.read(node, views, taken)
        self.outputs.update(self.totals.outputs)
        return made

    def published(self, node: Any, label: str | None = None) -> str:
        """The column that a piece stands for; a new one is noted."""
        made = _Columns(self, fold=True).read(node)
        if isinstance(made, Name) and made.name not in {over.name for over in self.overs}:
            return made.name
        for known in self.formulas:
            if str(known.expression) == str(made):
                return known.name
        name = label if label and label.isidentifier() else f"column_{len(self.formulas) + 1}"
        while name in {*self.labels, *(each.name for each in self.formulas)}:
            name += "_"
        used = set(columns_in(made))
        overs = tuple(over for over in self.overs if over.name in used)
        numbers = {each for each in used if each in self.outputs} | {o.output for o in overs if o.output}
        # Outputs of one question may share noise: nothing is known of it here.
        self.formulas.append(Formula(name, made, overs, len(numbers) > 1))
        if overs or used & {*self.tied, *self.totals.outputs}:
            self.tied.add(name)
        if not isinstance(made, Constant):
            self.outputs.add(name)
        return name

    def fold(self, node: Any) -> Expression:
        """An aggregate over released rows: a window whose rows are then shown once."""
        from sqlglot import exp

        if type(node) is exp.Count and type(node.this) in (exp.Star, exp.Literal):
            made = Over(f"over count {' '.join(self.by)}", None, self.by, "count")
        elif (function := _FOLDS.get(type(node).__name__)) is not None:
            only(node, "this")
            output = self.inner(node.this)
            made = Over(f"over {function} {output} {' '.join(self.by)}", output, self.by, function)
        else:
            raise refuse(node, _ALLOWED)
        return self.window(made)

    def inner(self, node: Any) -> str:
        """The column that an aggregate or a window is of."""
        name = self.published(node)
        if name not in self.outputs:
            raise refuse(node, f"{_ALLOWED}: of its numbers, not of its keys")
        return name

    def window(self, made: Over) -> Expression:
        """A window, noted if it is new."""
        made = replace(made, common=made.output in self.tied)
        if made not in self.overs:
            self.overs.append(made)
        return Name(made.name)


class _Columns(Reader):
    """Reads pieces over the columns of a released table."""

    def __init__(self, reading: ReleasedReading, *, fold: bool, kept: bool = False) -> None:
        super().__init__("sql", reading.dialect, self._label)
        self.reading = reading
        self.fold = fold
        self.kept = kept
        """Whether windows and aggregates are columns of their own, for a condition on rows."""

    def read(self, node: Any) -> Expression:
        from sqlglot import exp

        node = unwrapped(node)
        if type(node) is exp.Subquery:
            return self.reading.total(node)
        window = isinstance(node, exp.Window)
        if window or is_aggregate(node):
            if not self.fold:
                raise refuse(node, "a condition on the columns of the released table")
            if self.kept:
                return Name(self.reading.published(node))
            return self.reading.window(read_over(node, self.reading.published)) if window else self.reading.fold(node)
        return super().read(node)

    def _label(self, node: Any) -> Expression:
        name = str(node.name).lower()
        known = {label.lower(): label for label in self.reading.labels} | self.reading.aliases
        if name not in known:
            raise refuse(node, "a column of the released table", among=sorted(known.values()))
        return Name(known[name])
