"""Conditions written as people write them: "age >= 18 and county in ('Ash', 'Elm')".

The text is parsed as SQL and read through an allow-list; what is not on it is refused with a pointer to the place. The
text itself never reaches an engine.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from discreet.errors import InputError
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Not, Or, Predicate

__all__ = ["parse_condition"]

_FORMS = "comparisons of a column with a constant, IN, BETWEEN, IS NULL, AND, OR, NOT"


def parse_condition(text: str) -> Predicate:
    """The condition a text stands for.

    >>> parse_condition("age >= 18")
    Compare(column='age', operator='>=', value=18)
    """
    import sqlglot
    from sqlglot import errors

    try:
        trees = sqlglot.parse(f"SELECT 1 WHERE {text}", read="duckdb")
    except errors.SqlglotError:
        raise InputError("where", text, f"a condition: {_FORMS}") from None
    tree = trees[0] if len(trees) == 1 else None
    if tree is None or {name for name, value in tree.args.items() if value} - {"expressions", "where", "kind"}:
        raise InputError("where", text, f"one condition: {_FORMS}")
    where = tree.args.get("where")
    if where is None:
        raise InputError("where", text, f"a condition: {_FORMS}")
    return _read(where.this, text)


def _read(node: Any, text: str) -> Predicate:
    from sqlglot import exp

    compare = {exp.EQ: "==", exp.NEQ: "!=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
    mirror = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
    match node:
        case exp.Paren():
            return _read(node.this, text)
        case exp.And():
            return And((_read(node.left, text), _read(node.right, text)))
        case exp.Or():
            return Or((_read(node.left, text), _read(node.right, text)))
        case exp.Not():
            return Not(_read(node.this, text))
        case exp.Between() if not node.args.get("symmetric"):
            name = _column(node.this, text)
            low, high = _constant(node.args["low"], text), _constant(node.args["high"], text)
            return And((Compare(name, ">=", low), Compare(name, "<=", high)))
        case exp.In() if not any(node.args.get(k) for k in ("query", "unnest", "field", "is_global")):
            return IsIn(_column(node.this, text), tuple(_constant(value, text) for value in node.expressions))
        case exp.Is() if isinstance(node.expression, exp.Null):
            return IsMissing(_column(node.this, text))
        case _ if type(node) in compare:
            operator = compare[type(node)]
            if isinstance(node.left, exp.Column):
                return Compare(_column(node.left, text), operator, _constant(node.right, text))
            return Compare(_column(node.right, text), mirror[operator], _constant(node.left, text))
        case exp.Column():
            return Compare(_column(node, text), "==", True)
    raise InputError("where", node.sql(), _FORMS)


def _column(node: Any, text: str) -> str:
    from sqlglot import exp

    if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier) and not node.table:
        return str(node.name)
    raise InputError("where", node.sql(), f"a plain column name on one side; {_FORMS}")


def _constant(node: Any, text: str) -> Any:
    from sqlglot import exp

    match node:
        case exp.Literal():
            if node.is_string:
                return str(node.this)
            return int(node.this) if str(node.this).isdigit() else Decimal(node.this)
        case exp.Boolean():
            return bool(node.this)
        case exp.Neg() if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return -_constant(node.this, text)
        case exp.Cast() if isinstance(node.this, exp.Literal) and node.to.is_type("date"):
            return str(node.this.this)
    raise InputError("where", node.sql(), f"a constant (number, 'text', true, false, DATE '2024-12-31'); {_FORMS}")
