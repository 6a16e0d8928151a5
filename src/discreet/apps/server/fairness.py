"""Whose job is next: by priority, and among callers of one priority in turn, however many jobs each has waiting.

>>> queue = [Place("ann", 0, n) for n in range(1, 4)] + [Place("bob", 0, 4)]
>>> [place.who for place in fair_order(queue, {})]
['ann', 'bob', 'ann', 'ann']
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import NamedTuple

__all__ = ["PRIORITIES", "Place", "fair_order"]

PRIORITIES = {"high": 1, "normal": 0, "low": -1}
"""The priorities of jobs by name. Only custodians give the highest."""


class Place(NamedTuple):
    """A job that waits: whose it is, its priority, and its number in the order in which jobs were sent."""

    who: str
    priority: int
    number: int


def fair_order(waiting: Iterable[Place], served: Mapping[str, int]) -> list[Place]:
    """The order in which waiting jobs begin, if no other is sent. `served` is the turn that each caller last had.

    A higher priority goes first. Within one, the caller whose last turn is longest ago has the next, with their oldest
    job; so of two callers with jobs of one priority, neither has two turns while the other has none.
    """
    order: list[Place] = []
    last = dict(served)
    turn = max(last.values(), default=0)
    jobs = sorted(waiting, key=lambda place: (-place.priority, place.number))
    for priority in sorted({place.priority for place in jobs}, reverse=True):
        lines: dict[str, deque[Place]] = defaultdict(deque)
        for place in jobs:
            if place.priority == priority:
                lines[place.who].append(place)
        turns = [(last.get(who, 0), line[0].number, who) for who, line in lines.items()]
        heapq.heapify(turns)
        while turns:
            *_, who = heapq.heappop(turns)
            order.append(lines[who].popleft())
            turn += 1
            last[who] = turn
            if lines[who]:
                heapq.heappush(turns, (turn, lines[who][0].number, who))
    return order
