"""Relaxed adaptive projection: largest errors against epsilon and the number of marginals, rounds by picks, its speed.

python bench/rap.py [--quick] [--json] [--data FOLDER] [--runs N] [--parts panels,mosaic,grid,rows,speed]
                    [--results FILE] [--minutes M] [--picture FILE]

FOLDER holds ADULT and LOANS as codes (bench/synth_tables.py); without it, a table of ADULT's size is made up. A
workload is random marginals of three or of five columns with at most as many cells as there are rows, delta is 1/n^2
and one row is added or removed. `max` is the largest error of a cell and `TV` the mean over marginals of half the L1
distance, both as parts of all rows, of sampled rows.

Runs go to FILE, a line each, in rounds: every case once, then every case again. What is there is not run again, so a
benchmark that was stopped (after M minutes, say) goes on where it stood. Figures and the picture are of all runs in the
file. Needs JAX besides the library, and uses a GPU if JAX finds one.
"""

from __future__ import annotations

import functools
import itertools
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.sensitivity import Sensitivity
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.meter import Meter
from discreet.synth.descent import Target
from discreet.synth.methods import method_named
from discreet.synth.relaxation import RelaxedTable
from discreet.synth.tiles import cut
from harness import ENVIRONMENTS, Report, arguments, peak_megabytes
from rap_picture import draw
from synth_tables import errors, rho_for, table, workload

TABLES, COLUMNS = ("adult", "loans"), (3, 5)
EPSILONS = (0.1, 0.25, 0.5, 1.0)
NUMBERS = (4, 16, 64, 256)
USUAL = 64  # marginals of a workload
LOW = 0.1  # epsilon where the number of marginals is what changes
PICKS, ROUNDS = (5, 10, 25, 50, 100), (2, 5, 10, 25, 50)
ROWS = (100, 300, 1000)
FEW = 100  # undecided rows, where their number is not what changes
WAYS = {"one round": {"rounds": 1}, "five rounds of ten": {"rounds": 5, "per_round": 10}}
PARTS = ("panels", "mosaic", "grid", "rows", "speed")


@dataclass(frozen=True)
class Case:
    """One setting: a table, a workload, a price, a method and its options."""

    part: str
    table: str
    columns: int
    marginals: int
    epsilon: float
    method: str = "rap"
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def entry(self) -> dict[str, Any]:
        """As the file of results has it."""
        return {**vars(self), "options": dict(self.options)}

    @property
    def name(self) -> str:
        told = ", ".join(f"{name}={value}" for name, value in self.options)
        place = f"{self.table}, {self.marginals} {self.columns}-way, epsilon {self.epsilon:g}"
        return f"{place}, {self.method}" + (f" ({told})" if told else "")


def cases(part: str, tables: tuple[str, ...] = TABLES) -> Iterator[Case]:
    """The settings of a part of the benchmark."""
    few = {"relaxed_rows": FEW}
    if part in ("panels", "mosaic"):
        ways = [("rap", tuple({**few, **way}.items())) for way in WAYS.values()]
        for name, columns in itertools.product(tables, COLUMNS):
            places = [(USUAL, epsilon) for epsilon in EPSILONS] + [(many, LOW) for many in NUMBERS if many != USUAL]
            for (many, epsilon), way in itertools.product(places, ways if part == "panels" else [("mosaic", ())]):
                yield Case(part, name, columns, many, epsilon, *way)
    elif part == "grid":
        for picks, rounds in itertools.product(PICKS, ROUNDS):
            yield Case(
                part, "adult", 3, USUAL, LOW, "rap", tuple({**few, "rounds": rounds, "per_round": picks}.items())
            )
    elif part == "rows":
        for epsilon, many in itertools.product((LOW, 1.0), ROWS):
            yield Case(part, "adult", 3, USUAL, epsilon, "rap", (("relaxed_rows", many), ("rounds", 1)))


@functools.cache
def marginals(folder: Path | None, name: str, columns: int, many: int) -> tuple[tuple[int, ...], ...]:
    """The first `many` of all marginals that are not too large, in random order; of 64, those of bench/synth.py."""
    domain, codes = table(folder, name)
    first = workload(domain, len(codes), columns)
    if many <= len(first):
        return tuple(first[:many])
    known, more = set(first), []
    rest = [one for one in itertools.combinations(range(len(domain)), columns) if domain.cells(one) <= len(codes)]
    rest = [one for one in rest if one not in known]
    more = np.random.default_rng(1).permutation(len(rest))[: many - len(first)]
    return (*first, *(rest[place] for place in more))


def run(folder: Path | None, case: Case) -> dict[str, Any]:
    """One run of a setting: errors, and seconds."""
    domain, codes = table(folder, case.table)
    asked = list(marginals(folder, case.table, case.columns, case.marginals))
    meter = Meter(ArrayCounts(domain, codes), Sensitivity(1), "rho", rho_for(case.epsilon, len(codes)))
    cpu, wall = time.process_time(), time.perf_counter()
    made = method_named(case.method)(meter, asked, None, **dict(case.options))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    if meter.left != 0:
        raise RuntimeError("the price was not spent")
    most, distance = errors(domain, codes, made.codes, asked)
    return {**case.entry, "max": most, "TV": distance, "cpu": round(cpu, 2), "wall": round(wall, 2)}


def stored(path: Path | None) -> list[dict[str, Any]]:
    """The runs in a file."""
    return [] if path is None or not path.exists() else [json.loads(line) for line in path.read_text().splitlines()]


def of(case: Case, runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of a setting."""
    return [one for one in runs if all(one[name] == value for name, value in case.entry.items())]


def carried_out(
    report: Report, folder: Path | None, wanted: list[list[Case]], runs: int, path: Path | None, until: float
) -> list[dict[str, Any]]:
    """All runs of some parts, those in the file included: every part once, then again, until time is up."""
    import jax

    found = stored(path)
    for number, part in itertools.product(range(runs), wanted):
        for case in part:
            if len(of(case, found)) > number:
                continue
            if time.monotonic() > until:
                return found
            try:
                found.append(run(folder, case))
            except Exception as problem:
                report.note(f"{case.name} did not run: {type(problem).__name__}: {problem}")
                continue
            jax.clear_caches()  # every run has programs of its own shapes
            if path is not None:
                with path.open("a") as file:
                    file.write(json.dumps(found[-1]) + "\n")
    return found


def told(report: Report, case: Case, runs: list[dict[str, Any]]) -> None:
    """The figures of a setting."""
    if not runs:
        return
    report.figure(case.name, "max, mean", float(np.mean([one["max"] for one in runs])), f"of {len(runs)} runs")
    report.figure(case.name, "max, worst", max(one["max"] for one in runs), f"of {len(runs)} runs")
    report.figure(case.name, "TV", float(np.mean([one["TV"] for one in runs])), "of rows")
    report.figure(case.name, "time", float(np.mean([one["cpu"] for one in runs])), "CPU s")


def speed(report: Report, folder: Path | None, many: int, relaxed_rows: int, steps: int) -> None:
    """How fast undecided rows are fitted to all marginals at once, codes unmerged."""
    import jax

    domain, codes = table(folder, "adult")
    asked = marginals(folder, "adult", 3, many)
    counts = ArrayCounts(domain, codes)
    start = np.concatenate([np.full((size, relaxed_rows), 1 / size) for size in domain.sizes])
    targets = {
        place: Target(columns, counts.marginal(columns).astype(float), np.array(1.0))
        for place, columns in enumerate(asked)
    }
    cells = sum(domain.cells(columns) for columns in asked)
    for projection in ("sparsemax", "softmax"):
        relaxed = RelaxedTable(cut(domain.sizes, asked), start, projection)
        case = f"{cells:,} cells, {relaxed_rows:,} rows, {projection}, {jax.devices()[0].device_kind}"
        clock = time.perf_counter(), time.process_time()
        relaxed.fit(targets, float(len(codes)), 1, 0.05)
        report.figure(case, "compiling", time.process_time() - clock[1], "CPU s")
        clock = time.perf_counter(), time.process_time()
        relaxed.fit(targets, float(len(codes)), steps, 0.05)
        wall, cpu = time.perf_counter() - clock[0], time.process_time() - clock[1]
        report.figure(case, "a step", 1000 * cpu / steps, "CPU ms")
        report.figure(case, "a step, on the clock", 1000 * wall / steps, "ms")
        report.figure(case, "examples", relaxed_rows * steps / wall, "undecided rows/s")


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0],
        runs={"type": int, "default": 5, "help": "how often each case is run"},
        parts={"default": ",".join(PARTS), "help": "what to run: " + ", ".join(PARTS)},
        results={"type": Path, "help": "file of runs: those in it are not run again, new ones are added"},
        minutes={"type": float, "default": float("inf"), "help": "begin no run after so many minutes"},
        picture={"type": Path, "help": "also draw the panels and the grid into this file"},
    )
    report = Report("rap", as_json=options.json)
    folder = options.data or ENVIRONMENTS / "data"
    if not (folder / "adult").exists():
        report.note("no adult under --data: a table is made up")
        folder = None
    tables = TABLES if folder is not None else TABLES[:1]
    parts = [part for part in options.parts.split(",") if part in PARTS]
    wanted = [list(cases(part, tables)) for part in parts if part != "speed"]
    if options.quick:
        first = next(cases("panels", tables))
        wanted = [[first, next(cases("mosaic", tables))]]
    runs = 1 if options.quick else options.runs
    found = carried_out(report, folder, wanted, runs, options.results, time.monotonic() + 60 * options.minutes)
    for case in itertools.chain.from_iterable(wanted):
        told(report, case, of(case, found))
    if "speed" in parts:
        speed(report, folder, 8 if options.quick else USUAL, 1000, 5 if options.quick else 20)
    report.figure("all", "peak memory", peak_megabytes(), "MB")
    if options.picture:
        draw(found, options.picture)


if __name__ == "__main__":
    main()
