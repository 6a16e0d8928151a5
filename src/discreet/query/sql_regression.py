"""Sums of squares and products of a regression in SQL, spelled out: a number of rows times a variance or covariance."""

from __future__ import annotations

from typing import Any

__all__ = ["spelled_out"]


def spelled_out(node: Any) -> Any:
    """REGR_SXX, REGR_SYY and REGR_SXY of (y, x) as products of aggregates; any other piece as it is."""
    from sqlglot import exp

    names = [str(node.this)] if type(node) is exp.Anonymous else node.sql_names() if isinstance(node, exp.Func) else []
    name = next((each.upper() for each in names if each.upper() in ("REGR_SXX", "REGR_SYY", "REGR_SXY")), None)
    if name is None:
        return node
    pair = node.expressions if type(node) is exp.Anonymous else [node.this, node.args.get("expression")]
    if len(pair) != 2 or None in pair:
        return node
    if name == "REGR_SXY":
        spread: Any = exp.CovarPop(this=pair[0].copy(), expression=pair[1].copy())
    else:
        spread = exp.VariancePop(this=_complete(*(pair[::-1] if name == "REGR_SXX" else pair)))
    return exp.Mul(this=exp.Count(this=_complete(*pair)), expression=spread)


def _complete(of: Any, other: Any) -> Any:
    """One of two columns where the other has a value too."""
    from sqlglot import exp

    gone = exp.Is(this=other.copy(), expression=exp.Null())
    return exp.Case(ifs=[exp.If(this=gone, true=exp.Null())], default=of.copy())
