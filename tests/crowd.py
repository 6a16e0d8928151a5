"""Many processes on one ledger, some of them killed: the experiment behind the tests and the benchmark."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

WORKER = Path(__file__).with_name("worker.py")
KILLED = -9


@dataclass(frozen=True)
class Crowd:
    """What the processes acknowledged, how many were killed, what else went wrong, and how long it took."""

    acknowledged: list[str]
    killed: int
    problems: list[str]
    seconds: float


def _start(*arguments: object) -> subprocess.Popen:
    command = [sys.executable, str(WORKER), *map(str, arguments)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, **pipes)


def run_crowd(place: str, *, processes: int, each: int, kill: int) -> Crowd:
    """`processes` workers try to spend `each` times; `kill` of them die at a random moment on the way."""
    doomed = {index: random.randrange(each) for index in random.sample(range(processes), kill)}
    workers = [
        _start("spend", place, f"p{index}", each, *([doomed[index]] if index in doomed else []))
        for index in range(processes)
    ]
    for worker in workers:
        if worker.stdout.readline() != "ready\n":
            raise RuntimeError(worker.stderr.read())
    start = time.perf_counter()
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    # Their lines fit into a pipe (64 KiB), so nobody waits for us to read them.
    codes = [worker.wait() for worker in workers]
    seconds = time.perf_counter() - start
    acknowledged, problems = [], []
    for worker, code in zip(workers, codes, strict=True):
        with worker:
            acknowledged += [line.strip() for line in worker.stdout if line.endswith("\n")]
            said = worker.stderr.read()
        if code not in (0, KILLED) or said:
            problems.append(said)
    return Crowd(acknowledged, codes.count(KILLED), problems, seconds)


def run_door(place: str, *, jobs: int, kills: int) -> tuple[list[tuple[str, str]], int]:
    """One worker after another takes `jobs` through the door; the first `kills` of them are killed on the way.

    Each life answers at least one job anew before it is killed, so no job is begun more than twice.
    """
    seen: list[tuple[str, str]] = []
    for life in range(kills + 1):
        worker = _start("door", place, f"life{life}", jobs, *([random.randrange(4)] if life < kills else []))
        with worker:
            said, problem = worker.communicate("go\n", timeout=600)
        seen += [tuple(line.split()) for line in said.splitlines(keepends=True)[1:] if line.endswith("\n")]
        if worker.returncode == 0:
            return seen, life + 1
        if worker.returncode != KILLED:
            raise RuntimeError(problem)
    raise RuntimeError("the last worker was killed, but not by us")


def run_publish(place: str, job: int) -> str:
    """A worker that is killed between measuring and publishing a job; what it was about to publish."""
    worker = _start("publish", place, "doomed", job)
    with worker:
        said, problem = worker.communicate("go\n", timeout=600)
    if worker.returncode != KILLED:
        raise RuntimeError(problem)
    return said.split()[-1]
