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

_LONGEST = 100_000
_FORMS = "comparisons of a column with a constant, IN, BETWEEN, IS NULL, AND, OR, NOT"


def parse_condition(text: str) -> Predicate:
    """The condition a text stands for.

    >>> parse_condition("age >= 18")
    Compare(column='age', operator='>=', value=18)
    """
    import sqlglot
    from sqlglot import errors, exp

    if len(text) > _LONGEST:
        raise InputError("where", text, f"at most {_LONGEST:,} characters")
    try:
        tokens = sqlglot.tokenize(f"SELECT 1 WHERE {text}", read="duckdb")
        # Comments hang on tokens; a semicolon would end the condition.
        if any(token.comments or token.token_type.name == "SEMICOLON" for token in tokens):
            raise InputError("where", text, f"one condition without comments: {_FORMS}")
        trees = sqlglot.parse(f"SELECT 1 WHERE {text}", read="duckdb")
        tree = trees[0] if len(trees) == 1 else None
        if type(tree) is not exp.Select or {n for n, value in tree.args.items() if value} != {"expressions", "where"}:
            raise InputError("where", text, f"one condition: {_FORMS}")
        return _read(tree.args["where"].this)
    except (errors.SqlglotError, RecursionError):
        raise InputError("where", text, f"a condition: {_FORMS}") from None


def _read(node: Any) -> Predicate:
    from sqlglot import exp

    compare = {exp.EQ: "==", exp.NEQ: "!=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
    mirror = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
    match node:
        case exp.Paren():
            return _read(node.this)
        case exp.And():
            return And(tuple(_read(part) for part in _parts(node)))
        case exp.Or():
            return Or(tuple(_read(part) for part in _parts(node)))
        case exp.Not():
            return Not(_read(node.this))
        case exp.Between() if not node.args.get("symmetric"):
            name = _column(node.this)
            low, high = _constant(node.args["low"]), _constant(node.args["high"])
            return And((Compare(name, ">=", low), Compare(name, "<=", high)))
        case exp.In() if not any(node.args.get(k) for k in ("query", "unnest", "field", "is_global")):
            return IsIn(_column(node.this), tuple(_constant(value) for value in node.expressions))
        case exp.Is() if isinstance(node.expression, exp.Null):
            return IsMissing(_column(node.this))
        case _ if type(node) in compare:
            operator = compare[type(node)]
            if isinstance(node.left, exp.Column):
                return Compare(_column(node.left), operator, _constant(node.right))
            return Compare(_column(node.right), mirror[operator], _constant(node.left))
        case exp.Column():
            return Compare(_column(node), "==", True)
    raise InputError("where", node.sql(), _FORMS)


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


def _column(node: Any) -> str:
    from sqlglot import exp

    if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier) and not node.table:
        return str(node.name)
    raise InputError("where", node.sql(), f"a plain column name on one side; {_FORMS}")


def _constant(node: Any) -> Any:
    from sqlglot import exp

    match node:
        case exp.Literal():
            if node.is_string:
                return str(node.this)
            return _number(str(node.this))
        case exp.Boolean():
            return bool(node.this)
        case exp.Neg() if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return -_constant(node.this)
        case exp.Cast() if isinstance(node.this, exp.Literal) and node.this.is_string and node.to.is_type("date"):
            if not {name for name, value in node.args.items() if value} - {"this", "to"}:
                return str(node.this.this)
    raise InputError("where", node.sql(), f"a constant (number, 'text', true, false, DATE '2024-12-31'); {_FORMS}")


def _number(text: str) -> int | Decimal:
    if not text.isascii():
        raise InputError("where", text, "a number in plain digits")
    try:
        return int(text) if text.isdigit() else Decimal(text)
    except (ArithmeticError, ValueError):
        raise InputError("where", text, "a number") from None
