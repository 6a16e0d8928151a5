"""What pieces of a statement are read in: the rows an aggregate is of, the released columns that others stand for."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, Protocol

from discreet.data.expression import Call, Constant, Expression, Name
from discreet.data.expression.node import quoted
from discreet.data.expression.read import Reader
from discreet.data.schema import Schema
from discreet.data.text import read_constant
from discreet.errors import InputError, nearest
from discreet.query.function import kinds
from discreet.query.over import Over
from discreet.query.sql_hint import grouped_by, instead, only, refuse, shown_aggregates
from discreet.query.sql_over import read_over
from discreet.query.sql_regression import spelled_out

__all__ = ["Computed", "Published", "Scope", "computes", "is_aggregate", "read_count", "reference", "unwrapped"]


@dataclass(frozen=True, slots=True)
class Scope:
    """What an aggregate is read in: the rows it is of."""

    schema: Schema
    reader: Reader
    condition: Expression | None = None
    """FILTER (WHERE ...): the rows that count."""

    @property
    def person(self) -> str | None:
        """The column that tells people apart, None where every row is its own."""
        return self.schema.unit.column

    def column(self, node: Any, *, number: bool = False) -> str:
        """The column or expression that a piece stands for, by its one name; missing where the condition is not met."""
        read = self.reader.read(node)
        if number and self.schema.domain(self.schema.canonical(reference(read), "sql"), "sql").kind == "boolean":
            read = Call("as_integer", (read,))
        return self.schema.canonical(reference(self.filtered(read)), "sql")

    def filtered(self, value: Expression) -> Expression:
        """A value where the condition is met, and missing elsewhere."""
        return value if self.condition is None else Call("case", (self.condition, value, Constant(None)))


def reference(expression: Expression) -> str:
    """The name of a column, or the text of an expression."""
    return expression.name if isinstance(expression, Name) else str(expression)


def unwrapped(node: Any) -> Any:
    """A piece without brackets around it."""
    from sqlglot import exp

    while type(node) is exp.Paren:
        node = node.this
    return node


def read_count(tree: Any, clause: str) -> int | None:
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


def computes(node: Any) -> bool:
    """Whether there is an aggregate in a piece, outside subqueries in it."""
    from sqlglot import exp

    return any(is_aggregate(part) for part in node.walk(prune=lambda part: type(part) is exp.Subquery))


def is_aggregate(node: Any) -> bool:
    """Whether a piece is an aggregate itself."""
    from sqlglot import exp

    if type(node) is exp.Filter or type(node) is exp.WithinGroup:
        return True
    if type(node).__name__ == "Grouping":  # older parsers have none
        return False
    if type(node) is exp.Bracket:  # APPROX_QUANTILES(x, 4)[OFFSET(2)]
        return isinstance(node.this, exp.AggFunc)
    named = type(node) is exp.Anonymous and str(node.this).upper() in _named(tuple(kinds()))
    return named or isinstance(node, exp.AggFunc)


@functools.lru_cache(maxsize=4)
def _named(registered: tuple[Any, ...]) -> frozenset[str]:
    """The names that functions of aggregates have in SQL; another aggregate may be registered at any time."""
    return frozenset(name for kind in registered for function in kind.functions for name in function.sql)


class Outputs(Protocol):
    """What a statement releases, as it is noted while it is read."""

    schema: Schema
    dialect: str
    references: dict[str, str]
    aliases: dict[str, str]
    overs: list[Over]

    def output(self, node: Any, label: str | None) -> str:
        """The name of an aggregate, noted if it is new."""

    def text_of(self, node: Any) -> str:
        """One text for all ways to write the same piece."""

    def aggregates(self, node: Any) -> bool:
        """Whether there is an aggregate in a piece."""

    def published(self, node: Any, label: str | None = None) -> str:
        """The released column that a piece stands for; one computed from others is noted if it is new."""

    def grouping(self, node: Any) -> str:
        """The column that says whether a key is rolled up."""

    def total(self, node: Any) -> Expression:
        """What a subquery of one number stands for."""

    def is_tied(self, name: str) -> bool:
        """Whether the rows of a released column have noise in common."""


class Published(Reader):
    """Reads pieces that stand for released columns: keys, aggregates, and arithmetic over them."""

    def __init__(self, statement: Outputs, label: str | None = None) -> None:
        super().__init__("sql", statement.dialect, self._released)
        self.statement = statement
        self.label = label
        self.depth = 0

    def read(self, node: Any) -> Expression:
        from sqlglot import exp

        statement, node = self.statement, unwrapped(node)
        node = node.this if type(node) is exp.IgnoreNulls else node
        if isinstance(node, exp.Window):
            return Name(self._over(node))
        if type(node).__name__ in ("Grouping", "GroupingId"):
            return self._grouping(node)
        if type(node) is exp.Subquery:
            return statement.total(node)
        if type(node) in (exp.AnyValue, exp.Min, exp.Max, exp.First, exp.Avg) and type(node.this) is exp.Subquery:
            return statement.total(node.this)  # the same in all rows
        if type(node) in (exp.AnyValue, exp.Min, exp.Max, exp.First) and (key := self._key(node.this)) is not None:
            return Name(key)  # the same in all rows of a group
        node = spelled_out(node)
        if is_aggregate(node):
            return Name(statement.output(node, self.label if self.depth == 0 else None))
        if not statement.aggregates(node) and type(node) is not exp.Literal:
            try:
                text = statement.text_of(node)
            except InputError:
                text = ""
            if text in statement.references:
                return Name(statement.references[text])
        self.depth += 1
        try:
            return super().read(node)
        finally:
            self.depth -= 1

    def _grouping(self, node: Any) -> Expression:
        """GROUPING(a, b): which of some keys are rolled up, the first one as the highest bit."""
        only(node, "expressions")
        made: Expression | None = None
        for part in node.expressions:
            bit = Name(self.statement.grouping(part))
            made = bit if made is None else Call("add", (Call("multiply", (made, Constant(2))), bit))
        if made is None:
            raise refuse(node, "GROUPING(key) of one of the keys of ROLLUP, CUBE or GROUPING SETS")
        return made

    def _key(self, node: Any) -> str | None:
        """The key that a piece is, if it is one."""
        try:
            return self.statement.references.get(self.statement.text_of(node))
        except InputError:
            return None

    def _cast(self, node: Any) -> Expression:
        """Days are published as text: DATE '2024-12-31' is compared as one."""
        from sqlglot import exp

        if node.to.is_type("date") and type(node.this) is exp.Literal and node.this.is_string:
            return Constant(str(node.this.this))
        return super()._cast(node)

    def unknown(self, node: Any) -> InputError:
        """A function that is not known: perhaps a misspelt aggregate."""
        return refuse(node, f"an aggregate: {shown_aggregates()}", instead(node) or super().unknown(node).hint)

    def _released(self, node: Any) -> Expression:
        name = str(node.name)
        if not node.table and name.lower() in self.statement.aliases:
            return Name(self.statement.aliases[name.lower()])
        columns = self.statement.schema.columns
        known = [*self.statement.aliases, *self.statement.references.values()]
        close = None if name in columns else nearest(name, [*known, *columns])
        meant = next((one for one in columns if one.lower() == name.lower()), min(columns))
        such = f"Such as {grouped_by(quoted(meant), columns[meant])}, or COUNT({quoted(meant)})."
        hint = instead(node.this) or (f"Did you mean `{close}`?" if close else such)
        raise refuse(node, "in GROUP BY, or inside an aggregate", hint)

    def _over(self, node: Any) -> str:
        """FUNCTION(aggregate) OVER ([PARTITION BY keys] [ORDER BY columns]): computed of published numbers."""
        made = read_over(node, self._shown)
        made = replace(made, common=made.output is not None and self.statement.is_tied(made.output))
        if made not in self.statement.overs:
            self.statement.overs.append(made)
        return made.name

    def _shown(self, node: Any) -> str:
        """The published column that a part of a window stands for."""
        return self.statement.published(node)


class Computed(Published):
    """Reads conditions on released rows: windows in them are columns of their own."""

    def _over(self, node: Any) -> str:
        return self.statement.published(node)
