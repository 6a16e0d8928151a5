"""Releases that add up: nation to block, parent the sum of its children, every number a whole one.

Asked for at a desk (`curator.tree`): `TreeAsk` over a `Hierarchy`, with public `Rules` and a `Goal` for how the price
is split; `TreePlan`, and the `TreeRelease` that comes of it. Without a ledger: a `Measurement` of noisy counts, one
`Level` each, goes through a method by name (`METHODS`, `method_named`) and becomes an `Estimate`, and
`with_each` and `with_typical` say how far off it may be. `read_measurements` makes a `TreeRelease` of noisy measurement
files. Methods are in rooms of their own: `bayes`, `topdown`, `exact`, `chain`. Names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.trees.ask import TreeAsk as TreeAsk
    from discreet.trees.estimate import Estimate as Estimate
    from discreet.trees.intervals import with_each as with_each
    from discreet.trees.intervals import with_typical as with_typical
    from discreet.trees.measurement import Level as Level
    from discreet.trees.measurement import Measurement as Measurement
    from discreet.trees.measurement_reader import read_measurements as read_measurements
    from discreet.trees.methods import METHODS as METHODS
    from discreet.trees.methods import method_named as method_named
    from discreet.trees.plan import TreePlan as TreePlan
    from discreet.trees.release import TreeRelease as TreeRelease
    from discreet.trees.rules import Rules as Rules
    from discreet.trees.split import Goal as Goal
    from discreet.trees.tree import Hierarchy as Hierarchy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "ask": ("TreeAsk",),
        "estimate": ("Estimate",),
        "intervals": ("with_each", "with_typical"),
        "measurement": ("Level", "Measurement"),
        "measurement_reader": ("read_measurements",),
        "methods": ("METHODS", "method_named"),
        "plan": ("TreePlan",),
        "release": ("TreeRelease",),
        "rules": ("Rules",),
        "split": ("Goal",),
        "tree": ("Hierarchy",),
    },
)
