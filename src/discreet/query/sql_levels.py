"""Several levels of groups in one GROUP BY: ROLLUP, CUBE and GROUPING SETS, as lists of what each groups by."""

from __future__ import annotations

import itertools
from typing import Any

from discreet.query.sql_hint import only, refuse

__all__ = ["grouping_sets"]

_MOST = 64


def grouping_sets(group: Any) -> list[list[Any]]:
    """What each level of a GROUP BY groups by, as parsed pieces; one level if it names no others."""
    from sqlglot import exp

    only(group, "expressions", "all", "rollup", "cube", "grouping_sets")
    sets: list[list[Any]] = [[]]
    plain: list[Any] = []
    for node in group.expressions:
        if type(node) in (exp.Rollup, exp.Cube, exp.GroupingSets):
            sets = _crossed(sets, _levels(node), group)
        else:
            plain += _several(node) if type(node) is exp.Tuple else [node]
    for kind in ("rollup", "cube", "grouping_sets"):
        for node in group.args.get(kind) or ():
            if not node.expressions and plain:  # GROUP BY a, b WITH ROLLUP
                node, plain = type(node)(expressions=plain), []
            sets = _crossed(sets, _levels(node), group)
    return [[*plain, *each] for each in sets]


def _crossed(sets: list[list[Any]], levels: list[list[Any]], group: Any) -> list[list[Any]]:
    found = [[*one, *other] for one in sets for other in levels]
    if len(found) > _MOST:
        raise refuse(group, f"at most {_MOST} levels of groups")
    return found


def _levels(node: Any) -> list[list[Any]]:
    from sqlglot import exp

    only(node, "expressions")
    parts = [_several(part) for part in node.expressions]
    match node:
        case exp.Rollup():
            return [list(itertools.chain(*parts[:size])) for size in range(len(parts), -1, -1)]
        case exp.Cube():
            if len(parts) > 6:
                raise refuse(node, f"at most {_MOST} levels of groups")
            chosen = [c for size in range(len(parts), -1, -1) for c in itertools.combinations(parts, size)]
            return [list(itertools.chain(*each)) for each in chosen]
    found: list[list[Any]] = []
    for part in node.expressions:
        found += _levels(part) if type(part) in (exp.Rollup, exp.Cube, exp.GroupingSets) else [_several(part)]
    return found


def _several(node: Any) -> list[Any]:
    """The pieces in brackets, or the one piece there is."""
    from sqlglot import exp

    if type(node) is exp.Tuple:
        return list(node.expressions)
    return [node.this] if type(node) is exp.Paren else [node]
