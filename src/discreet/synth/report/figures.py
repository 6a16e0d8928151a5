"""Everything a quality report says, as plain values: first the figures, then the page that shows them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.progress import notify
from discreet.marginals.domain import Attribute
from discreet.noise.replay import Replay, key_of
from discreet.query.key import Bin
from discreet.synth.junction import Floats
from discreet.synth.report.bounds import Interval, Known
from discreet.synth.report.comparison import Comparison, comparison_of
from discreet.synth.report.copies import Copy, draws, trials
from discreet.synth.report.prediction import Score, Task, halves, most_common, score, task_of, train
from discreet.synth.report.quality import Agreement, Distance, agreements, associations, distances, marginals_of
from discreet.synth.report.statistic import Statistic, answer
from discreet.synth.sample import Codes

if TYPE_CHECKING:
    from discreet.synth.release import SyntheticRelease

__all__ = ["Answer", "Column", "Figures", "Group", "Prediction", "Real", "figures_of", "real_figures_of"]

_GROUPS = 24  # bars of one column
_NAMED = 12  # values of one column that have bars of their own, if they have no order


@dataclass(frozen=True, slots=True)
class Answer:
    """One question: what the rows answer, what other draws answer, and two intervals for the true answer.

    `known` comes from the noisy counts and the law of their noise: it holds, whatever the rows are like. `about` comes
    from trials and knows noise and draws only, not what the method never measured.
    """

    text: str
    mean: bool
    answer: float
    known: Interval | None
    about: tuple[float, float] | None
    draws: tuple[float, ...]
    real: float | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Some codes of a column: the synthetic rows in them, scaled, the noisy count and the interval for the true one."""

    label: str
    synthetic: float
    noisy: float | None
    lower: float | None
    upper: float | None
    real: float | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """One column, in few enough groups to draw."""

    name: str
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Prediction:
    """Train on synthetic rows and on real ones, test on other real ones."""

    text: str
    synthetic: Score
    real: Score
    common: float


@dataclass(frozen=True, slots=True, eq=False)
class Real:
    """What only the owner of the data may see: none of it is differentially private."""

    rows: int
    distances: dict[int, list[Distance]]
    association: Floats
    prediction: Prediction | None
    values: Comparison


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """A report in numbers. `real` is None in a public one."""

    confidence: float
    copies: int
    total: Interval | None
    asks: tuple[Answer, ...]
    columns: tuple[Column, ...]
    agreements: list[Agreement]
    association: Floats
    spread: Floats
    real: Real | None = None

    @property
    def inside(self) -> float:
        """Of all measured cells, the part whose synthetic count is in the interval for the true one."""
        cells = sum(one.cells for one in self.agreements)
        return sum(one.inside * one.cells for one in self.agreements) / cells if cells else math.nan


def figures_of(
    release: SyntheticRelease, asks: Sequence[Statistic], copies: int, confidence: float, real: Codes | None = None
) -> Figures:
    """The figures of a release; with real rows, the ones that need them too."""
    domain, declared, made = release.domain, release.declared, release.made
    known = Known(domain, declared, made, release.parts)
    bits = Replay(key_of([release.codes.astype(np.float64)], "report"))
    notify("drawing other tables")
    others = list(draws(domain, declared, release.impossible, made, copies, bits, release.parts))
    tried: list[Copy] = []
    tables = trials(domain, declared, release.impossible, made, release.codes, copies, bits, release.parts)
    for place, one in enumerate(tables):
        notify("trying the noise out", (place + 1) / copies)
        tried.append(one)
    there = release.drawn
    found = []
    for ask in asks:
        said = answer(ask, there, domain)
        found.append(
            Answer(
                ask.text,
                ask.column is not None,
                said,
                known.ask(ask, confidence),
                _about(said, [answer(ask, one.drawn, domain) for one in tried], confidence, ask.column is None),
                tuple(answer(ask, one.drawn, domain) for one in others),
            )
        )
    matrix = associations(domain, release.codes)
    spread = np.zeros_like(matrix)
    if tried:
        off = np.array([associations(domain, one.codes) - matrix for one in tried])
        spread = np.sqrt((off**2).mean(axis=0))
    return Figures(
        confidence,
        len(others),
        known.count(None, confidence),
        tuple(found),
        tuple(_column(release, place, known, confidence, real) for place in range(len(domain))),
        agreements(domain, made, release.codes, confidence),
        matrix,
        spread,
    )


def _about(said: float, tried: Sequence[float], confidence: float, share: bool) -> tuple[float, float] | None:
    """Around the answer, as wide as answers strayed in trials; Student's law, since trials are few."""
    from scipy.special import stdtrit

    off = np.array([one - said for one in tried if math.isfinite(one)])
    if len(off) < 2 or len(off) < len(tried) or not math.isfinite(said):
        return None
    half = float(stdtrit(len(off), (1 + confidence) / 2)) * float(np.sqrt((off**2).mean()))
    low, high = said - half, said + half
    return (max(low, 0.0), min(high, 1.0)) if share else (low, high)


def _column(release: SyntheticRelease, place: int, known: Known, confidence: float, real: Codes | None) -> Column:
    attribute = release.domain.attributes[place]
    counts = np.bincount(release.codes[:, place], minlength=attribute.size)
    scale = release.total / max(len(release.codes), 1)
    groups = _groups(attribute, counts)
    truth = None if real is None else np.bincount(real[:, place], minlength=attribute.size)
    found = []
    for label, codes in groups:
        # Which values are the rare ones was seen from the noisy counts: no interval is known for a sum chosen so.
        fixed = attribute.ordered or len(codes) == 1
        noisy, interval = known.codes(place, codes, confidence) if fixed else (None, None)
        found.append(
            Group(
                label,
                float(counts[codes].sum() * scale),
                noisy,
                None if interval is None else interval.lower,
                None if interval is None else interval.upper,
                None if truth is None else float(truth[codes].sum()),
            )
        )
    return Column(attribute.name, tuple(found))


def _groups(attribute: Attribute, counts: NDArray[np.int64]) -> list[tuple[str, NDArray[np.int64]]]:
    """Codes in few enough groups to draw: neighbours together, or the rare ones. Chosen from what is published."""
    inner = attribute.size - attribute.missing
    found: list[tuple[str, NDArray[np.int64]]] = []
    if attribute.ordered:
        width = -(-inner // _GROUPS)
        for first in range(0, inner, width):
            codes = np.arange(first, min(first + width, inner))
            found.append((_words(attribute.labels[codes[0]], attribute.labels[codes[-1]]), codes))
    else:
        order = np.arange(inner) if inner <= _NAMED else np.argsort(-counts[:inner], kind="stable")
        named = order if inner <= _NAMED else order[: _NAMED - 1]
        found = [(str(attribute.labels[code]), np.array([code])) for code in named]
        if inner > _NAMED:
            found.append((f"{inner - _NAMED + 1} others", order[_NAMED - 1 :]))
    if attribute.missing:
        found.append(("missing", np.array([inner])))
    return found


def _words(first: Any, last: Any) -> str:
    """What a group of codes is called, from its first to its last label: bins, single values, or both.

    >>> _words(Bin(1, 3), Bin(3, 5)), _words(0, Bin(0, 3)), _words(4, 4), _words(Bin(1, 3), 3)
    ('1..5', '0..3', '4', '1..3')
    >>> _words(Fraction(7781, 100), Fraction(80)), _words(Fraction(1, 3), Bin(0, 2))
    ('77.81..80', '0.333333333333..2')
    """
    start = first.start if isinstance(first, Bin) else first
    if isinstance(last, Bin):
        return str(Bin(start, last.end)) if not isinstance(start, Fraction) else f"{_plain(start)}..{_plain(last.end)}"
    return _plain(first) if first == last else f"{_plain(start)}..{_plain(last)}"


def _plain(value: Any) -> str:
    return f"{float(value):.12g}" if isinstance(value, Fraction) else str(value)


def real_figures_of(
    release: SyntheticRelease, asks: Sequence[Statistic], figures: Figures, real: Copy, target: str | None
) -> Figures:
    """The same figures, and how far they are from the real rows: for the owner's eyes."""
    domain = release.domain
    notify("comparing with the real rows")
    apart = {
        ways: distances(domain, real.codes, release.codes, marginals_of(domain, ways, len(real.codes)))
        for ways in (1, 2, 3)
        if ways <= len(domain)
    }
    told = tuple(
        replace(asked, real=answer(ask, real.drawn, domain)) for asked, ask in zip(figures.asks, asks, strict=True)
    )
    task = task_of(domain, release.codes, target) if len(release.codes) else None
    learnt = None if task is None else _prediction(release, task, real.codes)
    notify("comparing values")
    columns = {one.name: release.declared[one.name] for one in release.parts}
    values = comparison_of(columns, real.drawn, release.drawn)
    seen = Real(len(real.codes), apart, associations(domain, real.codes), learnt, values)
    return replace(figures, asks=told, real=seen)


def _prediction(release: SyntheticRelease, task: Task, real: Codes) -> Prediction | None:
    first, second = halves(len(real))
    test = real[second]
    made = score(train(release.domain, task, release.codes), task, test)
    true = score(train(release.domain, task, real[first]), task, test)
    if made is None or true is None:
        return None
    return Prediction(task.text, made, true, most_common(task, test))
