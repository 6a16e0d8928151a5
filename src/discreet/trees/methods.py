"""Ways from noisy counts to whole numbers that add up, by name.

| name | what it does |
|---|---|
| `bayes` | learns from all regions what counts look like, and weighs every noisy count against that |
| `topdown` | the best linear unbiased estimate, then whole numbers from the root down |
| `exact` | the whole numbers that are nearest to the noisy ones in weighted squares: the true optimum |
| `relaxed` | the same without whole numbers, then rounded: a baseline, which need not add up |
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

from discreet.core.progress import notify
from discreet.errors import InputError, Phrase
from discreet.trees.estimate import Estimate
from discreet.trees.grain import coarse_measurement, coarse_rules, refined
from discreet.trees.intervals import with_each, with_typical
from discreet.trees.measurement import Measurement
from discreet.trees.rules import Rules
from discreet.trees.topdown.crossing import check_together
from discreet.trees.tree import Hierarchy

__all__ = ["METHODS", "ORDERED", "SUMMING", "Method", "check_rules", "method_named", "publish_counts"]

Method = Callable[[Measurement, Rules], Estimate]

METHODS = ("bayes", "topdown", "exact", "relaxed")
ORDERED = ("topdown", "exact", "relaxed")
"""Those that keep the order of cumulative counts."""
SUMMING = ("bayes", "topdown", "exact")
"""Those for sums of magnitudes, which are far larger than counts: the solver of `relaxed` loses digits there."""


_DOWNWARD = ("bayes", "topdown")  # estimates go up and fixed parents down: a sample of subtrees will do for intervals


def method_named(name: str, *, chain: bool = False, sums: bool = False) -> Method:
    """The method of that name; its form for cumulative counts, whose order must be kept, if `chain`.

    If `sums`, it has to be one that is made for large numbers.
    """
    if name not in METHODS:
        raise InputError("method", name, among=METHODS)
    if chain and name not in ORDERED:
        raise InputError("method", name, "a method for cumulative counts", among=ORDERED)
    if sums and name not in SUMMING:
        raise InputError("method", name, "a method for sums", among=SUMMING)
    module, function = ("chain", f"{name}_chain") if chain else (name, name)
    found: Method = getattr(import_module(f"discreet.trees.{module}"), function)
    return found


def check_rules(tree: Hierarchy, cells: int, rules: Rules, *, chain: bool = False) -> None:
    """`InputError` if rules name what is not there, or if no counts can meet them: for before anything is spent."""
    if chain:
        from discreet.trees.chain.rules import bounds_in_order

        bounds_in_order(tree, cells, rules)
    else:
        check_together(tree, rules.bounds(tree, cells))
    rules.covariates(tree, cells)
    if rules.weights and not any(weights.any() for weights in rules.level_weights(tree, cells, [1] * tree.depth)):
        raise InputError("rules.weights", Phrase("zero everywhere"), "above zero somewhere")


def _quicker(name: str, method: Method, measured: Measurement) -> Method:
    """The method for simulated releases: there is no need to certify what is thrown away."""
    if not (measured.chain and name == "exact"):
        return method
    from discreet.trees.chain import exact_chain

    return partial(exact_chain, steps=0)


def publish_counts(
    name: str, measured: Measurement, rules: Rules, confidence: float, grain: int = 1
) -> Estimate | None:
    """What a method makes of noisy counts, with intervals; None if it failed on them, which loses nothing.

    With `grain`, in multiples of so many, as far as the rules allow.
    """
    try:
        notify(f"solving: {name}")
        method = method_named(name, chain=measured.chain)
        coarse, near = coarse_measurement(measured, grain), coarse_rules(rules, measured.tree, measured.cells, grain)
        estimate = method(coarse, near)
        notify("finding intervals")
        quicker = _quicker(name, method, coarse)
        short = with_typical(estimate, coarse, near, quicker, confidence, sampled=name in _DOWNWARD)
        return with_each(refined(short, measured, rules, grain), measured, rules, confidence)
    except Exception:
        # The noisy counts are paid for and must get on the record, whatever happens to what is made of them.
        return None
