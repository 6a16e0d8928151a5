"""Ratings of films linked to a few that are public: sparse rows are names (Narayanan and Shmatikov, 2008).

A table of who rated what, without names. Of some people a few ratings are known, from a page or a talk, with scores and
days a little off. Rare films count more. Nearly everybody has few films in common with anybody, so few ratings suffice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.noise.bits import SystemBits
from discreet.risk.attack_result import AttackResult, check_epsilon, check_size
from discreet.risk.draws import draw_even
from discreet.show import Axis, Line, Picture, Scale, lines, share

__all__ = ["KNOWN", "RatingLinks", "Ratings", "draw_ratings", "link_ratings", "release_ratings"]

FILMS, SCORES, DAYS = 600, 5, 2000
KNOWN = (1, 2, 3, 4, 6, 8)
"""How many ratings of a person are known, at each point of the curve."""
LIMIT = 12
"""Ratings of a person that count in the private release, at most."""
_MEAN = 24  # ratings of a person
_NEAR_SCORE, _NEAR_DAY = 1, 14
_TOP = 50
_TARGETS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """A row a person, a column a film: the score, 0 for none, and the day."""

    scores: NDArray[np.int8]
    days: NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class RatingLinks(AttackResult):
    """The share of people found by so many known ratings, and what a private release leaves of that."""

    people: int
    targets: int
    known: tuple[int, ...]
    with_days: tuple[float, ...]
    """Found by scores and days, each a little off."""
    without_days: tuple[float, ...]
    """Found by scores alone."""
    learned: float
    """The part of a target's other films that the row linked to it has, with the most known ratings and days."""
    learned_counts: float
    """The same of rows drawn from exact counts: what publishing counts instead of rows does without any noise."""
    learned_private: float
    """The same of rows drawn from counts under a budget."""
    learned_nobody: float
    """The same of the row of somebody else: what is popular is no secret."""
    epsilon: float
    error: float
    """How far off, relatively and on average, the share of all views is that a popular film has in private counts."""

    def details(self) -> list[str]:
        """Rows that are found, and what counts have of them, exact and under a budget."""
        along = ", ".join(
            f"{one:.0%} by {many} ({other:.0%} without days)"
            for many, one, other in zip(self.known, self.with_days, self.without_days, strict=True)
        )
        return [
            f"Ratings of {self.people:,} people for {FILMS} films, without names. Of {self.targets:,} of them a few "
            f"ratings are known, scores within one and days within two weeks. Found: {along}. The row that is found "
            f"tells {self.learned:.0%} of their other films.",
            f"Counts of films and scores under epsilon = {self.epsilon:g} a person ({LIMIT} ratings of each), and rows "
            f"drawn from them: the nearest row has {self.learned_private:.0%} of their other films; somebody else's "
            f"own row has {self.learned_nobody:.0%}. The price: there are no rows of anybody, and the share of views "
            f"that one of the {_TOP} most seen films has is off by {self.error:.0%}, on average.",
            f"Rows drawn from exact counts have {self.learned_counts:.0%}: counts stop this attack without any noise. "
            "What the epsilon adds: the difference of this month's counts and the next tells nobody's ratings.",
        ]

    def conclusion(self) -> str:
        """What stops the link, and what the epsilon is for."""
        last = len(self.known) - 1
        return (
            f"{self.with_days[last]:.0%} of people are found by {self.known[last]} known ratings because a sparse row "
            "is a name; counts have no rows to link, and under an epsilon they do not tell of one person either."
        )

    def picture(self) -> Picture:
        """Found against known, with days and without."""
        series = [
            Line("scores and days known", tuple(zip(self.known, self.with_days, strict=True))),
            Line("scores known", tuple(zip(self.known, self.without_days, strict=True))),
        ]
        return lines(
            "People found in a table of ratings without names",
            series,
            x=Axis(Scale(0, max(self.known)), "ratings known of a person"),
            y=Axis(Scale(0, 1), "people found, films learned", share),
            levels=[
                (f"their other films, from counts, epsilon = {self.epsilon:g}", self.learned_private),
                ("their other films, from a stranger's row", self.learned_nobody),
            ],
        )


def draw_ratings(people: int, bits: Bits | None = None) -> Ratings:
    """Made-up people: some films are seen by many, most by few; scores lean on the film."""
    source = SystemBits() if bits is None else bits
    popular = 1 / np.arange(8, 8 + FILMS)
    eager = 0.4 + 1.2 * draw_even(source, people)
    seen = draw_even(source, people, FILMS) < np.minimum(0.9, _MEAN * eager[:, None] * popular / popular.sum())
    lean = 1 + 4 * draw_even(source, FILMS)
    scores = np.clip(np.rint(lean + 3 * (draw_even(source, people, FILMS) - 0.5)), 1, SCORES)
    days = (draw_even(source, people, FILMS) * DAYS).astype(np.int16)
    return Ratings(np.where(seen, scores, 0).astype(np.int8), days)


def release_ratings(ratings: Ratings, epsilon: float, bits: Bits | None = None) -> NDArray[np.int64]:
    """Counts of films and scores under a budget, or exact, of as many ratings of each person, where it is infinite.

    Guarantee: epsilon-private for one person added or removed with all their ratings: `LIMIT` of them count, chosen by
    chance, and noise is Laplace of LIMIT / epsilon on every count. Films and scores are public.
    """
    source = SystemBits() if bits is None else bits
    rank = np.where(ratings.scores > 0, draw_even(source, *ratings.scores.shape), 2.0)
    chosen = np.argsort(rank, axis=1)[:, :LIMIT]
    kept = np.zeros_like(ratings.scores)
    np.put_along_axis(kept, chosen, np.take_along_axis(ratings.scores, chosen, axis=1), axis=1)
    counts = np.stack([(kept == score).sum(axis=0) for score in range(1, SCORES + 1)], axis=1)
    if epsilon == math.inf:
        return np.asarray(counts, dtype=np.int64)
    noise = Laplace(LIMIT / Fraction(epsilon))
    return noise.release(counts.astype(np.int64).ravel(), bits=source).reshape(counts.shape)


def _rows_from(counts: NDArray[np.int64], rows: int, least: float, bits: Bits) -> Ratings:
    """People who never were: ratings as many as usual, films and scores as often as counts beyond the noise say."""
    clear = np.where(counts > least, counts, 0).ravel()
    chance = np.cumsum(clear / max(1, int(clear.sum())))
    scores = np.zeros((rows, FILMS), dtype=np.int8)
    cell = np.minimum(np.searchsorted(chance, draw_even(bits, rows, _MEAN)), chance.size - 1)
    scores[np.arange(rows)[:, None], cell // SCORES] = cell % SCORES + 1
    return Ratings(scores, (draw_even(bits, rows, FILMS) * DAYS).astype(np.int16))


def link_ratings(
    people: int = 2000,
    epsilon: float = 1.0,
    *,
    targets: int | None = None,
    known: Sequence[int] = KNOWN,
    bits: Bits | None = None,
) -> RatingLinks:
    """Draw a table, learn a few ratings of some people, and find their rows; then try rows from a private release."""
    check_size("people", people, 50, 20_000)
    check_epsilon(epsilon)
    many = min(people, _TARGETS) if targets is None else targets
    check_size("targets", many, 1, people)
    if not known or min(known) < 1 or max(known) > 20:
        raise InputError("known", list(known), "numbers of ratings from 1 to 20")
    source = SystemBits() if bits is None else bits
    table = draw_ratings(people, source)
    counts = release_ratings(table, epsilon, source)
    made = [
        _rows_from(counts, people, 2 * LIMIT / epsilon, source),
        _rows_from(release_ratings(table, math.inf, source), people, 0, source),
    ]
    able = np.flatnonzero((table.scores > 0).sum(axis=1) > max(known))[:many]
    weight = 1 / np.log(2 + (table.scores > 0).sum(axis=0))
    found = np.zeros((2, len(known)))
    learned = np.zeros(4)
    for target in able:
        films = np.flatnonzero(table.scores[target])
        order = films[np.argsort(draw_even(source, len(films)))]
        off = draw_even(source, 2, len(order))
        score = table.scores[target, order] + np.rint(off[0] * 2 - 1).astype(int)
        day = table.days[target, order] + np.rint(6 * off[1] - 3).astype(int)
        for place, few in enumerate(known):
            seen, rated, when = order[:few], score[:few], day[:few]
            with_days, without = (_nearest(table, seen, rated, times, weight) for times in (when, None))
            found[0, place] += with_days == target
            found[1, place] += without == target
        rest = order[max(known) :]
        row = _nearest(table, order[: max(known)], score[: max(known)], day[: max(known)], weight)
        fakes = [_nearest(rows, order[: max(known)], score[: max(known)], None, weight) for rows in made]
        other = (target + 1 + int(draw_even(source, 1)[0] * (people - 1))) % people
        drawn = [rows.scores[fake] for rows, fake in zip(made, fakes, strict=True)]
        shown = (table.scores[row], *drawn, table.scores[other])
        learned += [float((scores[rest] > 0).mean()) for scores in shown]
    shares = found / max(1, len(able))
    told = learned / max(1, len(able))
    return RatingLinks(
        people,
        len(able),
        tuple(known),
        tuple(shares[0].tolist()),
        tuple(shares[1].tolist()),
        float(told[0]),
        float(told[2]),
        float(told[1]),
        float(told[3]),
        float(epsilon),
        _off(table, counts),
    )


def _nearest(table: Ratings, films: Any, scores: Any, days: Any, weight: NDArray[np.float64]) -> int:
    """The row that agrees best with what is known; of several, the first."""
    theirs = table.scores[:, films]
    agrees = (theirs > 0) & (np.abs(theirs - scores) <= _NEAR_SCORE)
    if days is not None:
        agrees &= np.abs(table.days[:, films] - days) <= _NEAR_DAY
    return int((agrees * weight[films]).sum(axis=1).argmax())


def _off(table: Ratings, counts: NDArray[np.int64]) -> float:
    """How far off the share of each of the most seen films is, relative to it, on average."""
    true = (table.scores > 0).sum(axis=0)
    top = np.argsort(-true, kind="stable")[:_TOP]
    truly = true[top] / true.sum()
    told = counts.sum(axis=1)[top] / max(1, int(counts.sum()))
    return float(np.abs(told / truly - 1).mean())
