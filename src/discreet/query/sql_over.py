"""FUNCTION(...) OVER (...) in a statement: windows over released rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.data.text import read_constant
from discreet.query.over import RANKS, Over
from discreet.query.sql_hint import only, refuse

__all__ = ["read_over"]

_ALLOWED = (
    "SUM, AVG, MIN, MAX, COUNT(*), LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTH_VALUE, RANK, DENSE_RANK, PERCENT_RANK, "
    "CUME_DIST, ROW_NUMBER or NTILE over released rows"
)
_HINT = "There are no windows over rows: use GROUP BY, and windows over aggregates: SUM(COUNT(*)) OVER ()."
_NAMED = {
    "Sum": "sum",
    "Avg": "avg",
    "Min": "min",
    "Max": "max",
    "Lag": "lag",
    "Lead": "lead",
    "Rank": "rank",
    "DenseRank": "dense_rank",
    "RowNumber": "row_number",
    "Ntile": "ntile",
    "PercentRank": "percent_rank",
    "CumeDist": "cume_dist",
    "FirstValue": "first_value",
    "LastValue": "last_value",
    "NthValue": "nth_value",
}
_PLAIN = ("RANK", "DENSE_RANK", "NTILE", "PERCENT_RANK", "CUME_DIST", "ROW_NUMBER")
"""What older parsers have no words for."""
_ORDERED = (*RANKS, "lag", "lead", "first_value", "last_value", "nth_value")


def read_over(node: Any, column: Callable[[Any], str]) -> Over:
    """The window that a parsed piece stands for; `column` says which published column a part of it is."""
    from sqlglot import exp

    only(node, "this", "partition_by", "order", "over", "spec")
    inner = node.this
    function = _NAMED.get(type(inner).__name__)
    if type(inner) is exp.Anonymous:
        named = str(inner.this).upper()
        function = named.lower() if named in _PLAIN else None
    if type(inner) is exp.Count and type(inner.this) is exp.Star:
        function = "count"
    if function is None:
        raise refuse(node, _ALLOWED, _HINT)
    order = _order(node, column)
    output, offset = None, 1
    if function == "ntile":
        given = inner.this if type(inner) is not exp.Anonymous else next(iter(inner.expressions), None)
        offset = _whole(given, node)
    elif function in ("lag", "lead", "nth_value"):
        only(inner, "this", "offset")
        stated = inner.args.get("offset")
        offset = _whole(stated, node) if stated is not None or function == "nth_value" else 1
        output = column(inner.this)
    elif function not in (*RANKS, "count"):
        only(inner, "this")
        output = column(inner.this)
    if function in _ORDERED and not order:
        raise refuse(node, f"{function.upper()} with an order: OVER (ORDER BY ...)")
    by = tuple(column(part) for part in node.args.get("partition_by") or ())
    whole = _is_whole(node)
    frame, ties = (None, True) if whole else _frame(node, bool(order))
    words = [
        function,
        output or "",
        *by,
        *(f"{name} {down}" for name, down in order),
        str(frame),
        str(offset),
        str(ties),
        *(["whole"] if whole else []),
    ]
    return Over(f"over {' '.join(words)}", output, by, function, order, frame, offset, whole, ties)


def _order(node: Any, column: Callable[[Any], str]) -> tuple[tuple[str, bool], ...]:
    order = node.args.get("order")
    if not order:
        return ()
    only(order, "expressions")
    for part in order.expressions:
        only(part, "this", "desc", "nulls_first")
    return tuple((column(part.this), bool(part.args.get("desc"))) for part in order.expressions)


def _whole(node: Any, window: Any) -> int:
    value = None if node is None else read_constant(node, "sql")
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise refuse(window, "a window with a whole number, 1 or more")
    return value


def _is_whole(node: Any) -> bool:
    """Whether a window is of all rows, before and after."""
    spec = node.args.get("spec")
    parts = ("start", "start_side", "end", "end_side")
    ends = [] if not spec else [str(spec.args.get(part) or "").upper() for part in parts]
    return ends == ["UNBOUNDED", "PRECEDING", "UNBOUNDED", "FOLLOWING"] and not spec.args.get("exclude")


def _frame(node: Any, ordered: bool) -> tuple[int | None, bool]:
    """How many rows before one are in its window (None for all), and whether those that tie with it are."""
    spec = node.args.get("spec")
    if not spec:
        return None, True
    only(spec, "kind", "start", "start_side", "end", "end_side")
    kind, start, side = (str(spec.args.get(part) or "").upper() for part in ("kind", "start", "start_side"))
    end = str(spec.args.get("end") or "CURRENT ROW").upper()
    if not ordered or side != "PRECEDING" or end != "CURRENT ROW" or kind not in ("ROWS", "RANGE"):
        raise refuse(node, "ROWS BETWEEN n PRECEDING AND CURRENT ROW, or UNBOUNDED PRECEDING, in an order")
    if start == "UNBOUNDED":
        return None, kind == "RANGE"
    if kind != "ROWS":
        raise refuse(node, "ROWS BETWEEN n PRECEDING AND CURRENT ROW")
    return _whole(spec.args["start"], node), False
