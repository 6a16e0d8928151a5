"""Conditions written as people write them: "age >= 18 and county in ('Ash', 'Elm')".

The text is parsed as SQL and read through an allow-list; what is not on it is refused with a pointer to the place. The
text itself never reaches an engine.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from discreet.errors import InputError
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Not, Or, Predicate

__all__ = ["parse_condition", "read_column", "read_condition", "read_constant", "read_statement"]

_LONGEST = 100_000
_FORMS = "comparisons of a column with a constant, IN, BETWEEN, IS NULL, AND, OR, NOT"


def parse_condition(text: str) -> Predicate:
    """The condition a text stands for.

    >>> parse_condition("age >= 18")
    Compare(column='age', operator='>=', value=18)
    """
    from sqlglot import exp

    tree = read_statement(f"SELECT 1 WHERE {text}", "where", text)
    if type(tree) is not exp.Select or {n for n, value in tree.args.items() if value} != {"expressions", "where"}:
        raise InputError("where", text, f"one condition: {_FORMS}")
    try:
        return read_condition(tree.args["where"].this)
    except RecursionError:
        raise InputError("where", text, f"a condition: {_FORMS}") from None


def read_statement(text: str, field: str = "sql", shown: str | None = None) -> Any:
    """The parsed tree of one statement, without comments. Parsing is all that happens to it here."""
    import sqlglot
    from sqlglot import errors

    written = text if shown is None else shown
    if len(text) > _LONGEST:
        raise InputError(field, written, f"at most {_LONGEST:,} characters")
    try:
        tokens = sqlglot.tokenize(text, read="duckdb")
        # Comments hang on tokens; a semicolon would begin another statement.
        if any(token.comments or token.token_type.name == "SEMICOLON" for token in tokens):
            raise InputError(field, written, "one statement, without comments and semicolons")
        trees = sqlglot.parse(text, read="duckdb")
    except (errors.SqlglotError, RecursionError):
        raise InputError(
            field, written, f"a condition: {_FORMS}" if field == "where" else "a SELECT statement"
        ) from None
    if len(trees) != 1 or trees[0] is None:
        raise InputError(field, written, "one statement")
    return trees[0]


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


def read_column(node: Any) -> str:
    """The name of a plain column."""
    from sqlglot import exp

    if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier) and not node.table:
        return str(node.name)
    raise InputError("where", node.sql(), f"a plain column name on one side; {_FORMS}")


def read_constant(node: Any) -> Any:
    """A number, a text, true or false."""
    from sqlglot import exp

    match node:
        case exp.Literal():
            if node.is_string:
                return str(node.this)
            return _number(str(node.this))
        case exp.Boolean():
            return bool(node.this)
        case exp.Neg() if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return -read_constant(node.this)
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
