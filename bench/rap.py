"""Relaxed adaptive projection on ADULT: error against epsilon and against the number of marginals, and its speed.

python bench/rap.py [--quick] [--json] [--data FOLDER] [--runs N] [--picture FILE]

FOLDER/adult holds adult.csv.gz and adult-domain.json; without it, a table of the same size is made up. The workload is
64 random marginals of three columns (with at most as many cells as there are rows), delta is 1/n^2 and one row is added
or removed. `max` is the largest error of a cell and `TV` the mean over marginals of half the L1 distance, both as parts
of all rows, of sampled rows. Needs JAX besides the library, and uses a GPU if JAX finds one.
"""

from __future__ import annotations

import gzip
import itertools
import json
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

from discreet.accounting.concentrated import epsilon_of_zcdp
from discreet.core.sensitivity import Sensitivity
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.meter import Meter
from discreet.query.key import Key
from discreet.synth.descent import Target
from discreet.synth.rap import rap
from discreet.synth.relaxation import RelaxedTable
from discreet.synth.tiles import cut
from harness import ENVIRONMENTS, Report, arguments, peak_megabytes

ORDERED = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
SIZES = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)  # ADULT's, for a table made up
EPSILONS = (0.1, 0.25, 0.5, 1.0)
NUMBERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
WAYS = {"one round": {"rounds": 1}, "adaptive": {"rounds": 5}}
FEM = {0.1: 0.172, 0.5: 0.078, 1.0: 0.076}  # FEM's largest errors on such a workload, as published


def adult(folder: Path) -> tuple[Domain, np.ndarray]:
    sizes = json.loads((folder / "adult-domain.json").read_text())
    with gzip.open(folder / "adult.csv.gz", "rt") as file:
        names = next(file).strip().split(",")
        codes = np.loadtxt(file, delimiter=",", dtype=np.int64)
    return domain_of({name: sizes[name] for name in names}), codes


def invented(rows: int = 48_842) -> tuple[Domain, np.ndarray]:
    """Columns of ADULT's sizes, each of which leans on the one before."""
    chance = np.random.default_rng(11)
    codes = np.zeros((rows, len(SIZES)), dtype=np.int64)
    before = chance.random(rows)
    for column, size in enumerate(SIZES):
        before = np.clip(0.7 * before + 0.3 * chance.random(rows) ** 3, 0, 1 - 1e-9)
        codes[:, column] = before * size
    return domain_of({f"c{column}": size for column, size in enumerate(SIZES)}), codes


def domain_of(sizes: dict[str, int]) -> Domain:
    return Domain(
        tuple(Attribute(name, Key(name), tuple(range(size)), name in ORDERED, False) for name, size in sizes.items())
    )


def workload(domain: Domain, rows: int, many: int) -> list[tuple[int, ...]]:
    """The first `many` of all marginals of three columns that are not too large, in random order."""
    every = [one for one in itertools.combinations(range(len(domain)), 3) if domain.cells(one) <= rows]
    order = np.random.RandomState(0).choice(len(every), min(64, len(every)), replace=False)
    rest = [place for place in range(len(every)) if place not in set(order)]
    order = [*order, *np.random.default_rng(1).permutation(rest)]
    return [every[place] for place in order[:many]]


def rho_for(epsilon: float, delta: float) -> Fraction:
    """The zCDP that (epsilon, delta) allows."""
    low, high = 0.0, epsilon
    for _ in range(40):
        middle = (low + high) / 2
        enough = float(epsilon_of_zcdp(Fraction(middle), Fraction(delta))) <= epsilon
        low, high = (middle, high) if enough else (low, middle)
    return Fraction(low)


def errors(domain, codes, made, marginals) -> tuple[float, float]:
    true, found = ArrayCounts(domain, codes), ArrayCounts(domain, made)
    most, halves = 0.0, []
    for columns in marginals:
        off = np.abs(true.marginal(columns) / len(codes) - found.marginal(columns) / max(len(made), 1))
        most = max(most, float(off.max()))
        halves.append(off.sum() / 2)
    return most, float(np.mean(halves))


def measured(report: Report, case: str, table, marginals, epsilon, runs: int, how: dict) -> float:
    """Run the method some times; the mean of the largest errors."""
    domain, codes = table
    price = rho_for(epsilon, 1 / len(codes) ** 2)
    found = []
    for _ in range(runs):
        meter = Meter(ArrayCounts(domain, codes), Sensitivity(1), "rho", price)
        cpu, wall = time.process_time(), time.perf_counter()
        made = rap(meter, marginals, **how)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        if meter.left != 0:
            raise RuntimeError("the price was not spent")
        found.append((*errors(domain, codes, made.codes, marginals), cpu, wall))
    most, halves, cpu, wall = np.mean(found, axis=0)
    report.figure(case, "max, mean", most, f"of {runs} runs")
    report.figure(case, "max, worst", max(one[0] for one in found), f"of {runs} runs")
    report.figure(case, "TV", halves, "of rows")
    report.figure(case, "time", cpu, "CPU s")
    report.figure(case, "time on the clock", wall, "s")
    return float(most)


def speed(report: Report, table, marginals, relaxed_rows: int, steps: int) -> None:
    """How fast undecided rows are bent towards all marginals at once, codes unmerged."""
    import jax

    domain, codes = table
    counts = ArrayCounts(domain, codes)
    start = np.concatenate([np.full((size, relaxed_rows), 1 / size) for size in domain.sizes])
    targets = {
        place: Target(columns, counts.marginal(columns).astype(float), np.array(1.0))
        for place, columns in enumerate(marginals)
    }
    cells = sum(domain.cells(columns) for columns in marginals)
    for projection in ("sparsemax", "softmax"):
        relaxed = RelaxedTable(cut(domain.sizes, marginals), start, projection)
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


def picture(values: list[dict], path: Path) -> None:
    """The largest error, against epsilon and against the number of marginals."""
    import altair

    ways = [*WAYS, "FEM, published"]
    colour = altair.Color(
        "way:N", title=None, sort=ways, scale=altair.Scale(domain=ways, range=["#2166ac", "#b2182b", "#999999"])
    )
    panels = []
    for axis, title, ticks in (
        ("epsilon", "epsilon, with 64 marginals", EPSILONS),
        ("marginals", "marginals of three columns, at epsilon 0.1", NUMBERS),
    ):
        shown = [value for value in values if axis in value]
        base = altair.Chart(altair.InlineData(values=shown)).encode(
            x=altair.X(
                f"{axis}:Q",
                title=title,
                scale=altair.Scale(type="log", base=2, nice=False),
                axis=altair.Axis(values=list(ticks), format="~g", grid=False),
            ),
            y=altair.Y(
                "max:Q", title="largest error of a cell, of all rows", scale=altair.Scale(type="log", nice=False)
            ),
            color=colour,
        )
        panels.append(base.mark_line(point=True).properties(width=300, height=260))
    altair.hconcat(*panels).resolve_scale(y="shared").save(str(path))


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0],
        runs={"type": int, "default": 3, "help": "how often each case is run"},
        picture={"type": Path, "help": "also draw the largest errors into this file"},
    )
    report = Report("rap", as_json=options.json)
    folder = (options.data or ENVIRONMENTS / "data") / "adult"
    if folder.exists():
        table = adult(folder)
    else:
        report.note(f"no {folder.name} under --data: a table is made up")
        table = invented()
    rows, runs = len(table[1]), 1 if options.quick else options.runs
    few = {"relaxed_rows": 200} if options.quick else {}
    values = [{"way": "FEM, published", "epsilon": epsilon, "max": most} for epsilon, most in FEM.items()]
    for way, how in WAYS.items():
        cases = [(64, epsilon) for epsilon in ((0.1, 1.0) if options.quick else EPSILONS)]
        cases += [(many, 0.1) for many in ((4,) if options.quick else NUMBERS) if many != 64]
        for many, epsilon in cases:
            case = f"{many} marginals, epsilon {epsilon:g}, {way}"
            most = measured(report, case, table, workload(table[0], rows, many), epsilon, runs, {**how, **few})
            if many == 64:
                values.append({"way": way, "epsilon": epsilon, "max": most})
            if epsilon == 0.1:
                values.append({"way": way, "marginals": many, "max": most})
    speed(report, table, workload(table[0], rows, 8 if options.quick else 64), 1000, 5 if options.quick else 20)
    report.figure("all", "peak memory", peak_megabytes(), "MB")
    if options.picture:
        picture(values, options.picture)


if __name__ == "__main__":
    main()
