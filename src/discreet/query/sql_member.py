"""COUNT(DISTINCT person) WHERE person IN (SELECT person ...): which persons are meant, as a table of persons."""

from __future__ import annotations

from typing import Any

from discreet.data.schema import Schema
from discreet.query.sql_scope import computes

__all__ = ["of_persons"]

_OTHERS = ("group", "having", "order", "limit", "offset", "joins", "distinct", "qualify", "with", "with_")


def of_persons(tree: Any, schema: Schema) -> Any:
    """A statement that counts persons by a subquery about the table itself, as one about a table of persons.

    Who is in the subquery has rows in the table, so both count the same persons. Others are as they were.
    """
    from sqlglot import exp

    person = str(schema.unit.column or "").lower()
    if not person or type(tree) is not exp.Select or any(tree.args.get(clause) for clause in _OTHERS):
        return tree
    where, source = tree.args.get("where"), tree.args.get("from_") or tree.args.get("from")
    if where is None or source is None or not _is_table(source.this, schema):
        return tree
    if not all(_counts(item.unalias(), person) for item in tree.expressions):
        return tree
    inner = _members(where.this, source.this, person, schema)
    if inner is None:
        return tree
    counted = [exp.alias_(exp.Count(this=exp.Star()), item.alias or "persons") for item in tree.expressions]
    return exp.select(*counted).from_(inner.subquery("members"))


def _is_table(node: Any, schema: Schema) -> bool:
    from sqlglot import exp

    return type(node) is exp.Table and str(node.name).lower().rpartition(".")[2] == schema.name.lower()


def _is_person(node: Any, person: str) -> bool:
    from sqlglot import exp

    return type(node) is exp.Column and str(node.name).lower() == person


def _counts(node: Any, person: str) -> bool:
    """Whether a piece is COUNT(DISTINCT person)."""
    from sqlglot import exp

    inner = node.this if type(node) is exp.Count else None
    return type(inner) is exp.Distinct and len(inner.expressions) == 1 and _is_person(inner.expressions[0], person)


def _members(node: Any, table: Any, person: str, schema: Schema) -> Any | None:
    """The SELECT of the persons that a condition leaves, each once; None if it is not about them alone."""
    from sqlglot import exp

    while type(node) is exp.Paren:
        node = node.this
    if type(node) is exp.In and _is_person(node.this, person) and type(node.args.get("query")) is exp.Subquery:
        inner = node.args["query"].this.copy()
        source = inner.args.get("from_") or inner.args.get("from") if type(inner) is exp.Select else None
        if source is None or not _is_table(source.this, schema) or len(inner.expressions) != 1:
            return None
        if not _is_person(inner.expressions[0].unalias(), person) or inner.args.get("limit"):
            return None
        if inner.args.get("group"):
            return inner if _by_person(inner.args["group"], person) else None
        return None if inner.args.get("having") else inner.distinct()
    if type(node) is not exp.Exists or type(node.this) is not exp.Select:
        return None
    inner = node.this.copy()
    source, where = inner.args.get("from_") or inner.args.get("from"), inner.args.get("where")
    others = (*_OTHERS, "group")
    if source is None or where is None or not _is_table(source.this, schema):
        return None
    outer, own = (str(each.alias or each.name).lower() for each in (table, source.this))
    if outer == own or any(inner.args.get(clause) for clause in others) or any(map(computes, inner.expressions)):
        return None  # an aggregate without GROUP BY is a row for everybody
    parts = list(where.this.flatten()) if type(where.this) is exp.And else [where.this]
    linked = [part for part in parts if _links(part, person, outer, own)]
    rest = [part for part in parts if part not in linked]
    if len(linked) != 1 or any(str(each.table).lower() == outer for part in rest for each in part.find_all(exp.Column)):
        return None
    made = exp.select(exp.column(person)).distinct().from_(source.this)
    return made.where(*rest) if rest else made


def _by_person(group: Any, person: str) -> bool:
    """Whether groups are persons, and nothing else tells rows apart: each is then there once."""
    from sqlglot import exp

    others = [name for name, given in group.args.items() if given and name != "expressions"]
    if others or len(group.expressions) != 1:
        return False
    (node,) = group.expressions
    return _is_person(node, person) or (type(node) is exp.Literal and node.this == "1")


def _links(node: Any, person: str, outer: str, own: str) -> bool:
    """Whether a piece says that the persons of both tables are the same."""
    from sqlglot import exp

    if type(node) is not exp.EQ or not all(_is_person(side, person) for side in (node.left, node.right)):
        return False
    sides: tuple[Any, Any] = (node.left, node.right)
    return {str(side.table).lower() for side in sides} == {outer, own}
