"""Means of clipped vectors in SQL: AVG(x / GREATEST(1, SQRT(x*x + y*y) / c)) and the same of y are one vector."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.query.sql_scope import unwrapped

__all__ = ["clipped_mean", "with_vectors"]


def clipped_mean(column: str, vector: list[str], norm: str) -> str:
    """One coordinate of the mean of vectors that are cut to a length, as any engine would compute it.

    >>> clipped_mean("x", ["x", "y"], "2")
    'AVG(x / GREATEST(1, SQRT(x * x + y * y) / 2))'
    """
    return f"AVG({column} / GREATEST(1, SQRT({' + '.join(f'{each} * {each}' for each in vector)}) / {norm}))"


def with_vectors(tree: Any) -> Any:
    """A statement in which such means are VECTOR_MEAN(coordinate, length, vector), where all coordinates are asked for.

    Where one is missing, or is squared twice, they stay means of one number each: nobody asked for the vector.
    """
    from sqlglot import exp

    vectors: dict[tuple[str, ...], list[tuple[Any, list[Any]]]] = {}
    for node in tree.find_all(exp.Avg, exp.Anonymous):
        if (parts := _parts(node)) is not None:
            rows = node.parent.expression.sql() if type(node.parent) is exp.Filter else ""
            _, norm, vector = parts
            key = (rows, str(float(norm.this)), *(each.sql() for each in vector))
            vectors.setdefault(key, []).append((node, parts))
    for key, found in vectors.items():
        coordinates = {*key[2:]}
        if {parts[0].sql() for _, parts in found} == coordinates and len(coordinates) == len(key) - 2 > 1:
            for node, (coordinate, norm, vector) in found:
                made = [coordinate.copy(), norm.copy(), *(each.copy() for each in vector)]
                node.replace(exp.Anonymous(this="VECTOR_MEAN", expressions=made))
    return tree


def _parts(mean: Any) -> Any:
    """The coordinate, the length and the vector of AVG(x / GREATEST(1, SQRT(x*x + y*y) / c)); None if it is no such."""
    from sqlglot import exp

    named = type(mean) is exp.Anonymous and str(mean.this).upper() == "MEAN" and len(mean.expressions) == 1
    ratio = unwrapped(mean.expressions[0] if named else mean.this)
    if type(ratio) is not exp.Div:
        return None
    most = unwrapped(ratio.expression)
    if type(most) is not exp.Greatest:
        return None
    ends = [unwrapped(each) for each in (most.this, *most.expressions)]
    lengths = [each for each in ends if _number(each) != 1]
    if len(ends) != 2 or len(lengths) != 1 or type(lengths[0]) is not exp.Div:
        return None
    root, norm = unwrapped(lengths[0].this), unwrapped(lengths[0].expression)
    if type(root) is not exp.Sqrt or _number(norm) is None:
        return None
    squares = [_square(each) for each in _terms(unwrapped(root.this))]
    return None if None in squares else (unwrapped(ratio.this), norm, squares)


def _terms(node: Any) -> Iterator[Any]:
    from sqlglot import exp

    if type(node) is exp.Add:
        yield from _terms(unwrapped(node.this))
        yield from _terms(unwrapped(node.expression))
    else:
        yield node


def _square(node: Any) -> Any:
    """What x*x, POWER(x, 2) and x^2 are the square of; None if it is no square."""
    from sqlglot import exp

    sides = [unwrapped(each) for each in (node.this, node.args.get("expression")) if isinstance(each, exp.Expression)]
    if len(sides) != 2:
        return None
    if type(node) is exp.Mul and sides[0].sql() == sides[1].sql():
        return sides[0]
    return sides[0] if type(node) is exp.Pow and _number(sides[1]) == 2 else None


def _number(node: Any) -> float | None:
    """The number that is written; None if it is none."""
    from sqlglot import exp

    if type(node) is not exp.Literal or node.is_string:
        return None
    try:
        return float(node.this)
    except ValueError:
        return None
