"""Train on synthetic rows, test on real ones: a logistic regression on codes, small enough to need no library.

One weight for every code of every column; ordered columns with many codes are put in at most 16 bins of equal mass.
Rows are never turned into a matrix of zeros and ones: weights are looked up, gradients are added up by code.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.marginals.domain import Domain
from discreet.noise.replay import Replay, uniforms
from discreet.query.key import Bin
from discreet.synth.junction import Floats
from discreet.synth.report.quality import associations
from discreet.synth.sample import Codes

__all__ = ["Classifier", "Score", "Task", "halves", "most_common", "score", "task_of", "train"]

_BINS = 16
_STEPS = 120
_RIDGE = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What is to be predicted: whether a column has one of some codes. `text` says it in words."""

    column: int
    codes: NDArray[np.bool_]
    known: NDArray[np.bool_]
    text: str

    def labels(self, rows: Codes) -> NDArray[np.bool_]:
        """The truth, row by row."""
        return self.codes[rows[:, self.column]]

    def select(self, rows: Codes) -> Codes:
        """The rows that have a value to be predicted."""
        return rows[self.known[rows[:, self.column]]]


@dataclass(frozen=True, slots=True)
class Score:
    """How well a prediction does: the part that is right, and the chance that a yes is ranked above a no (AUC)."""

    accuracy: float
    auc: float


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """Weights that were learnt: for each column, which weight each code has."""

    column: int
    weights: tuple[Floats, ...]
    bias: float

    def scores(self, rows: Codes) -> Floats:
        """The log-odds of yes."""
        found = np.full(len(rows), self.bias)
        for place, weights in enumerate(self.weights):
            if place != self.column:
                found += weights[rows[:, place]]
        return found


def task_of(domain: Domain, codes: Codes, target: str | None = None) -> Task | None:
    """The task for a column: its most common value or not; of an ordered column, the upper half or not.

    Without a name, the column that has most to do with the others in the synthetic rows.
    """
    if target is not None:
        place = domain.place(target, "target")
        if (task := _task(domain, place, codes)) is None:
            raise InputError("target", target, "a column with more than one value in the synthetic rows")
        return task
    strength = np.nansum(associations(domain, codes) ** 2, axis=1)
    for place in np.argsort(-strength, kind="stable"):
        if len(domain) > 1 and (task := _task(domain, int(place), codes)) is not None:
            return task
    return None


def _task(domain: Domain, place: int, codes: Codes) -> Task | None:
    attribute = domain.attributes[place]
    known = np.array([label is not None for label in attribute.labels])
    counts = np.bincount(codes[:, place], minlength=attribute.size) * known
    if (counts > 0).sum() < 2:
        return None
    yes = np.zeros(attribute.size, dtype=bool)
    if attribute.ordered:
        # The cut that comes nearest to half of the rows, never below the first value there is.
        above = counts[::-1].cumsum()[::-1] / counts.sum()
        inner = np.flatnonzero((above > 0) & (above < 1) & known)
        cut = int(inner[np.argmin(np.abs(above[inner] - 0.5))])
        yes[cut:] = True
        label = attribute.labels[cut]
        start = str(label).split("..")[0] if isinstance(label, Bin) else str(label)
        text = f"{attribute.name} >= {start}"
    else:
        best = int(np.argmax(counts))
        if attribute.labels[:2] == (False, True):
            best = 1
        yes[best] = True
        text = f"{attribute.name} = {attribute.labels[best]}"
    return Task(place, yes & known, known, text)


def train(domain: Domain, task: Task, rows: Codes) -> Classifier | None:
    """Logistic regression by accelerated gradient descent; None if there is nothing to tell apart."""
    rows = task.select(rows)
    labels = task.labels(rows).astype(np.float64)
    if len(rows) == 0 or labels.min() == labels.max():
        return None
    groups = [_groups(domain, place, rows) for place in range(len(domain))]
    used = [place for place in range(len(domain)) if place != task.column]
    places = [groups[place][rows[:, place]] for place in used]
    sizes = [int(groups[place].max()) + 1 for place in used]
    weights, bias = [np.zeros(size) for size in sizes], float(np.log(labels.mean() / (1 - labels.mean())))
    ahead, ahead_bias, speed = [one.copy() for one in weights], bias, 1.0
    step = 4 / (len(used) + 1)  # the logistic loss bends by at most (columns + 1) / 4
    for _ in range(_STEPS):
        odds = np.full(len(rows), ahead_bias)
        for place, weight in zip(places, ahead, strict=True):
            odds += weight[place]
        error = 1 / (1 + np.exp(-np.clip(odds, -40, 40))) - labels
        next_speed = (1 + np.sqrt(1 + 4 * speed**2)) / 2
        push = (speed - 1) / next_speed
        for which, (place, size) in enumerate(zip(places, sizes, strict=True)):
            slope = np.bincount(place, weights=error, minlength=size) / len(rows) + _RIDGE * ahead[which]
            moved = ahead[which] - step * slope
            ahead[which] = moved + push * (moved - weights[which])
            weights[which] = moved
        moved_bias = ahead_bias - step * float(error.mean())
        ahead_bias = moved_bias + push * (moved_bias - bias)
        bias, speed = moved_bias, next_speed
    spread: list[Floats] = [np.zeros(size) for size in domain.sizes]
    for column, weight in zip(used, weights, strict=True):
        spread[column] = weight[groups[column]]
    return Classifier(task.column, tuple(spread), bias)


def _groups(domain: Domain, place: int, rows: Codes) -> NDArray[np.int64]:
    """Which weight each code has: its own, or that of its bin if there are many in order."""
    attribute = domain.attributes[place]
    if not attribute.ordered or attribute.size <= _BINS:
        return np.arange(attribute.size)
    inner = attribute.size - attribute.missing
    mass = np.cumsum(np.bincount(rows[:, place], minlength=attribute.size)[:inner])
    parts = np.minimum((_BINS * (mass - 1) // max(int(mass[-1]), 1)).clip(0), _BINS - 1)
    found = np.unique(parts, return_inverse=True)[1].ravel().astype(np.int64)
    return np.append(found, found.max() + 1) if attribute.missing else found


def score(trained: Classifier | None, task: Task, rows: Codes) -> Score | None:
    """How a trained model does on rows; None if there is no model, or nothing to tell apart."""
    rows = task.select(rows)
    labels = task.labels(rows)
    if trained is None or len(rows) == 0 or labels.all() or not labels.any():
        return None
    odds = trained.scores(rows)
    values, places = np.unique(odds, return_inverse=True)
    yes = np.bincount(places.ravel(), weights=labels, minlength=len(values))
    no = np.bincount(places.ravel(), weights=~labels, minlength=len(values))
    below = np.cumsum(no) - no
    auc = float((yes * (below + no / 2)).sum() / (yes.sum() * no.sum()))
    return Score(float(((odds > 0) == labels).mean()), auc)


def halves(rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two halves of a table, always the same ones, for training and for testing."""
    order = np.argsort(uniforms(Replay(b"halves"), rows), kind="stable")
    return order[: rows // 2], order[rows // 2 :]


def most_common(task: Task, rows: Codes) -> float:
    """The part that is right if the more common answer is always given."""
    labels = task.labels(task.select(rows))
    return float(max(labels.mean(), 1 - labels.mean())) if len(labels) else float("nan")
