"""Conditions written as people write them: "age >= 18 and county in ('Ash', 'Elm')".

The text is parsed as SQL and read through an allow-list; what is not on it is refused with a pointer to the place. The
text itself never reaches an engine.
"""

from __future__ import annotations

from typing import Any

from discreet.data.text import read_column, read_constant, read_statement
from discreet.errors import InputError
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Not, Or, Predicate

__all__ = ["parse_condition", "read_condition"]

_FORMS = "made of comparisons of a column with a constant, IN, BETWEEN, IS NULL, AND, OR, NOT"


def parse_condition(text: str) -> Predicate:
    """The condition a text stands for.

    >>> parse_condition("age >= 18")
    Compare(column='age', operator='>=', value=18)
    """
    from sqlglot import exp

    tree = read_statement(f"SELECT 1 WHERE {text}", "where", text)
    if type(tree) is not exp.Select or {n for n, value in tree.args.items() if value} != {"expressions", "where"}:
        raise InputError("where", text, f"one condition, {_FORMS}")
    try:
        return read_condition(tree.args["where"].this)
    except RecursionError:
        raise InputError("where", text, f"a shorter condition, {_FORMS}") from None


def read_condition(node: Any) -> Predicate:
    """The condition a parsed expression stands for."""
    from sqlglot import exp

    compare = {exp.EQ: "==", exp.NEQ: "!=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
    mirror = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
    match node:
        case exp.Paren():
            return read_condition(node.this)
        case exp.And():
            return And(tuple(read_condition(part) for part in _parts(node)))
        case exp.Or():
            return Or(tuple(read_condition(part) for part in _parts(node)))
        case exp.Not():
            return Not(read_condition(node.this))
        case exp.Between() if not node.args.get("symmetric"):
            name = read_column(node.this)
            low, high = read_constant(node.args["low"]), read_constant(node.args["high"])
            return And((Compare(name, ">=", low), Compare(name, "<=", high)))
        case exp.In() if not any(node.args.get(k) for k in ("query", "unnest", "field", "is_global")):
            return IsIn(read_column(node.this), tuple(read_constant(value) for value in node.expressions))
        case exp.Is() if isinstance(node.expression, exp.Null):
            return IsMissing(read_column(node.this))
        case _ if type(node) in compare:
            operator = compare[type(node)]
            if isinstance(node.left, exp.Column):
                return Compare(read_column(node.left), operator, read_constant(node.right))
            return Compare(read_column(node.right), mirror[operator], read_constant(node.left))
        case exp.Column():
            return Compare(read_column(node), "==", True)
    listed = isinstance(node, (exp.Like, exp.ILike, exp.SimilarTo, exp.RegexpLike))
    raise InputError("where", node.sql(), _FORMS, "List the values: column IN ('a', 'b')." if listed else "")


def _parts(node: Any) -> list[Any]:
    """The parts of a chain of ANDs or of ORs, in order."""
    found, waiting = [], [node]
    while waiting:
        part = waiting.pop()
        if type(part) is type(node):
            waiting += [part.right, part.left]
        else:
            found.append(part)
    return found
