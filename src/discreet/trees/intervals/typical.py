"""Short intervals for many regions together, by trying the method out on tables that might be the true one.

A method that keeps counts whole, non-negative and adding up bends the noise: its errors have a bias and a spread that
no formula gives. So they are measured. A plausible table is drawn from the noisy counts (`posterior`), measured with
fresh noise of the same law, and run through the same method; what the method then published is compared with what it
should have. Errors of counts that look alike to a reader (level, size published, size of the region, cell) are put
together, weighed by the class of their true size (`quantiles`), and their quantiles, bias included, are the interval.
Where too few look alike, as at the root, the variance of the best linear estimate takes over. Of a large tree a sample
is simulated (`sample`).

What is claimed: of the numbers of a level whose *true* counts are of about one size, about `confidence` lie in their
intervals, over the regions and over the noise, if the plausible table resembles the true one. It is not a claim about
one region singled out, which `each` has intervals for. Nothing about privacy
is claimed or needed here, as only published values and public randomness are used. More:
docs/proofs/hierarchy-topdown.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.core.digest import text_of
from discreet.core.mechanism import Bits
from discreet.core.signature import typed
from discreet.errors import InputError
from discreet.mechanisms.inputs import read_confidence
from discreet.noise.replay import Replay
from discreet.trees.components import margin_of
from discreet.trees.estimate import Ends, Estimate
from discreet.trees.gls import variances
from discreet.trees.intervals.each import bounds_of, deviations, known_bounds
from discreet.trees.intervals.posterior import Laws, draw_table
from discreet.trees.intervals.quantiles import ErrorQuantiles, enough_for
from discreet.trees.intervals.sample import Part, parts_of
from discreet.trees.measurement import Measurement
from discreet.trees.rules import Rules
from discreet.trees.shared_answers import COUNTS, TOTALS, Question, draw_answers

__all__ = ["Method", "Replay", "key_of", "remeasure", "with_typical"]

Array = NDArray[np.int64]
Reals = NDArray[np.float64]
_MANY = 1 << 14  # numbers, of which one run on each table has errors enough

Method = Callable[[Measurement, Rules], Estimate]


def key_of(measured: Measurement, purpose: str) -> bytes:
    """A key that follows from everything measured: published values, so public."""
    digest = hashlib.sha256(purpose.encode())
    for level in measured.levels:
        for values in (level.counts, level.totals):
            digest.update(b"-" if values is None else np.ascontiguousarray(values).astype("<i8").tobytes())
        digest.update(text_of((level.noise, level.totals_noise)).encode())
        for one in level.margins:
            digest.update(text_of((one.axes, one.noise)).encode())
            digest.update(np.ascontiguousarray(one.values).astype("<i8").tobytes())
    return digest.digest()


def remeasure(measured: Measurement, leaves: Array, bits: Bits) -> Measurement:
    """The same questions with fresh noise of the same law, asked of the counts `leaves`."""
    tree, asked = measured.tree, list[Question]()
    for place, (level, exact) in enumerate(zip(measured.levels, tree.sums(leaves), strict=True)):
        if level.noise is not None:
            asked.append(Question(place, COUNTS, level.noise, exact))
        if level.totals_noise is not None:
            asked.append(Question(place, TOTALS, level.totals_noise, exact.sum(axis=1)))
        for one in level.margins:
            asked.append(Question(place, one.axes, one.noise, margin_of(exact, measured.shape, one.axes)))
    drawn = draw_answers(tree, asked, bits, pooled=measured.pooled)
    answers = {(one.level, one.kind): values for one, values in zip(asked, drawn, strict=True)}
    levels = [
        replace(
            level,
            counts=answers.get((place, COUNTS)),
            totals=answers.get((place, TOTALS)),
            margins=tuple(replace(one, values=answers[place, one.axes]) for one in level.margins),
        )
        for place, level in enumerate(measured.levels)
    ]
    return replace(measured, levels=tuple(levels))


@typed
def with_typical(
    estimate: Estimate,
    measured: Measurement,
    rules: Rules,
    method: Method,
    confidence: float = 0.95,
    reruns: int = 4,
    *,
    sampled: bool = False,
) -> Estimate:
    """The same estimate with a short interval for every count and every region's total.

    `method` is what made `estimate` from `measured` and `rules`; it is run `reruns` times on simulated measurements,
    half of them on one plausible table and half on another. If `sampled`, large trees are simulated in parts (`sample`
    says for which methods that will do), parts of many numbers once on each table.
    All randomness is public and follows from the measured values: the same release always gets the same intervals.
    """
    alpha = 1 - float(read_confidence(confidence))
    if isinstance(reruns, bool) or not isinstance(reruns, int) or reruns < 2:
        raise InputError("reruns", reruns, "two or more")
    tree = measured.tree
    bits = Replay(key_of(measured, "intervals"))
    known = known_bounds(measured, rules)
    enough = enough_for(alpha) // reruns + 1
    sampled = sampled and not measured.chain
    whole = Part(measured, rules, range(tree.depth), np.arange(tree.leaves))
    deviation, total_deviation = _deviations(measured)
    factor, ends = deviations(measured, alpha), {}
    for part in parts_of(measured, rules, known, enough) if sampled else [whole]:
        cells, totals = _errors(part, estimate, method, reruns, bits, sampled=sampled)
        for level in part.levels:
            low, high, least, most = bounds_of(known, level)
            counts = estimate.counts[level]
            of_cells = cells[level].interval(counts, deviation[level], factor, alpha, low, high)
            sums = counts.sum(axis=1)[:, None]
            of_totals = totals[level].interval(
                sums, total_deviation[level], factor, alpha, least[:, None], most[:, None]
            )
            ends[level] = (*of_cells, of_totals[0][:, 0], of_totals[1][:, 0])
    return replace(estimate, typical=Ends.of_levels(ends[level] for level in range(tree.depth)))


def _errors(
    part: Part, estimate: Estimate, method: Method, reruns: int, bits: Bits, *, sampled: bool
) -> tuple[list[ErrorQuantiles], list[ErrorQuantiles]]:
    """What the method's errors were in simulations, by level: of cells and of totals."""
    measured, tree = part.measured, part.measured.tree
    cells, totals = [ErrorQuantiles() for _ in tree.names], [ErrorQuantiles() for _ in tree.names]
    guess = estimate.counts[tree.depth - 1][part.chosen]
    learned: dict[tuple[int, bool], Laws] = {}
    tables = [draw_table(measured, guess, part.rules, bits, learned) for _ in range(2)]
    for run in range(2 if sampled and guess.size > _MANY else reruns):
        tried = method(remeasure(measured, tables[run % 2], bits), part.rules)
        truth = tree.sums(tables[run % 2])
        for level in part.levels:
            counts, exact = tried.counts[level], truth[level]
            cells[level].add(counts, exact, run % 2)
            totals[level].add(counts.sum(axis=1)[:, None], exact.sum(axis=1)[:, None], run % 2)
    return cells, totals


def _deviations(measured: Measurement) -> tuple[list[Reals], list[Reals]]:
    """Of every level, of its counts and its totals: what the linear estimates stray by. Rounding adds a little."""
    cells, totals = ([np.sqrt(level + 1 / 12)[:, None] for level in levels] for levels in variances(measured))
    return cells, totals
