"""The least coarsening of whole columns under which classes meet criteria: the best so far at any time."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.core.progress import notify
from discreet.errors import InputError
from discreet.risk.criteria import Criteria, Requirement
from discreet.risk.ladder import Ladder
from discreet.risk.records import CodedColumn, classes_of

__all__ = ["Node", "least_coarse"]

Steps = tuple[int, ...]

_NODES = 200_000  # combinations of steps that are searched through one by one
_WORK = 5_000_000  # kinds of rows grouped in all, where no time is given: what bounds the search
_GOLDEN = (5**0.5 - 1) / 2
_STALE = 400  # nodes looked at since the last improvement, after which a search near the best begins elsewhere


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A step for every column, the rows left out, and the part of what the columns told that is lost."""

    steps: Steps
    redacted: NDArray[np.bool_]
    loss: float
    least: bool = True
    """Whether no other node loses less; not known where there were too many to look at."""
    tried: int = 0
    """Nodes that were looked at."""
    stopped: bool = False
    """Whether the search was interrupted."""


def least_coarse(
    columns: Sequence[CodedColumn],
    ladders: Sequence[Ladder],
    criteria: Criteria,
    redact: int,
    *,
    secrets: Sequence[CodedColumn] = (),
    person: CodedColumn | None = None,
    start: Steps | None = None,
    seconds: float | None = None,
    on_better: Callable[[Node], None] | None = None,
) -> Node:
    """The steps with the least loss under which at most `redact` rows must be left out for classes to meet `criteria`.

    A row left out has lost everything, one that is kept what coarsening takes from it. A first node is found from the
    top: one group of all in every column, refined column by column while few enough rows are left out.

    With at most 200,000 combinations of steps, candidates are then tried by what coarsening alone loses over all rows,
    which leaving rows out never makes smaller, so the search ends where that reaches the best, and `least` is True.
    Rows in classes below k or l never become more when a column gets coarser: a candidate below one that failed by
    these, or whose steps of two columns fail by themselves, is not tried. With more combinations, nodes near the best
    are tried, and other ways down from the top.

    The search ends after `seconds`, or where none are given after 5 million kinds of rows were grouped, or with Ctrl-C.
    Then the best so far is what there is. `on_better` hears of each. `start` are steps that are tried first, such as
    those of a search under stricter criteria.
    """
    search = _Search(columns, ladders, Requirement(criteria, secrets, person), redact, seconds, on_better)
    stopped = False
    try:
        if start is not None:
            search.node(start)
        search.descend(_gain_for_growth)
        search.descend(_gain)
        search.improve()
        if search.best is not None and math.prod(len(ladder) for ladder in ladders) <= _NODES:
            search.exhaust()
        elif search.best is not None:
            search.wander()
    except _OutOfTimeError:
        pass
    except KeyboardInterrupt:
        if search.best is None:
            raise
        stopped = True
    if search.best is None:
        raise InputError("criteria", str(criteria), "criteria that one group of all rows meets")
    return replace(search.best, least=search.done, tried=len(search.seen), stopped=stopped)


class _OutOfTimeError(Exception):
    """The search has used what it was given."""


def _gain(lower: Node, node: Node, growth: float) -> float:
    """What is won by a step down."""
    return node.loss - lower.loss


def _gain_for_growth(lower: Node, node: Node, growth: float) -> float:
    """What is won for each doubling of the classes, which are what runs out."""
    return (node.loss - lower.loss) / math.log2(1 + max(growth, 1.0))


class _Search:
    """Nodes of one table, each grouped at most once; rows of equal values are grouped as one kind."""

    def __init__(
        self,
        columns: Sequence[CodedColumn],
        ladders: Sequence[Ladder],
        requirement: Requirement,
        redact: int,
        seconds: float | None,
        on_better: Callable[[Node], None] | None,
    ) -> None:
        self.ladders, self.redact, self.on_better = ladders, redact, on_better
        others = [*requirement.secrets] if requirement.criteria.of_secrets else []
        others += [requirement.person] if requirement.person is not None else []
        self.distinct = classes_of([*columns, *others])
        first = np.zeros(len(self.distinct.sizes), dtype=np.int64)
        first[self.distinct.of] = np.arange(len(columns[0].codes))
        self.kinds = [column.taken(first) for column in columns]
        secrets = [one.taken(first) for one in requirement.secrets] if requirement.criteria.of_secrets else []
        person = None if requirement.person is None else requirement.person.taken(first)
        self.requirement = Requirement(requirement.criteria, secrets, person, self.distinct.sizes)
        self.lost = [
            [ladder.lost(kind, step) for step in range(len(ladder))]
            for kind, ladder in zip(self.kinds, ladders, strict=True)
        ]
        rows = len(columns[0].codes)
        self.losses = [[float(each @ self.distinct.sizes) / rows for each in steps] for steps in self.lost]
        self.seen: dict[Steps, Node | None] = {}
        self.failed: list[Steps] = []
        self.growth: dict[Steps, int] = {}
        self.best: Node | None = None
        self.done = False
        self.began, self.seconds = time.monotonic(), seconds
        self.left = _WORK
        self.turn = 0.0  # varies the order in which nodes are tried

    def small(self, places: Sequence[int], steps: Sequence[int]) -> int:
        """How many rows are in classes below k or l when `places` stand at `steps` and other columns are unknown."""
        self._spend()
        pairs = zip(places, steps, strict=True)
        classes = classes_of([self.ladders[place].climb(self.kinds[place], step) for place, step in pairs])
        return self.requirement.rows_of(self.requirement.small(classes, self.redact))

    def least(self, steps: Steps) -> float:
        """What coarsening alone loses: no less is lost when rows are left out."""
        return sum(self.losses[place][step] for place, step in enumerate(steps)) / len(steps)

    def node(self, steps: Steps) -> Node | None:
        """The node of these steps; None if too many rows would be left out."""
        if steps in self.seen:
            return self.seen[steps]
        if any(all(low <= high for low, high in zip(steps, failed, strict=True)) for failed in self.failed):
            self.seen[steps] = None
            return None
        self._spend()
        parts = list(zip(self.ladders, self.kinds, steps, strict=True))
        classes = classes_of([ladder.climb(kind, step) for ladder, kind, step in parts])
        self.growth[steps] = len(classes.sizes)
        out = self.requirement.failing(classes, self.redact)
        node = None
        if self.requirement.rows_of(out) <= self.redact:
            each = sum(self.lost[place][step] for place, step in enumerate(steps)) / len(steps)
            rows = len(self.distinct.of)
            loss = float(self.distinct.sizes @ np.where(out, 1.0, each)) / rows
            node = Node(steps, out[self.distinct.of], loss)
            if self.best is None or loss < self.best.loss:
                self.best = node
                if self.on_better is not None:
                    self.on_better(node)
        elif self.requirement.rows_of(self.requirement.small(classes, self.redact)) > self.redact:
            self.failed = [one for one in self.failed if any(a > b for a, b in zip(one, steps, strict=True))]
            self.failed.append(steps)
        self.seen[steps] = node
        return node

    def descend(self, worth: Callable[[Node, Node, float], float], varied: float = 0.0) -> None:
        """From one group of all in every column down, each time by the step that is worth most."""
        node = self.node(tuple(len(ladder) - 1 for ladder in self.ladders))
        while node is not None:
            choices = []
            for lower in _lowered(node.steps):
                if (found := self.node(lower)) is not None and found.loss < node.loss:
                    growth = self.growth[lower] / max(self.growth[node.steps], 1)
                    choices.append((worth(found, node, growth) * (1 - varied * self._vary()), lower, found))
            node = max(choices, key=lambda one: one[:2])[2] if choices else None

    def exhaust(self) -> None:
        """Every combination of steps that can be better, those that lose least by coarsening first."""
        grid = np.indices([len(ladder) for ladder in self.ladders]).reshape(len(self.ladders), -1).T
        each = [np.array(losses)[grid[:, place]] for place, losses in enumerate(self.losses)]
        lost: NDArray[np.float64] = np.sum(each, axis=0) / len(self.ladders)
        alive = (lost < self._best) & self._possible(grid)
        for index in np.argsort(lost, kind="stable"):
            if lost[index] >= self._best:
                break
            if not alive[index]:
                continue
            steps = tuple(int(step) for step in grid[index])
            self.node(steps)
            if self.failed and self.failed[-1] == steps:
                alive &= (grid > grid[index]).any(axis=1)
        self.done = True

    def improve(self) -> None:
        """Nodes near the best, until none of them is better."""
        before = math.inf
        while self._best < before:
            before = self._best
            for steps in self._near(self.best.steps if self.best is not None else ()):
                self.node(steps)
                if self._best < before:
                    break

    def wander(self) -> None:
        """Nodes near the best, by what they lose at least; and new ways down from the top where these are used up."""
        while True:
            self._spend()  # also where every node on the way was seen before
            self.improve()
            self.descend(_gain_for_growth if self._vary() < 0.5 else _gain, varied=self._vary())

    def _near(self, steps: Steps) -> Iterator[Steps]:
        """One column lower, or some lower and another higher: those that may lose less, the likeliest to do first."""
        tops = [len(ladder) - 1 for ladder in self.ladders]
        near = set()
        for place, down in itertools.product(range(len(steps)), (1, 2)):
            if steps[place] < down:
                continue
            lower = (*steps[:place], steps[place] - down, *steps[place + 1 :])
            near.add(lower)
            for other, up in itertools.product(range(len(steps)), (1, 2)):
                if other != place and steps[other] + up <= tops[other]:
                    higher = (*lower[:other], lower[other] + up, *lower[other + 1 :])
                    near.add(higher)
                    near |= {
                        one for one in _lowered(higher) if one[place] == higher[place] and one[other] == higher[other]
                    }
        fresh = [one for one in near if one not in self.seen and self.least(one) < self._best]
        return iter(sorted(fresh, key=lambda one: (-self.least(one), one))[:_STALE])

    def _vary(self) -> float:
        """The next of numbers that fill 0 to 1 evenly and are the same in every search: no chance is needed."""
        self.turn = (self.turn + _GOLDEN) % 1.0
        return self.turn

    @property
    def _best(self) -> float:
        return math.inf if self.best is None else self.best.loss

    def _possible(self, grid: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The nodes of which no two columns fail by themselves."""
        found = np.ones(len(grid), dtype=bool)
        if len(self.ladders) == 2:
            return found
        for one, other in itertools.combinations(range(len(self.ladders)), 2):
            fits = np.array(
                [
                    [self.small((one, other), (low, high)) <= self.redact for high in self._steps(other)]
                    for low in self._steps(one)
                ]
            )
            found &= fits[grid[:, one], grid[:, other]]
        return found

    def _steps(self, place: int) -> range:
        return range(len(self.ladders[place]))

    def _spend(self) -> None:
        """Stop where the time or the work given is used up."""
        self.left -= len(self.distinct.sizes)
        took = time.monotonic() - self.began
        over = self.left <= 0 if self.seconds is None else took > self.seconds
        if over and self.best is not None:
            raise _OutOfTimeError
        done = None if self.seconds is None else min(took / self.seconds, 1.0)
        least = f", best so far loses {self.best.loss:.1%}" if self.best is not None else ""
        notify(f"coarsening: {len(self.seen):,} ways tried{least}", done)


def _lowered(steps: Steps) -> list[Steps]:
    """One column a step lower."""
    return [(*steps[:place], step - 1, *steps[place + 1 :]) for place, step in enumerate(steps) if step]
