"""Reports that honest devices would hardly send: what the law of a question rules out, whatever people answered.

Nobody's report can be told to be forged: any single one may be chance. Many together can be: their sums must agree with
*some* true answers. What is compared here has a law that no answers change, or bounds that none exceed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.local.estimate import Estimate
from discreet.local.heavy_hitters import HeavyHitters
from discreet.local.olh import OLH
from discreet.local.questionnaire.question import Question
from discreet.local.questionnaire.questionnaire import Questionnaire
from discreet.local.questionnaire.words import find_words, law_of_words
from discreet.local.sampled import Sampled
from discreet.local.unary import OUE, SUE

__all__ = ["ALARM", "Finding", "check_reports"]

ALARM = 1e-6  # of all checks of a survey together, if every report is honest
_SURE = 1 - 1e-9  # confidence of an interval that ends above one
_LEAST = 50.0  # expected in a cell of a test: fewer are not normal so far out
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was compared, and how likely a difference as large is among honest reports, at most."""

    question: str
    what: str
    p_value: float
    suspicious: bool

    def words(self) -> str:
        """The finding in a line."""
        chance = "less than 1 in a million" if self.p_value < 1e-6 else f"{self.p_value:.2g}"
        verdict = "forged?" if self.suspicious else "as honest reports"
        return f"{self.question}, {self.what}: {verdict} (probability {chance})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"question": self.question, "what": self.what, "p_value": self.p_value, "suspicious": self.suspicious}


def check_reports(survey: Questionnaire, columns: Sequence[Mapping[Any, int]]) -> tuple[Finding, ...]:
    """Every check of every question; all of them together raise a false alarm once in a million surveys."""
    every = [
        (question.name, what, chance)
        for question, column in zip(survey.questions, columns, strict=True)
        if sum(column.values())
        for what, chance in _checks(question, column)
    ]
    return tuple(Finding(name, what, chance, chance * len(every) < ALARM) for name, what, chance in every)


def _checks(question: Question, column: Mapping[Any, int]) -> list[tuple[str, float]]:
    found, mechanism = [], question.mechanism
    if isinstance(mechanism, (OUE, SUE)):
        found.append(("number of marks in a report", _marks(mechanism, column)))
    if isinstance(mechanism, Sampled):
        told, times = question.by_part(column)
        found.append(("which part is reported", _fit([float(sum(one)) for one in times], [1 / len(told)] * len(told))))
    if isinstance(mechanism, OLH):
        first = np.zeros(mechanism.buckets)  # the first digit of the key
        for report, often in column.items():
            first[report // mechanism.buckets % mechanism.buckets] += often
        found.append(("keys", _fit(first, None)))
    if isinstance(mechanism, HeavyHitters):
        return _words(mechanism, column)
    found.append(("estimates that no answers have", _outside(question, column)))
    return found


def _words(mechanism: HeavyHitters, column: Mapping[str, int]) -> list[tuple[str, float]]:
    """Levels and keys do not look at the word; the bucket of any word is even over keys; no share is above one."""
    law = law_of_words(mechanism)
    levels, keys, buckets = np.zeros(law.length), np.zeros(16), np.zeros(law.buckets)
    for report, often in column.items():
        level, key, bucket = law.split(report)
        levels[level - 1] += often
        keys[key * 16 // law.keys] += often  # its first four bits
        buckets[bucket] += often
    found = find_words(mechanism, column, 0.95)
    beyond = max(((one.share - 1) / mechanism.half_width(int(levels.sum()), _SURE) for one in found), default=0.0)
    return [
        ("how many letters are reported", _fit(levels, None)),
        ("keys", _fit(keys, None) if law.keys >= 16 else 1.0),
        ("groups", _fit(buckets, None)),
        ("shares above one", 1 - _SURE if beyond > 1 else 1.0),
    ]


def _marks(mechanism: OUE | SUE, column: Mapping[str, int]) -> float:
    """One's own mark and k - 1 others: their number has one law whatever is answered."""
    k, hit, miss = mechanism.categories, float(mechanism.hit), float(mechanism.miss)
    others = np.array([math.comb(k - 1, j) * miss**j * (1 - miss) ** (k - 1 - j) for j in range(k)])
    law = np.append((1 - hit) * others, 0) + np.append(0, hit * others)
    seen = np.zeros(k + 1)
    for report, times in column.items():
        seen[report.count("1")] += times
    return _fit(seen, law)


def _outside(question: Question, column: Mapping[Any, int]) -> float:
    """Shares below zero or above one, a mean beyond its range: by how much, for the answers nearest to it."""
    found, labels = question.estimate(column), question.labels
    low, high = 0.0, 1.0
    if question.estimand == "mean" and question.grid is not None:
        low, high = float(question.grid.low), float(question.grid.high)
    if question.estimand == "place":
        low, high = 1.0, float(len(labels))
    errors = np.sqrt(found.variance("respondents") if isinstance(found, Estimate) else found.variance())
    beyond = np.maximum(low - found.values, found.values - high)
    known = np.isfinite(beyond) & (errors > 0)
    if not known.any():
        return 1.0
    z = float((beyond[known] / errors[known]).max())
    return min(1.0, 2 * int(known.sum()) * NormalDist().cdf(-z)) if z > 0 else 1.0


def _fit(seen: Floats | Sequence[float], law: Floats | Sequence[float] | None) -> float:
    """The p-value of counts under a law (even if None), by chi-square; cells that expect few are put together."""
    from scipy.stats import chi2

    counts = np.asarray(seen, dtype=np.float64)
    chances = np.full(len(counts), 1 / len(counts)) if law is None else np.asarray(law, dtype=np.float64)
    expected = counts.sum() * chances
    few = expected < _LEAST
    cells, wanted = counts[~few], expected[~few]
    if few.any():
        cells, wanted = np.append(cells, counts[few].sum()), np.append(wanted, expected[few].sum())
    if len(wanted) < 2 or wanted.min() <= 0:
        return 1.0
    if wanted[-1] < _LEAST:  # what is rare in all: join it to its neighbour
        cells[-2:], wanted[-2:] = cells[-2:].sum(), wanted[-2:].sum()
        cells, wanted = cells[:-1], wanted[:-1]
    return float(chi2.sf(((cells - wanted) ** 2 / wanted).sum(), len(wanted) - 1)) if len(wanted) > 1 else 1.0
