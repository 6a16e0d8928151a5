"""Asking for a whole hierarchy: which levels, by what, under which rules. `plan` prices it, `release` spends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from discreet.core.exact import Number
from discreet.errors import InputError
from discreet.query.key import Key, key
from discreet.query.offer import Offer
from discreet.query.parse import parse_condition
from discreet.query.predicate import Predicate
from discreet.query.price import Price
from discreet.query.within import plan_within
from discreet.trees.count import Counted, Sizes
from discreet.trees.geography import hierarchy_from
from discreet.trees.methods import METHODS, method_named
from discreet.trees.plan import TreePlan, plan_tree
from discreet.trees.released import TreeRelease
from discreet.trees.rules import Rules
from discreet.trees.split import Goal
from discreet.trees.split import split as split_price

if TYPE_CHECKING:
    from discreet.query.curator import Curator

__all__ = ["TreeQuestion", "tree_question"]

_MANY = 100


@dataclass(frozen=True, slots=True)
class TreeQuestion:
    """A hierarchy to be released, being put together. Nothing happens until it is planned and released."""

    curator: Curator
    counted: Counted
    rules: Rules

    def where(self, condition: str | Predicate) -> TreeQuestion:
        """Count only the rows for which the condition is true."""
        read = parse_condition(condition) if isinstance(condition, str) else condition
        if self.counted.condition is not None:
            raise InputError("where", condition, "one condition: join them with and")
        return replace(self, counted=replace(self.counted, condition=read).checked())

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        share: Number | None = None,
        within: Number | None = None,
        confidence: float = 0.95,
        noise: str = "auto",
        method: str = "auto",
        split: str | Mapping[str, Number] = "auto",
        goal: Goal | None = None,
        allotment: str | None = None,
    ) -> Offer[TreeRelease]:
        """Price all levels together: by epsilon, rho, a share of the allotment, or `within` which all errors lie.

        `method` is auto, bayes, topdown, exact or relaxed. `split` says how the price is shared among the levels: auto,
        equal, leaves, accurate (the least error by `goal`), or a weight for each level by name.
        """
        price = Price.read(epsilon=epsilon, rho=rho, share=share, within=within, confidence=confidence, noise=noise)
        part = self.curator.allotment(allotment)
        chain = self.counted.chain
        chosen = (_ordered(self.counted.cells) if chain else "bayes") if method == "auto" else method
        if method != "auto" and method not in METHODS:
            raise InputError("method", method, "auto or one of " + ", ".join(METHODS))
        method_named(chosen, chain=chain)
        totals = 0 if self.counted.sizes is not None else None

        def planned(paid: Price) -> TreePlan:
            kind = paid.kind(part)
            shares = split_price(self.counted.tree, self.counted.cells, split, totals=totals, kind=kind, goal=goal)
            return plan_tree(self.counted, part, paid, shares, chosen, self.rules)

        return Offer(self.curator, plan_within(price, part, planned), TreeRelease.read)


def _ordered(sizes: int) -> str:
    """The method for cumulative counts: where sizes are many, much is in their order."""
    return "exact" if sizes > _MANY else "topdown"


def tree_question(
    curator: Curator,
    levels: Sequence[str] | Mapping[str, int],
    *,
    by: Iterable[str | Key] | str = (),
    column: str | None = None,
    geography: Any = None,
    where: str | Predicate | None = None,
    sizes: str | None = None,
    largest: int | None = None,
    cumulative: bool = True,
    rules: Rules | None = None,
) -> TreeQuestion:
    """Read a description of a hierarchy against the curator's schema. Nothing is read and nothing is spent."""
    tree, leaf = hierarchy_from(levels, column, geography, curator.schema)
    keys = tuple(key(k) if isinstance(k, str) else k for k in ([by] if isinstance(by, str) else by))
    grouped = None
    if sizes is not None:
        if largest is None:
            raise InputError("largest", None, "given with sizes: the last size that is told apart")
        grouped = Sizes(sizes, largest, cumulative)
    elif largest is not None:
        raise InputError("largest", largest, "given with sizes only")
    counted = Counted(curator.schema, tree, leaf, keys, None, grouped).checked()
    found = TreeQuestion(curator, counted, Rules() if rules is None else rules)
    return found if where is None else found.where(where)
