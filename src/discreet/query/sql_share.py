"""Ratios of counts in SQL that are shares: COUNT(*) FILTER (WHERE condition) / COUNT(*) is one output, not two."""

from __future__ import annotations

from typing import Any

__all__ = ["with_shares"]


def with_shares(tree: Any) -> Any:
    """A statement in which every share that is written as a ratio of counts is SHARE(condition).

    A ratio whose numerator is asked for elsewhere too stays one: then it is computed of what is published anyway.
    """
    from sqlglot import exp

    ratios = [node for node in tree.find_all(exp.Div) if _parts(node) is not None]
    for node in ratios:
        parts = _parts(node)
        if parts is None or _elsewhere(tree, parts[0], node):
            continue
        _, condition, factors = parts
        made: Any = exp.Anonymous(this="SHARE", expressions=[condition.copy()])
        for factor in factors:
            made = exp.Mul(this=factor.copy(), expression=made)
        whole = exp.Paren(this=made) if factors else made
        if node is tree:
            return whole
        node.replace(whole)
    return tree


def _elsewhere(tree: Any, numerator: Any, ratio: Any) -> bool:
    """Whether a count is asked for outside of a ratio."""
    same = [node for node in tree.find_all(type(numerator)) if node == numerator]
    return any(node.find_ancestor(type(ratio)) is None for node in same)


def _parts(ratio: Any) -> tuple[Any, Any, list[Any]] | None:
    """The count above, its condition, and the numbers it is multiplied by; None if it is no share."""
    from sqlglot import exp

    if type(ratio) is not exp.Div:
        return None
    below, divisors, real_below = _bare(ratio.expression)
    if divisors or not _all_rows(below):
        return None  # over more or less than all rows
    above, factors, real = _bare(ratio.this)
    condition = _condition(above)
    if condition is None or (ratio.args.get("typed") and not real and not real_below):
        return None  # whole numbers are divided without a rest there
    return above, condition, factors


def _bare(node: Any) -> tuple[Any, list[Any], bool]:
    """A count without brackets, casts and factors; the factors but 1; and whether one of them is no whole number."""
    from sqlglot import exp

    factors, real = [], False
    while True:
        if type(node) is exp.Paren:
            node = node.this
        elif type(node) in (exp.Cast, exp.TryCast) and node.to.is_type(*exp.DataType.REAL_TYPES):
            node, real = node.this, True
        elif type(node) is exp.Nullif and _is_zero(node.expression):
            node = node.this
        elif type(node) is exp.Mul and any(_is_number(side) for side in (node.this, node.expression)):
            number, node = (node.this, node.expression) if _is_number(node.this) else (node.expression, node.this)
            real = real or not str(number.this).isdigit()
            if float(number.this) != 1:
                factors.append(number)
        else:
            return node, factors, real


def _uncast(node: Any) -> Any:
    """An expression without brackets and casts to whole numbers."""
    from sqlglot import exp

    while type(node) is exp.Paren or (type(node) is exp.Cast and node.to.is_type(*exp.DataType.INTEGER_TYPES)):
        node = node.this
    return node


def _is_number(node: Any) -> bool:
    from sqlglot import exp

    return type(node) is exp.Literal and not node.is_string


def _is_zero(node: Any) -> bool:
    return _is_number(node) and float(node.this) == 0


def _all_rows(node: Any) -> bool:
    """COUNT(*) or COUNT(1)."""
    from sqlglot import exp

    return type(node) is exp.Count and (type(node.this) is exp.Star or _is_number(node.this))


def _condition(node: Any) -> Any | None:
    """What COUNT(*) FILTER (WHERE ...), COUNT_IF(...), SUM(condition) or SUM(CASE WHEN ... THEN 1 END) counts."""
    from sqlglot import exp

    if type(node) is exp.Filter and _all_rows(node.this):
        return node.expression.this
    if type(node) is exp.CountIf:
        return node.this
    case = node.this if type(node) in (exp.Sum, exp.Count) else None
    if type(node) is exp.Sum:
        case = _uncast(case)
        if isinstance(case, exp.Predicate | exp.Connector | exp.Not):
            return case
    if type(case) is not exp.Case or case.this is not None or len(case.args["ifs"]) != 1:
        return None
    (only,), other = case.args["ifs"], case.args.get("default")
    one = _is_number(only.args["true"]) and float(only.args["true"].this) == 1
    zero = other is None or type(other) is exp.Null or (type(node) is exp.Sum and _is_zero(other))
    return only.this if one and zero else None
