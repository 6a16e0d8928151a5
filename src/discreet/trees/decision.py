"""Decisions by the numbers of a hierarchy: what noise and method do to a fund or a limit, after a release and before.

After a release, tables that might be the true one are drawn from its noisy counts, as for its typical intervals, and
released again: what goes wrong then is what is said of the release. What
groups of regions truly have is estimated without bias by the best linear estimates, whatever the method published.
Before one, a public table stands for the truth, is measured with the noise of the plan and published by its method.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.decision import Decision, decide
from discreet.core.progress import notify
from discreet.core.trials import Trials
from discreet.errors import InputError
from discreet.noise.replay import Replay
from discreet.trees.covariance import Weights
from discreet.trees.covariate import covariate_table, read_covariate
from discreet.trees.estimate import Estimate
from discreet.trees.gls import gls
from discreet.trees.intervals.posterior import Laws, draw_table
from discreet.trees.intervals.typical import key_of, remeasure
from discreet.trees.measurement import Measurement
from discreet.trees.methods import method_named
from discreet.trees.rules import Rules
from discreet.trees.simulation import cell_mix, measure_made_up, scattered
from discreet.trees.sums import cell_weights
from discreet.trees.tree import Hierarchy

if TYPE_CHECKING:
    from discreet.trees.cost_table import CostTable
    from discreet.trees.plan import TreePlan
    from discreet.trees.release import TreeRelease

__all__ = ["Deciding", "decide_plan", "decide_release"]

Floats = NDArray[np.float64]
_NUMBERS = 1_000_000  # drawn in all
_FEWEST, _MOST = 5, 40  # tables
_ROUGHER = "topdown"


@dataclass(frozen=True, eq=False)
class Retrial:
    """A table that might be the true one, measured again and published again."""

    truth: NDArray[np.int64]
    measured: Measurement
    published: Estimate


class Deciding:
    """What a published hierarchy can say of decisions by it, and of how its numbers were decided."""

    def decide(
        self,
        *,
        fund: float | None = None,
        threshold: float | None = None,
        by: str | Mapping[Any, Any] | None = None,
        level: str | None = None,
        cells: Mapping[str, Any] | None = None,
        repair: str | None = None,
        blend: float = 0.0,
    ) -> Decision:
        """What noise and method do to a fund dealt by the numbers of a level, or to a threshold. Costs nothing.

        `level` is the last one unless named; of its cells those of `cells` count, {"sex": "female"}, or all. `by` is
        a wider level, "size" for classes of true numbers, or a public label for each region, {"44001": "coast"}; then
        what each group gets beside its due is told too. `repair="groups"` gives each of them what unbiased estimates
        give it; `blend` moves numbers towards those of `topdown`: less bias, more variance.
        """
        release: Any = self
        return decide_release(release, fund, threshold, by, level, cells, repair, blend)

    def explain_cost(
        self, region: str, *, level: str | None = None, cells: Mapping[str, Any] | None = None
    ) -> CostTable:
        """How the exact method weighs the counts that a region might have: its table of costs. Costs nothing.

        Every cell has a tree of its own: `cells` names one, {"sex": "female"}, where there are several. `level` tells
        regions with the same code apart.
        """
        from discreet.trees.cost_table import explain_cost

        release: Any = self
        return explain_cost(release, region, level, cells)

    @cached_property
    def retrials(self) -> tuple[Retrial, ...]:
        """The release made again, of tables that might be the true one: public, and the same every time."""
        release: Any = self
        measured, guess, method = release.measured, release.estimate.counts[-1], method_named(release.method)
        many = int(min(max(_NUMBERS // max(guess.size, 1), _FEWEST), _MOST))
        bits, learned, found = Replay(key_of(measured, "decisions")), dict[tuple[int, bool], Laws](), []
        for number in range(many):
            notify(f"plausible table {number + 1} of {many}")
            truth = draw_table(measured, guess, release.rules, bits, learned, empty=True)
            again = remeasure(measured, truth, bits)
            found.append(Retrial(truth, again, method(again, release.rules)))
        return tuple(found)


def decide_release(
    release: TreeRelease,
    fund: float | None,
    threshold: float | None,
    by: Any,
    level: str | None,
    cells: Any,
    repair: str | None,
    blend: float,
) -> Decision:
    """See `Deciding.decide`."""
    if release.cumulative or release.magnitude is not None:
        raise InputError("release", release.output, "one of plain counts")
    tree, measured, rules = release.tree, release.measured, release.rules
    place = tree.depth - 1 if level is None else tree.level(level)
    weights = cell_weights(release, cells)
    published, linear = release.estimate.counts, release.covariance.linear
    rougher = blend > 0 and release.method != _ROUGHER
    retrials = release.retrials
    trials = Trials(
        _codes(tree, place),
        (published[place] @ weights)[None, :],
        np.stack([tree.sums(one.truth)[place] @ weights for one in retrials]),
        (linear.counts[place] @ weights)[None, :],
        simulated=False,
        rougher=_rougher(measured, rules)[place][None, :] @ weights if rougher else None,
        within=lambda chosen: _share(release, place, weights, chosen),
        groups=_labels(tree, place),
        column=tree.names[place],
    )
    again = replace(
        trials,
        published=np.stack([one.published.counts[place] @ weights for one in retrials]),
        unbiased=np.stack([gls(one.measured).counts[place] @ weights for one in retrials]),
        rougher=np.stack([_rougher(one.measured, rules)[place] @ weights for one in retrials]) if rougher else None,
    )
    trials = replace(trials, again=again)
    how = {"fund": fund, "threshold": threshold, "by": by, "repair": repair, "blend": blend}
    return decide(trials, **how, confidence=release.confidence)


def decide_plan(
    plan: TreePlan,
    sizes: Any,
    *,
    fund: float | None = None,
    threshold: float | None = None,
    by: Any = None,
    level: str | None = None,
    repair: str | None = None,
    blend: float = 0.0,
    draws: int = 16,
) -> Decision:
    """What a plan would do to a decision if leaf regions had these public or assumed `sizes`. Nothing is read or spent.

    `sizes` is a table with a number for each leaf region, or {region: number}: last year's numbers, say. People are
    scattered about them, and over cells as a long tail is.
    """
    if plan.counted.chain or plan.counted.magnitude is not None:
        raise InputError.refused("plan", plan.dataset, "is not about plain counts, which decisions are tried out for")
    if isinstance(draws, bool) or not isinstance(draws, int) or not 2 <= draws <= _MOST:
        raise InputError("draws", draws, f"a whole number from 2 to {_MOST}")
    tree, cells = plan.counted.tree, plan.counted.cells
    try:
        known = read_covariate(covariate_table(sizes), tree, tree.names[-1], plan.counted.labels)
    except InputError as problem:
        raise problem.about("sizes") if problem.field == "covariate" else problem from None
    means = known if known.shape[1] == cells else known.sum(axis=1)[:, None] * cell_mix(cells)
    place = tree.depth - 1 if level is None else tree.level(level)
    bits, found = Replay(f"decisions/{plan.digest}".encode()), []
    for number in range(draws):
        notify(f"simulated release {number + 1} of {draws}")
        leaves = scattered(means, bits)
        measured = measure_made_up(plan, tree, leaves, bits)
        again = [method_named(name)(measured, plan.rules).totals[place] for name in _methods(plan.method, blend)]
        found.append((tree.sums(leaves)[place].sum(axis=1), gls(measured).totals[place], *again))
    truths, unbiased, published, *rougher = (np.stack(one).astype(float) for one in zip(*found, strict=True))
    trials = Trials(
        _codes(tree, place),
        published,
        truths,
        unbiased,
        simulated=True,
        rougher=rougher[0] if rougher else None,
        groups=_labels(tree, place),
        column=tree.names[place],
    )
    return decide(trials, fund=fund, threshold=threshold, by=by, repair=repair, blend=blend)


def _rougher(measured: Measurement, rules: Rules) -> tuple[NDArray[np.int64], ...]:
    return method_named(_ROUGHER)(measured, rules).counts


def _methods(method: str, blend: float) -> tuple[str, ...]:
    return (method, _ROUGHER) if blend and method != _ROUGHER else (method,)


def _codes(tree: Hierarchy, place: int) -> tuple[str, ...]:
    return tuple(tree.codes[place]) if place else (tree.names[0],)


def _labels(tree: Hierarchy, place: int) -> dict[str, list[str]]:
    """In which regions of wider levels those of a level lie."""
    found, at = {}, np.arange(tree.sizes[place])
    for level in range(place, 1, -1):
        at = tree.parents[level][at]
        found[tree.names[level - 1]] = np.array(tree.codes[level - 1], dtype=object)[at].tolist()
    return found


def _share(release: TreeRelease, place: int, weights: Floats, chosen: NDArray[np.bool_]) -> tuple[float, float, float]:
    """What some regions have of the whole, by the best linear estimate, and the ends of its interval."""
    noise, tree = release.covariance, release.tree
    leaves = chosen.astype(float)
    for level in range(place + 1, tree.depth):
        leaves = leaves[tree.parents[level]]
    table = noise.linear.counts[-1] @ weights
    whole = float(table.sum())
    if whole <= 0:
        return math.nan, math.nan, math.nan
    share = float(leaves @ table) / whole
    off = Weights(((leaves - share, weights),))
    deviation = math.sqrt(max(noise.between(off, off), 0.0)) / whole
    half = NormalDist().inv_cdf(0.5 + release.confidence / 2) * deviation
    return share, share - half, share + half
