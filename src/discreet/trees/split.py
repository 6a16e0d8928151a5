"""How the price of a release is shared among its levels, before any data is seen.

Shares are fixed by rule or worked out from the tree's public shape, never from private counts, and are exact fractions
that add up to at most one. A share is of epsilon where noise is Laplace and of rho where it is Gaussian.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.core.exact import Number, as_written
from discreet.errors import InputError
from discreet.trees.goal import Goal, Shares, accurate
from discreet.trees.tree import Hierarchy

__all__ = ["Goal", "Shares", "split"]

TOTALS = Fraction(1, 5)
"""What questions for totals get of a level's part: most of the accuracy of totals for a fifth of the price."""
LEAF_TOTALS = Fraction(1, 3)
"""The same for the leaves, whose totals nothing below them can tell."""
ROOT = Fraction(1, 50)
"""What the root's cells get: what the levels below say about it is nearly as good."""
ROOT_TOTALS = Fraction(3, 100)
"""What the root's total gets."""
_WAYS = ("auto", "equal", "leaves", "accurate")


def split(
    tree: Hierarchy,
    cells: int = 1,
    how: str | Mapping[str, Number] = "auto",
    *,
    totals: Number | None = None,
    kind: str = "laplace",
    goal: Goal | None = None,
) -> Shares:
    """The part of the price for each (level, totals or not).

    `how` is auto (totals get a fifth of each level's part and a third of the leaves', the root next to nothing, levels
    are equal otherwise), equal (no totals), leaves (nothing but the leaves), accurate (the least error by `goal`, from
    the tree's shape), or weights of levels, of which the leaves need one. `totals` is the part for totals, shared among
    levels as the rest is; none by default unless `how` is auto. A level with the regions of the one below it is the
    same question: it is asked once, on the lower one.

    >>> tree = Hierarchy.from_prefixes(["aa", "ab", "ba"], {"state": 1, "county": 2})
    >>> {key: str(share) for key, share in split(tree, how="equal").items()}
    {(0, False): '1/3', (1, False): '1/3', (2, False): '1/3'}
    >>> {key: str(share) for key, share in split(tree, how={"state": 1, "county": 3}, totals="1/5", cells=2).items()}
    {(1, False): '1/5', (2, False): '3/5', (1, True): '1/20', (2, True): '3/20'}
    """
    if kind not in ("laplace", "gaussian"):
        raise InputError("kind", kind, among=("laplace", "gaussian"))
    if isinstance(cells, bool) or not isinstance(cells, int) or cells < 1:
        raise InputError("cells", cells, "one or more")
    if goal is not None and how != "accurate":
        raise InputError("goal", goal, "left out unless split = 'accurate'")
    usual = TOTALS if how == "auto" and cells > 1 else Fraction()
    part = usual if totals is None else as_written(totals, "totals")
    if not 0 <= part < 1:
        raise InputError("totals", totals, "at least 0 and below 1: the counts of the leaves take the rest")
    kept = sorted(set(tree.distinct))
    match how:
        case "accurate":
            asked = totals is None and cells > 1
            if not asked and part:
                raise InputError("totals", totals, "0 or left out: the best share is computed")
            return _placed(kept, accurate(tree, cells, kind, goal or Goal(), with_totals=asked))
        case "auto" if totals is None and part and len(kept) > 1:
            return _placed(kept, _usual(len(kept)))
        case "auto" | "equal":
            weights = [Fraction(level in kept) for level in range(tree.depth)]
        case "leaves":
            weights = [Fraction(0)] * (tree.depth - 1) + [Fraction(1)]
        case Mapping():
            weights = _weights(tree, how)
        case _:
            raise InputError("split", how, "a weight for each level, or a rule", among=_WAYS)
    whole = sum(weights)
    if cells == 1:
        part = Fraction()  # a total would be the same question again
    shares = {(level, False): (1 - part) * w / whole for level, w in enumerate(weights) if w}
    return shares | {(level, True): part * w / whole for level, w in enumerate(weights) if w and part}


def _placed(kept: list[int], shares: Shares) -> Shares:
    """Shares of the collapsed tree's levels as shares of the whole tree's."""
    return {(kept[level], totals): share for (level, totals), share in shares.items()}


def _usual(depth: int) -> Shares:
    """The rule of auto for several cells: it was chosen on generated tables, by the error of all levels together."""
    shares = {(0, False): ROOT, (0, True): ROOT_TOTALS}
    each = (1 - ROOT - ROOT_TOTALS) / (depth - 1)
    for level in range(1, depth):
        part = LEAF_TOTALS if level == depth - 1 else TOTALS
        shares |= {(level, False): each * (1 - part), (level, True): each * part}
    return shares


def _weights(tree: Hierarchy, given: Mapping[str, Number]) -> list[Fraction]:
    weights = [Fraction(0)] * tree.depth
    for name, weight in given.items():
        read = as_written(weight, f"split.{name}")
        if read < 0:
            raise InputError(f"split.{name}", weight, "zero or more")
        weights[tree.distinct[tree.level(name, "split")]] += read
    if not weights[-1]:
        hint = f"All other levels are sums of {tree.names[-1]}."
        raise InputError(f"split.{tree.names[-1]}", 0, "above zero: the leaves are counted", hint)
    return weights
