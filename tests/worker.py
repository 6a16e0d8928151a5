"""A process that spends until it is done or dead. Each line it prints acknowledges one thing.

    python worker.py spend|door|fork|publish PLACE NAME COUNT [DOOM]

With DOOM it kills itself (SIGKILL: no handler, no farewell) at a random moment after its DOOM-th act.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time

from discreet.core.loss import Pure
from discreet.errors import BudgetError
from discreet.ledger.ledger import Ledger
from jobs import Data, Job


class Doom:
    """A clock that starts at the DOOM-th act and ends the process a few milliseconds later, wherever it is then."""

    def __init__(self, acts: int | None) -> None:
        self.left = acts

    def act(self) -> None:
        if self.left is not None:
            if self.left == 0:
                threading.Thread(target=self.strike, daemon=True).start()
            self.left -= 1

    @staticmethod
    def strike() -> None:
        time.sleep(random.random() * 0.004)
        os.kill(os.getpid(), signal.SIGKILL)

    def wait(self) -> None:
        if self.left is not None and self.left < 0:
            time.sleep(60)


def spend(ledger: Ledger, name: str, count: int, doom: Doom) -> None:
    for index in range(count):
        doom.act()
        try:
            ledger.spend("visits", Pure(1), release=f"{name}-{index}", who=name, digest="d")
        except BudgetError:
            continue
        print(f"{name}-{index}", flush=True)
    doom.wait()


def door(ledger: Ledger, name: str, count: int, doom: Doom) -> None:
    from discreet.ledger.door import release

    for index in range(count):
        answer = release(Job(), Data(), ledger, who=name, release=f"job-{index}")
        print(answer.release, answer.result["count"], flush=True)
        if not answer.replayed:
            doom.act()
    doom.wait()


def publish(ledger: Ledger, name: str, count: int, doom: Doom) -> None:
    """Dies when it has measured and is about to publish; says what it was to publish."""
    from discreet.ledger.door import release

    class Doomed(Job):
        def publish(self, measured):
            print(measured["count"], flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    release(Doomed(), Data(), ledger, who=name, release=f"job-{count}")


def fork(ledger: Ledger, name: str, count: int, doom: Doom) -> None:
    spend(ledger, f"{name}-parent", count, doom)
    children = []
    for child in range(4):
        pid = os.fork()
        if pid == 0:
            spend(ledger, f"{name}-{child}", count, doom)
            sys.exit(0)  # an orderly end, so that whatever a child inherited would be closed
        children.append(pid)
    spend(ledger, f"{name}-again", count, doom)
    for pid in children:
        if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
            sys.exit("a child failed")
    spend(ledger, f"{name}-last", count, doom)


if __name__ == "__main__":
    what, where, who, how_many, *rest = sys.argv[1:]
    books = Ledger.open(where)
    books.account("visits").budget.allotments[0].price(Pure(1))  # loads what is loaded on first use
    print("ready", flush=True)
    sys.stdin.readline()  # all start together
    work = {"spend": spend, "door": door, "fork": fork, "publish": publish}[what]
    work(books, who, int(how_many), Doom(int(rest[0]) if rest else None))
