"""The rows a statement is about: the table, public tables joined to it, and subqueries that map and filter rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.data.column import Category
from discreet.data.expression import Call, Constant, Expression, Name
from discreet.data.expression.domain import Domain
from discreet.data.expression.read import Reader
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.person_table import PersonTable
from discreet.query.sql_hint import only, refuse
from discreet.query.sql_public import PublicTables
from discreet.query.sql_scope import computes

__all__ = ["Relation", "Relations", "RowReader", "aliased", "column_names", "renamed"]

_PLAIN = ("expressions", "from", "joins", "where", "with", "kind", "hint")


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows under names: what each column is, over the columns of the table itself, and which rows are among them."""

    columns: Mapping[str, Expression]
    conditions: tuple[Expression, ...] = ()
    persons: PersonTable | None = None
    """The table of persons that the columns are of, if not of the table itself."""


@dataclass(slots=True)
class Relations:
    """What FROM, JOIN and WITH make known to a statement."""

    schema: Schema
    dialect: str
    named: dict[str, Relation] = field(default_factory=dict)
    """Those of WITH, by name in lower case."""
    visible: dict[str, Relation] = field(default_factory=dict)
    """Those of FROM and JOIN, by alias in lower case."""
    persons: PersonTable | None = None
    """What FROM is computed of, where it is a table of persons."""

    @property
    def about(self) -> Schema:
        """What is declared about the rows that expressions are over."""
        return self.schema if self.persons is None else self.persons.schema(self.schema)

    def reader(self) -> Reader:
        """What reads expressions about these rows."""
        return RowReader(self)

    def column(self, node: Any) -> Expression:
        """What a column of the statement stands for."""
        name, qualifier = str(node.name), str(node.table or "").lower()
        if qualifier and qualifier not in self.visible:
            raise refuse(node, "a column of a table that is named in FROM", among=sorted(self.visible))
        known = [self.visible[qualifier]] if qualifier else list(self.visible.values())
        for relation in known:
            if name in relation.columns:
                return relation.columns[name]
        alike = {
            each: relation.columns[each]
            for relation in known
            for each in relation.columns
            if each.lower() == name.lower()
        }
        if len({str(each) for each in alike.values()}) == 1:
            return next(iter(alike.values()))
        there = sorted({each for relation in known for each in relation.columns})
        if alike:
            raise refuse(node, f"one of {', '.join(sorted(alike))}, which differ in upper and lower case alone")
        quoted = node.this.args.get("quoted") and self.dialect == "duckdb"
        raise refuse(node, "a declared column", "Quote text with single quotes." if quoted else "", among=there)

    def conditions(self) -> list[Expression]:
        """What the rows must meet, besides WHERE."""
        return [condition for relation in self.visible.values() for condition in relation.conditions]

    def read(self, tree: Any) -> Relations:
        """The rows of a SELECT: those of WITH, FROM and JOIN."""
        inner = Relations(self.schema, self.dialect, dict(self.named))
        if views := tree.args.get("with") or tree.args.get("with_"):
            only(views, "expressions")
            for view in views.expressions:
                inner._view(view)
        source = tree.args.get("from") or tree.args.get("from_")
        if source is None:
            raise refuse(tree, f"a statement with FROM {self.schema.name}")
        only(source, "this")
        alias, relation = inner._table(source.this)
        inner.visible[alias], inner.persons = relation, relation.persons
        if inner.persons is not None and tree.args.get("joins"):
            hint = "Join it inside the subquery."
            raise refuse(tree.args["joins"][0], "left out beside a subquery about persons", hint)
        for join in tree.args.get("joins") or ():
            inner._join(join, tree.args.get("where"))
        return inner

    def _view(self, view: Any) -> None:
        only(view, "this", "alias")
        only(view.args["alias"], "this", "columns")
        name = str(view.alias).lower()
        if name in self.named or name in (self.schema.name.lower(), *(each.lower() for each in self.schema.lookups)):
            raise refuse(view, "a name that is not taken")
        self.named[name] = self._renamed(view)

    def _table(self, node: Any) -> tuple[str, Relation]:
        """A table or subquery, and the name it goes by."""
        from sqlglot import exp

        if type(node) is exp.Subquery:
            only(node, "this", "alias")
            return str(node.alias or "").lower(), self._renamed(node)
        if type(node) is not exp.Table or type(node.this) is not exp.Identifier:
            raise refuse(node, f"the name of a table: {self.schema.name}")
        only(node, "this", "alias", "db", "catalog")
        if node.args.get("alias"):
            only(node.args["alias"], "this")
        name = str(node.name).lower()
        alias = str(node.alias or node.name).lower()
        if name in self.named and not node.args.get("db"):
            return alias, self.named[name]
        if name.rpartition(".")[2] == self.schema.name.lower():
            return alias, Relation({each: Name(each) for each in self.schema.columns})
        among = [self.schema.name, *self.named]
        hint = ""
        if name in (each.lower() for each in self.schema.lookups):
            hint = f"Start from {self.schema.name}, and JOIN the public table."
        raise refuse(node, "a table", hint, among=among)

    def _renamed(self, node: Any) -> Relation:
        """The rows of a subquery or a view, under the names that its alias gives them: t(a, b)."""
        from sqlglot import exp

        names, tree = column_names(node), node.this
        if not names:
            return self._rows(tree)
        if type(tree) is exp.Select:
            tree = tree.copy()
            for place, item in enumerate(tree.expressions):
                if type(item) not in (exp.Alias, exp.Column, exp.Star):  # its name is the one of the alias
                    item.replace(exp.alias_(item.copy(), f"unnamed_{place + 1}"))
        rows = self._rows(tree)
        if type(tree) is exp.Select and not tree.is_star and len(rows.columns) != len(tree.expressions):
            raise refuse(node, "a subquery of columns with different names", "Use AS to name them.")
        given = renamed(list(rows.columns), names, node)
        return replace(rows, columns=dict(zip(given, rows.columns.values(), strict=True)))

    def _rows(self, tree: Any) -> Relation:
        """SELECT columns and expressions FROM rows WHERE ..., as rows."""
        from sqlglot import exp

        if type(tree) is not exp.Select:
            raise refuse(tree, "SELECT ... FROM ... WHERE ... in a subquery")
        if tree.args.get("group") or tree.args.get("distinct") or any(map(computes, tree.expressions)):
            return self._persons(tree)
        only(tree, *_PLAIN)
        inner = self.read(tree)
        reader = inner.reader()
        columns: dict[str, Expression] = {}
        for item in tree.expressions:
            if type(item) is exp.Star or (type(item) is exp.Column and type(item.this) is exp.Star):
                only(item if type(item) is exp.Star else item.this)
                table = str(item.table).lower() if type(item) is exp.Column else ""
                for alias, relation in inner.visible.items():
                    if table in ("", alias):
                        columns.update(relation.columns)
            elif type(item) is exp.Alias:
                columns[str(item.alias)] = reader.read(item.this)
            elif type(item) is exp.Column:
                columns[str(item.name)] = reader.read(item)
            else:
                raise refuse(item, "a column with a name", "Use AS to name it.")
        conditions = inner.conditions()
        if where := tree.args.get("where"):
            conditions.append(reader.read(where.this))
        return Relation(columns, tuple(conditions), inner.persons)

    def _persons(self, tree: Any) -> Relation:
        """SELECT person, aggregates FROM rows WHERE ... GROUP BY person HAVING ..., as a row for each person."""
        from discreet.query.sql_person import PersonStatement

        only(tree, *_PLAIN, "group", "having", "distinct")
        if tree.args.get("group"):
            only(tree.args["group"], "expressions")
        if tree.args.get("distinct"):
            only(tree.args["distinct"])
        inner = self.read(tree)
        if inner.persons is not None:
            raise refuse(tree, "a subquery about the rows of the table: persons are gathered once")
        conditions = inner.conditions()
        if where := tree.args.get("where"):
            conditions.append(inner.reader().read(where.this))
        persons, columns, later = PersonStatement(self.schema, inner).read(tree, conditions)
        return Relation(columns, tuple(later), persons)

    def _join(self, join: Any, where: Any = None) -> None:
        """[LEFT] JOIN of a declared public table by its key: its columns are there already, and an inner join drops the
        rows whose key is not listed."""
        from sqlglot import exp

        only(join, "this", "using", "on", "side", "kind", "method")
        table = join.this
        names = {name.lower(): name for name in self.schema.lookups}
        shapes = [f"JOIN {name} USING ({lookup.key})" for name, lookup in self.schema.lookups.items()]
        allowed = "a declared public table: " + (", ".join(shapes) or "none is declared in [lookups]")
        if type(table) is not exp.Table or str(table.name).lower() not in names:
            raise refuse(join, allowed, "Declare it in the schema, with its key.")
        only(table, "this", "alias", "db", "catalog")
        name = names[str(table.name).lower()]
        lookup = self.schema.lookups[name]
        alias = str(table.alias or table.name).lower()
        before = dict(self.visible)
        public = Relation({each: Name(each) for each in (lookup.key, *lookup.columns)})
        self.visible[alias] = public
        side, kind = (str(join.args.get(part) or "").upper() for part in ("side", "kind"))
        if (side, kind) not in (("LEFT", ""), ("LEFT", "OUTER"), ("", ""), ("", "INNER")):
            raise refuse(join, "JOIN or LEFT JOIN")
        using = [str(part.name).lower() for part in join.args.get("using") or ()]
        if method := str(join.args.get("method") or "").upper():
            shared = {name.lower() for name in self.schema.stored} & {name.lower() for name in lookup.table}
            if method != "NATURAL" or shared != {lookup.key.lower()}:
                raise refuse(join, allowed)
            using = [lookup.key.lower()]
        comma = where is not None and not any(join.args.get(part) for part in ("on", "using", "method", "kind"))
        links = list(where.this.flatten()) if comma and type(where.this) is exp.And else [where.this] if comma else []
        links = links or [join.args.get("on")]  # FROM a, b WHERE a.key = b.key: the condition stays one on rows
        if using != [lookup.key.lower()] and not any(self._matches(on, alias, lookup.key, before) for on in links):
            raise refuse(join, allowed)
        if side == "LEFT":
            return
        column = self.schema.columns[lookup.key]
        if not isinstance(column, Category):
            raise refuse(join, "a LEFT JOIN, since the key is no category")
        listed = [value for value in lookup.table[lookup.key] if value in column.values]
        if set(listed) != set(column.values) or column.nullable:
            condition = Call("in", (Name(lookup.key), *(Constant(value) for value in listed)))
            self.visible[alias] = Relation(public.columns, (condition,))

    def _matches(self, on: Any, alias: str, key: str, before: Mapping[str, Relation]) -> bool:
        """Whether ON compares the key of a public table with the same column of the table."""
        from sqlglot import exp

        while type(on) is exp.Paren:
            on = on.this
        if type(on) is not exp.EQ or type(on.left) is not exp.Column or type(on.right) is not exp.Column:
            return False
        sides = [str(side.table or "").lower() for side in (on.left, on.right)]
        if sorted(side == alias for side in sides) != [False, True]:
            return False
        mine = on.right if sides[0] == alias else on.left
        theirs = on.left if sides[0] == alias else on.right
        if str(theirs.name).lower() != key.lower():
            return False
        outer = Relations(self.schema, self.dialect, {}, dict(before))
        try:
            found = outer.column(mine)
        except InputError:
            return False
        return isinstance(found, Name) and found.name == key


def column_names(node: Any) -> list[str]:
    """The names that the alias of a subquery or a view gives to its columns."""
    alias = node.args.get("alias")
    return [str(each.name) for each in (alias.args.get("columns") or ())] if alias else []


def aliased(tree: Any) -> list[str]:
    """The names that FROM gives to the columns of its subquery or view."""
    from sqlglot import exp

    source, views = (tree.args.get(name) or tree.args.get(f"{name}_") for name in ("from", "with"))
    table = None if source is None else source.this
    if type(table) is exp.Table and views and not column_names(table):
        table = next((v for v in views.expressions if str(v.alias).lower() == str(table.name).lower()), table)
    return [] if table is None else column_names(table)


def renamed(names: list[str], given: list[str], node: Any) -> list[str]:
    """The names of columns, the first ones as they are given."""
    found = [*given, *names[len(given) :]]
    if len(given) > len(names) or len({name.lower() for name in found}) < len(found):
        raise refuse(node, f"an alias with at most {len(names)} different names of columns")
    return found


class RowReader(Reader):
    """Reads expressions about the rows of a statement; subqueries in them are about public tables."""

    def __init__(self, rows: Relations) -> None:
        super().__init__("sql", rows.dialect, rows.column)
        self.rows = rows
        self.public = PublicTables(rows.schema, rows.dialect)

    def domain_of(self, value: Expression) -> Domain | None:
        """What an expression can be, by what is declared."""
        if isinstance(value, Constant):
            return super().domain_of(value)
        schema = self.rows.about
        try:
            name = value.name if isinstance(value, Name) else str(value)
            return schema.domain(schema.canonical(name, "sql"), "sql")
        except InputError:
            return None  # which is said of the whole

    def read(self, node: Any) -> Expression:
        """The expression a parsed piece stands for."""
        from sqlglot import exp

        match node:
            case exp.In() if node.args.get("query"):
                only(node, "this", "query")
                return self.public.among(node.args["query"], self.read(node.this))
            case exp.Exists():
                return self.public.exists(node, self)
            case exp.Subquery():
                return self.public.scalar(node)
        return super().read(node)
