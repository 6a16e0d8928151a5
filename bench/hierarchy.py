"""The exact integer optimum over a tree against the relaxed quadratic program, rounded: CPU, memory, broken sums.

    python bench/hierarchy.py [--quick] [--json] [--no-peers] [--leaves 1e7] [--only release]

The tree has ten children for every region; leaves have counts with a long tail (gamma-Poisson, a third of them zero or
one), and every region has discrete Laplace noise of scale 8. Every case runs in a process of its own; the least CPU
time of its runs counts, that of all threads included. "exact" and its rivals get the same noisy table with names.
"solver alone" gets arrays: ten million names take more memory than solving.

OSQP runs at its default accuracy (1e-3), where its upper levels are hundreds or thousands off, and at 1e-7, where every
count is the real optimum's; Clarabel at 1e-8.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np

from harness import Report, arguments, peak_megabytes

SCALE = 8
AGAIN = 10**5  # up to so many leaves a second release is timed, for which all is imported
RUNS = 3  # the same for everyone
SIZES = [10**3, 10**4, 10**5, 10**6, 10**7]


def truth(leaves: int) -> list[np.ndarray]:
    """True counts of every level, root first: the same for every run."""
    numbers = np.random.default_rng(20)
    bottom = numbers.poisson(numbers.gamma(0.5, 20, leaves))
    found = [bottom]
    while len(found[-1]) > 1:
        found.append(found[-1].reshape(-1, 10).sum(axis=1))
    return found[::-1]


def noisy(levels: list[np.ndarray]) -> list[np.ndarray]:
    """Counts with noise; drawn by numpy so that runs can be compared. A benchmark, not a release."""
    numbers = np.random.default_rng(21)
    stop = -math.expm1(-1 / SCALE)
    return [x + numbers.geometric(stop, len(x)) - numbers.geometric(stop, len(x)) for x in levels]


def measured(leaves: int):
    """The noisy table with names, as a user has it."""
    from discreet.mechanisms import Laplace
    from discreet.trees.measurement import Level, Measurement
    from discreet.trees.tree import Hierarchy

    digits = len(str(leaves - 1))
    codes = [f"{number:0{digits}d}" for number in range(leaves)]
    tree = Hierarchy.from_prefixes(codes, {f"level {length}": length for length in range(1, digits + 1)})
    noise = Laplace(SCALE)
    return Measurement(tree, tuple(Level(y[:, None], noise) for y in noisy(truth(leaves))))


def by_arrays(leaves: int, runs: int) -> dict[str, float]:
    """The solver alone, on arrays without names."""
    from discreet.trees.exact.forest import Forest
    from discreet.trees.exact.solve import solve
    from discreet.trees.rules import NO_BOUND

    targets = noisy(truth(leaves))
    parents = [np.zeros(0, np.int64)] + [np.repeat(np.arange(len(y) // 10), 10) for y in targets[1:]]

    def everywhere(value: int) -> tuple[np.ndarray, ...]:
        return tuple(np.broadcast_to(np.int64(value), y.shape) for y in targets)

    forest = Forest(tuple(parents), tuple(targets), everywhere(1), everywhere(0), everywhere(NO_BOUND))
    before = peak_megabytes()
    seconds, counts = least(lambda: solve(forest), runs)
    broken = sum(int((x < 0).sum()) for x in counts) + sum(
        int((below.reshape(-1, 10).sum(axis=1) != above).sum()) for above, below in pairwise(counts)
    )
    cost = sum(int(((x - y) ** 2).sum()) for x, y in zip(counts, targets, strict=True))
    return {"cpu": seconds, "memory": peak_megabytes(), "before": before, "broken": broken, "cost": cost}


def by_totals(regions: int, which: str) -> dict[str, float]:
    """The exact method where public totals cross 16 cells: of the leaves, or of the regions of every level."""
    from discreet.mechanisms import Laplace
    from discreet.trees.exact.solve import exact
    from discreet.trees.measurement import Level, Measurement
    from discreet.trees.rules import Rules
    from discreet.trees.tree import Hierarchy

    numbers = np.random.default_rng(22)
    digits = len(str(regions - 1))
    codes = [f"{number:0{digits}d}" for number in range(regions)]
    tree = Hierarchy.from_prefixes(codes, {f"level {length}": length for length in range(digits - 2, digits + 1)})
    true = tree.sums(numbers.poisson(numbers.gamma(0.5, 20, (regions, 16))))
    levels = [
        Level(y.reshape(x.shape), Laplace(SCALE))
        for x, y in zip(true, noisy([x.reshape(-1) for x in true]), strict=True)
    ]
    table = Measurement(tree, tuple(levels))
    names = tree.names if which == "every level" else tree.names[-1:]
    public = Rules(totals={name: x.sum(axis=1) for name, x in zip(tree.names, true, strict=True) if name in names})
    seconds, found = least(lambda: exact(table, public), 1)
    broken = sum(int((public.totals[name] != found.totals[tree.level(name)]).sum()) for name in names)
    return {"cpu": seconds, "memory": peak_megabytes(), "broken": broken}


def by_desk(leaves: int) -> dict[str, float]:
    """A release by the public path: from rows, through counting, noise, `bayes`, both intervals and the ledger."""
    from tempfile import TemporaryDirectory

    import pyarrow as pa

    import discreet
    from discreet import Budget
    from discreet.data.column import Category, Text
    from discreet.data.schema import Schema

    numbers = np.random.default_rng(1)
    digits = len(str(leaves - 1))
    codes = [f"{number:0{digits}d}" for number in range(leaves)]
    people = numbers.poisson(numbers.gamma(0.6, 12, leaves) * (numbers.random(leaves) < 0.7))
    many = int(people.sum())
    labels = {"block": codes, "sex": ["f", "m"], "age": [f"{age:02}" for age in range(12)]}
    drawn = {
        "block": np.repeat(np.arange(leaves), people),
        "sex": numbers.integers(0, 2, many),
        "age": np.minimum(numbers.geometric(0.25, many) - 1, 11),
    }
    rows = {
        name: pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32)), pa.array(labels[name])).cast("string")
        for name, places in drawn.items()
    }
    named = {"sex": Category(labels["sex"], nullable=False), "age": Category(labels["age"], nullable=False)}
    schema = Schema("people", {"block": Text(), **named})
    names = ("state", "county", "tract", "group", "block")
    levels = {name: digits - 4 + place for place, name in enumerate(names)}
    geography = pa.table({name: [code[:length] for code in codes] for name, length in levels.items() if length > 0})
    with TemporaryDirectory() as folder:
        account = {"ledger": f"{folder}/ledger.db", "budget": Budget(9), "who": "ann", "create": True}
        curator = discreet.open(pa.table(rows), schema, **account)
        before, times, peak = peak_megabytes(), [], 0.0
        for _ in range(2 if leaves <= AGAIN else 1):  # the first imports what the others find there
            start = time.process_time()
            question = curator.tree(geography.column_names, geography=geography, by=["sex", "age"])
            release = question.plan(epsilon=1).release()
            times.append(time.process_time() - start)
            peak = peak or peak_megabytes()
    counts = release.estimate.counts
    broken = sum(int((release.tree.add(level, counts[level + 1]) != counts[level]).sum()) for level in range(4))
    return {"cpu": times[0], "again": times[-1], "memory": peak, "before": before, "broken": broken, "rows": many}


def by_names(method: str, leaves: int, runs: int) -> dict[str, float]:
    """One of the public methods on a noisy table."""
    from discreet.trees.exact.solve import exact
    from discreet.trees.relaxed import relaxed, violations

    table = measured(leaves)
    before = peak_megabytes()
    match method.split():
        case ["exact"]:
            seconds, found = least(lambda: exact(table), runs)
        case [solver, precision]:
            import clarabel  # noqa: F401 - imports are not part of the work
            import osqp  # noqa: F401
            import scipy.sparse  # noqa: F401

            seconds, found = least(lambda: relaxed(table, solver=solver, precision=float(precision)), runs)
    targets = [level.counts for level in table.levels]
    cost = sum(int(((x - y) ** 2).sum()) for x, y in zip(found.counts, targets, strict=True))
    broken = violations(table.tree, found.counts)
    return {"cpu": seconds, "memory": peak_megabytes(), "before": before, "broken": broken, "cost": cost}


def least(work, runs: int):
    """The least CPU time of some runs, and what the last one gave."""
    best = math.inf
    for _ in range(runs):
        start = time.process_time()
        found = work()
        best = min(best, time.process_time() - start)
    return best, found


def one(case: str) -> None:
    """Run one case in this process and print what it took."""
    method, leaves, how = json.loads(case)
    match method:
        case "arrays":
            found = by_arrays(leaves, how)
        case "totals":
            found = by_totals(leaves, how)
        case "desk":
            found = by_desk(leaves)
        case _:
            found = by_names(method, leaves, how)
    print(json.dumps(found))


def fresh(method: str, leaves: int, how: int | str) -> dict[str, float] | None:
    """One case in a new process; None if it failed."""
    case = json.dumps([method, leaves, how])
    try:
        done = subprocess.run([sys.executable, __file__, "--one", case], check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError:
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def compare(report: Report, leaves: int, solvers: list[str]) -> float:
    """Both methods on one table; the exact method's CPU seconds."""
    where = f"{leaves:.0e} leaves"
    ours = fresh("exact", leaves, RUNS)
    if ours is None:
        raise RuntimeError("the exact method failed")
    report.figure(f"{where}, exact", "CPU", ours["cpu"], "s")
    report.figure(f"{where}, exact", "peak RSS", ours["memory"], "MB")
    report.figure(f"{where}, exact", "broken sums", ours["broken"], "regions", at_most=0)
    for solver in solvers:
        theirs = fresh(solver, leaves, RUNS)
        case = f"{where}, {solver}"
        if theirs is None:
            report.note(f"{case}: no solution")
            continue
        report.figure(case, "CPU", theirs["cpu"], "s")
        report.figure(case, "peak RSS", theirs["memory"], "MB")
        report.figure(case, "broken sums", theirs["broken"], "regions")
        target = 50 if leaves == 10**6 and solver.startswith("osqp") else None
        report.figure(case, "its CPU / exact", theirs["cpu"] / ours["cpu"], "x", at_least=target)
    return ours["cpu"]


def grow(report: Report, sizes: list[int]) -> None:
    """The solver alone at every size: growth and memory."""
    times = {}
    for leaves in sizes:
        found = fresh("arrays", leaves, RUNS)
        if found is None:
            raise RuntimeError("the exact method failed")
        times[leaves] = found["cpu"]
        case = f"{leaves:.0e} leaves, solver alone"
        report.figure(case, "CPU", found["cpu"], "s")
        report.figure(case, "peak RSS", found["memory"], "MB", at_most=3000 if leaves == 10**7 else None)
        report.figure(case, "broken sums", found["broken"], "regions", at_most=0)
    low = 10**5 if sizes[-1] > 10**5 else 10**4  # below, fixed costs hide the growth
    power = math.log(times[sizes[-1]] / times[low]) / math.log(sizes[-1] / low)
    report.figure(f"growth {low:.0e} to {sizes[-1]:.0e} leaves", "exponent", power, "", at_most=1.15)


def cross(report: Report, sizes: list[int]) -> None:
    """Public totals of regions over 16 cells: a flow, no longer a tree."""
    for regions in sizes:
        for which in ("the leaves", "every level"):
            found = fresh("totals", regions, which)
            case = f"{regions:.0e} leaves x 16, totals of {which}"
            if found is None:
                raise RuntimeError("the exact method failed")
            report.figure(case, "CPU", found["cpu"], "s")
            report.figure(case, "peak RSS", found["memory"], "MB")
            report.figure(case, "broken totals", found["broken"], "regions", at_most=0)


def publish(report: Report, sizes: list[int]) -> None:
    """The public path at every size: CPU, memory, growth."""
    limits = {10**5: {"CPU": 5, "peak RSS": None}, 10**6: {"CPU": 120, "peak RSS": 4000}}
    times = []
    for leaves in sizes:
        found = fresh("desk", leaves, 1)
        case, most = f"{leaves:.0e} leaves x 24, released", limits.get(leaves, {})
        if found is None:
            raise RuntimeError("the release failed")
        times.append(found["cpu"])
        report.figure(case, "CPU", found["cpu"], "s", at_most=most.get("CPU"))
        if leaves <= AGAIN:
            report.figure(case, "CPU of a second release", found["again"], "s")
        report.figure(case, "peak RSS", found["memory"], "MB", at_most=most.get("peak RSS"))
        report.figure(case, "of it rows and regions", found["before"], "MB")
        report.figure(case, "broken sums", found["broken"], "regions", at_most=0)
    if len(sizes) > 1:
        power = math.log(times[-1] / times[-2]) / math.log(sizes[-1] / sizes[-2])
        report.figure(f"growth {sizes[-2]:.0e} to {sizes[-1]:.0e} leaves x 24", "exponent", power, "", at_most=1.15)


def main() -> None:
    leaves_option = {"type": float, "help": "size of the largest tree (default 1e7; with --quick 1e6)"}
    only = {"default": "", "choices": ["", "release"], "help": "release: the public path alone"}
    options = arguments(__doc__.splitlines()[0], leaves=leaves_option, only=only)
    report = Report("hierarchy", as_json=options.json)
    largest = int(options.leaves or (10**6 if options.quick else 10**7))
    if options.only in ("", "release"):
        publish(report, [10**4, 10**5] if options.quick else [10**4, 10**5, 10**6])
    if options.only == "release":
        return
    grow(report, [size for size in SIZES if size <= largest])
    solvers: list[str] = [] if options.no_peers else ["osqp 1e-3", "osqp 1e-7", "clarabel 1e-8"]
    for leaves in SIZES[:3] if options.quick else SIZES[:4]:
        if leaves <= largest:
            compare(report, leaves, solvers)
    cross(report, [10**3] if options.quick else [10**3, 10**4])
    if report.missed:
        report.note(f"{report.missed} targets missed")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2])
    else:
        main()
