"""Subqueries about public tables: computed here, from what is declared, and read as constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from discreet.data.column import Boolean, Column, Date, Integer, Real
from discreet.data.expression import Call, Constant, Expression, Name
from discreet.data.expression.domain import value_of
from discreet.data.expression.read import Reader
from discreet.data.schema import Schema
from discreet.query.sql_hint import only, refuse

__all__ = ["PublicTables"]

_SHAPE = "(SELECT column FROM a public table [WHERE ...])"
_MOST = 10_000
_FEW: dict[str, Callable[[Any], Any]] = {
    "Min": min,
    "Max": max,
    "Sum": sum,
    "Avg": lambda values: sum(values) / len(values),
}


class PublicTables:
    """The public tables of a schema, and what subqueries about them come to."""

    def __init__(self, schema: Schema, dialect: str) -> None:
        self.schema = schema
        self.dialect = dialect

    def among(self, node: Any, value: Expression) -> Expression:
        """`value` IN (SELECT column FROM public): a list of what the table holds."""
        values = [each for each in self._column(node) if each is not None]
        if isinstance(value, Name) and value.name in self.schema.columns:
            known = self.schema.domain(value.name).values  # what is not declared is nowhere
            values = values if known is None else [each for each in values if each in known]
        if len(values) > _MOST:
            raise refuse(node, f"a subquery of at most {_MOST:,} values")
        return Call("in", (value, *map(Constant, dict.fromkeys(values)))) if values else Constant(False)

    def exists(self, node: Any, outer: Reader) -> Expression:
        """EXISTS (SELECT ... FROM public WHERE its key = a column AND ...): the same as IN."""
        from sqlglot import exp

        tree = node.this
        if type(tree) is exp.Subquery:
            tree = tree.this
        name, alias = self._table(tree)
        where = tree.args.get("where")
        parts = list(where.this.flatten()) if where and type(where.this) is exp.And else [where.this] if where else []
        own = set(self.schema.lookups[name].table)
        links: list[Any] = []
        rest: list[Any] = []
        for part in parts:
            columns = list(part.find_all(exp.Column))
            others = [each for each in columns if not self._is_own(each, alias, own)]
            (links if others else rest).append(part)
        if len(links) != 1 or type(links[0]) is not exp.EQ:
            raise refuse(node, "EXISTS (SELECT 1 FROM a public table WHERE its column = one of the table's)")
        sides = [links[0].left, links[0].right]
        mine = next((side for side in sides if type(side) is exp.Column and self._is_own(side, alias, own)), None)
        if mine is None:
            raise refuse(node, "EXISTS with a comparison of one column of the public table")
        theirs = sides[1] if sides[0] is mine else sides[0]
        inner = exp.select(mine.copy()).from_(tree.args.get("from_", tree.args.get("from")).this.copy())
        for part in rest:
            inner = inner.where(part.copy())
        return self.among(inner, outer.read(theirs))

    @staticmethod
    def _is_own(node: Any, alias: str, own: set[str]) -> bool:
        table = str(node.table or "").lower()
        return table == alias or (not table and str(node.name).lower() in {name.lower() for name in own})

    def scalar(self, node: Any) -> Expression:
        """(SELECT MAX(column) FROM public): the one value it is."""
        values = self._column(node, alone=True)
        if len(values) != 1:
            raise refuse(node, "a subquery with one value", "Such as (SELECT MAX(column) FROM a public table).")
        return Constant(values[0])

    def _table(self, tree: Any, alone: bool = False) -> tuple[str, str]:
        from sqlglot import exp

        names = {name.lower(): name for name in self.schema.lookups}
        source = tree.args.get("from") or tree.args.get("from_") if type(tree) is exp.Select else None
        table = None if source is None else source.this
        if type(table) is not exp.Table or str(table.name).lower() not in names:
            among = ", ".join(self.schema.lookups) or "none is declared in [lookups]"
            who, name = self.schema.unit.column, self.schema.name
            hint = "A number about the table itself is a question of its own: write the number that it answers."
            if who and not alone:
                members = f"SELECT {who} FROM {name} GROUP BY {who} HAVING COUNT(*) > 1"
                hint = f"For persons, ask about them: SELECT COUNT(*) FROM ({members}) AS p."
            raise refuse(tree, f"a subquery about a declared public table: {among}", hint)
        only(tree, "expressions", "from", "where", "distinct", "kind", "limit")
        return names[str(table.name).lower()], str(table.alias or table.name).lower()

    def _column(self, tree: Any, alone: bool = False) -> list[Any]:
        """The values of the one column of a subquery."""
        from sqlglot import exp

        while type(tree) is exp.Subquery:
            only(tree, "this")
            tree = tree.this
        name, alias = self._table(tree, alone)
        lookup = self.schema.lookups[name]
        kinds: dict[str, Column] = {lookup.key: self.schema.columns[lookup.key], **lookup.columns}
        lower = {each.lower(): each for each in kinds}

        def column(node: Any) -> Expression:
            if str(node.table or alias).lower() != alias or str(node.name).lower() not in lower:
                raise refuse(node, f"a column of the public table {name}", among=sorted(kinds))
            return Name(lower[str(node.name).lower()])

        reader = Reader("sql", self.dialect, column)
        rows = [
            {each: _typed(lookup.table[each][place], kinds[each]) for each in kinds}
            for place in range(len(lookup.table[lookup.key]))
        ]
        if where := tree.args.get("where"):
            condition = reader.read(where.this)
            rows = [row for row in rows if self._value(condition, row, tree) is True]
        if len(tree.expressions) != 1:
            raise refuse(tree, f"a subquery of one column: {_SHAPE}")
        item = tree.expressions[0].this if type(tree.expressions[0]) is exp.Alias else tree.expressions[0]
        if type(item) is exp.Count and type(item.this) is exp.Star:
            return [len(rows)]
        if (function := _FEW.get(type(item).__name__)) is not None:
            values = [v for row in rows if (v := self._value(reader.read(item.this), row, tree)) is not None]
            try:
                return [function(values) if values else None]
            except TypeError:
                raise refuse(item, "an aggregate of numbers") from None
        return [self._value(reader.read(item), row, tree) for row in rows]

    @staticmethod
    def _value(expression: Expression, row: Mapping[str, Any], tree: Any) -> Any:
        try:
            return value_of(expression, row)
        except (TypeError, ValueError, AttributeError, KeyError, ArithmeticError):
            raise refuse(tree, "computed of values of one type") from None


def _typed(value: str | None, column: Column) -> Any:
    """A cell of a public table as what its column is declared to be."""
    if value is None:
        return None
    try:
        match column:
            case Integer():
                return int(float(value))
            case Real():
                return float(value)
            case Boolean():
                return value.lower() in ("true", "t", "1", "yes")
            case Date():
                return date.fromisoformat(value[:10])
    except ValueError:
        return None
    return value
