"""Quantiles in SQL."""

from __future__ import annotations

from typing import Any

from discreet.data.text import read_column, read_constant
from discreet.query.sql_hint import only, refuse

__all__ = ["read_quantile"]


def read_quantile(node: Any) -> tuple[str, Any] | None:
    """The column and the quantile of MEDIAN(x), QUANTILE_CONT(x, q) or PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x)."""
    from sqlglot import exp

    if type(node) is exp.Median:
        only(node, "this")
        return read_column(node.this, "sql"), "1/2"
    if type(node) is exp.PercentileCont and node.expression:
        only(node, "this", "expression")
        return read_column(node.this, "sql"), _share(node, node.expression)
    if type(node) is exp.WithinGroup and type(node.this) is exp.PercentileCont:
        only(node, "this", "expression")
        only(node.this, "this")
        order = node.expression
        if type(order) is not exp.Order or len(order.expressions) != 1 or type(order.expressions[0]) is not exp.Ordered:
            raise refuse(node, "PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY column)")
        only(order, "expressions")
        only(order.expressions[0], "this", "nulls_first")
        share = _share(node, node.this.this)
        return read_column(order.expressions[0].this, "sql"), share
    return None


def _share(node: Any, q: Any) -> Any:
    share = read_constant(q, "sql")
    if isinstance(share, (str, bool)):
        raise refuse(node, "a quantile given as a number strictly between 0 and 1")
    return share
