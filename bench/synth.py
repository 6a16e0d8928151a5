"""Synthetic tables by every method: errors of marginals, time and memory, beside AIM and MST on mbi's inference.

python bench/synth.py [--quick] [--json] [--no-peers] [--data FOLDER] [--runs N] [--methods a,b] [--tables adult,loans]
                      [--columns 3,5] [--epsilons 0.1,1] [--picture FILE]

FOLDER/adult and FOLDER/loans hold the tables as codes (NAME.csv.gz, NAME-domain.json); without them a table of ADULT's
size is made up. A workload is 64 random marginals of three or of five columns with at most as many cells as the table
has rows. delta is 1/n^2, one row is added or removed, the price is the zCDP that (epsilon, delta) allows. `max` is the
largest error of a cell, `TV` the mean over marginals of half the L1 distance, both as parts of all rows, both of
sampled rows. Every run is a process of its own, so that memory is that of one method.
"""

from __future__ import annotations

import functools
import gzip
import itertools
import json
import multiprocessing
import tempfile
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
from discreet.synth.methods import METHODS, method_named
from harness import ENVIRONMENTS, Report, arguments, peak_megabytes, peer

EPSILONS = (0.1, 0.25, 0.5, 1.0)
# Which columns have an order: a schema says so, and these files do not.
NAMES = {
    "adult": {
        "workclass",
        "marital-status",
        "occupation",
        "relationship",
        "race",
        "sex",
        "native-country",
        "income>50K",
    },
    "loans": {
        "term",
        "home_ownership",
        "verification_status",
        "loan_status",
        "purpose",
        "zip_code",
        "addr_state",
        "debt_settlement_flag",
        "settlement_status",
    },
}
# What the method of the house is held to (largest error, TV), and CPU seconds.
TARGETS = {("adult", 3, 1.0): (0.0055, 0.0653), ("adult", 3, 0.1): (0.033, 0.163), ("loans", 3, 1.0): (0.0115, 0.090)}
SECONDS = 10
SIZES = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)


@functools.cache
def table(folder: Path | None, name: str) -> tuple[Domain, np.ndarray]:
    if folder is None or not (folder / name / f"{name}-domain.json").exists():
        return invented()
    sizes = json.loads((folder / name / f"{name}-domain.json").read_text())
    with gzip.open(folder / name / f"{name}.csv.gz", "rt") as file:
        names = next(file).strip().split(",")
        codes = np.loadtxt(file, delimiter=",", dtype=np.int64)
    return domain_of({one: sizes[one] for one in names}, NAMES[name]), codes


def invented(rows: int = 48_842) -> tuple[Domain, np.ndarray]:
    """Columns of ADULT's sizes, each of which leans on the one before."""
    chance = np.random.default_rng(11)
    codes = np.zeros((rows, len(SIZES)), dtype=np.int64)
    before = chance.random(rows)
    for column, size in enumerate(SIZES):
        before = np.clip(0.7 * before + 0.3 * chance.random(rows) ** 3, 0, 1 - 1e-9)
        codes[:, column] = before * size
    return domain_of({f"c{column}": size for column, size in enumerate(SIZES)}, set()), codes


def domain_of(sizes: dict[str, int], unordered: set[str]) -> Domain:
    return Domain(
        tuple(Attribute(one, Key(one), tuple(range(size)), one not in unordered, False) for one, size in sizes.items())
    )


def workload(domain: Domain, rows: int, columns: int) -> list[tuple[int, ...]]:
    every = [one for one in itertools.combinations(range(len(domain)), columns) if domain.cells(one) <= rows]
    if len(every) <= 64:
        return every
    return [every[place] for place in np.random.RandomState(0).choice(len(every), 64, replace=False)]


def rho_for(epsilon: float, rows: int) -> Fraction:
    """The zCDP that (epsilon, 1/rows^2) allows."""
    low, high = 0.0, epsilon
    for _ in range(40):
        middle = (low + high) / 2
        enough = epsilon_of_zcdp(Fraction(middle), Fraction(1, rows**2)) <= Fraction(epsilon)
        low, high = (middle, high) if enough else (low, middle)
    return Fraction(low)


def errors(domain: Domain, codes, made, marginals) -> tuple[float, float]:
    true, found = ArrayCounts(domain, codes), ArrayCounts(domain, made)
    most, halves = 0.0, []
    for columns in marginals:
        off = np.abs(true.marginal(columns) / len(codes) - found.marginal(columns) / max(len(made), 1))
        most = max(most, float(off.max()))
        halves.append(float(off.sum()) / 2)
    return most, float(np.mean(halves))


def run(method: str, folder: Path | None, name: str, columns: int, epsilon: float) -> tuple[float, ...]:
    """One release, in a process of its own: errors, CPU seconds, megabytes."""
    domain, codes = table(folder, name)
    marginals = workload(domain, len(codes), columns)
    meter = Meter(ArrayCounts(domain, codes), Sensitivity(1), "rho", rho_for(epsilon, len(codes)))
    work = method_named(method)
    start = time.process_time()
    made = work(meter, marginals, None)
    seconds = time.process_time() - start
    if meter.left != 0:
        raise RuntimeError("the price was not spent")
    megabytes = peak_megabytes()
    return (*errors(domain, codes, made.codes, marginals), seconds, megabytes)


def alone(method: str, folder: Path | None, name: str, *job):
    table(folder, name)  # read once, here
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(run, (method, folder, name, *job))


def measured(report: Report, method: str, folder, name: str, columns: int, epsilon: float, runs: int) -> list[dict]:
    """Some runs of one case; the largest error of their mean, for the picture."""
    case = f"{name}, {columns}-way, epsilon {epsilon:g}, {method}"
    try:
        found = np.array([alone(method, folder, name, columns, epsilon) for _ in range(runs)])
    except Exception as problem:
        report.note(f"{case} did not run: {type(problem).__name__}: {problem}")
        return []
    ours = TARGETS.get((name, columns, epsilon)) if method == "mosaic" and folder is not None else None
    goal = {"at_most": ours[0]} if ours else {}
    report.figure(case, "max, mean", float(found[:, 0].mean()), f"of {runs} runs", **goal)
    report.figure(case, "max, worst", float(found[:, 0].max()), f"of {runs} runs")
    goal = {"at_most": ours[1]} if ours else {}
    report.figure(case, "TV", float(found[:, 1].mean()), "of rows", **goal)
    report.figure(
        case, "time", float(found[:, 2].mean()), "CPU s", **({"at_most": SECONDS} if method == "mosaic" else {})
    )
    report.figure(case, "memory", float(found[:, 3].max()), "MB")
    panel = f"{name}, {columns}-way"
    return [{"panel": panel, "method": method, "epsilon": epsilon, "max": float(found[:, 0].mean())}]


def beside(report: Report, folder, name: str, columns: int, epsilon: float) -> None:
    """AIM (a quarter of the published rounds) and MST on mbi's inference: one run each."""
    domain, codes = table(folder, name)
    marginals = workload(domain, len(codes), columns)
    for method, script in (("AIM", "synth_mbi.py"), ("MST", "synth_mbi_mst.py")):
        with tempfile.TemporaryDirectory() as scratch:
            path, rho = Path(scratch) / "job.npz", float(rho_for(epsilon, len(codes)))
            how = {"rho": rho, "rounds": 4 * len(domain), "cells": 200_000, "steps": 100}
            np.savez(path, codes=codes, sizes=domain.sizes, workload=np.array(marginals), **how)
            found = peer("mbi", ["mbi==2.0.0"], script, str(path), report=report)
            if found is None:
                continue
            most, half = errors(domain, codes, np.load(found["rows"]).astype(np.int64), marginals)
        case = f"{name}, {columns}-way, epsilon {epsilon:g}, {method} on mbi"
        report.figure(case, "max", most, "of one run")
        report.figure(case, "TV", half, "of rows")
        report.figure(case, "time", found["cpu"], "CPU s")
        report.figure(case, "memory", found["megabytes"], "MB")


def picture(values: list[dict], path: Path) -> None:
    """The largest error of a cell against epsilon: a panel for each table and workload, a line for each method."""
    import altair

    colours = {"mosaic": "#2166ac", "aim": "#b2182b", "mst": "#d6904a", "rap": "#5aae61", "independent": "#999999"}
    colours = {method: colour for method, colour in colours.items() if any(one["method"] == method for one in values)}
    scale = altair.Scale(domain=list(colours), range=list(colours.values()))
    chart = altair.Chart(altair.InlineData(values=values)).mark_line(point=True)
    chart = chart.encode(
        x=altair.X(
            "epsilon:Q",
            scale=altair.Scale(type="log", base=2, nice=False),
            axis=altair.Axis(values=list(EPSILONS), format="~g", grid=False),
        ),
        y=altair.Y("max:Q", title="largest error of a cell, of all rows", scale=altair.Scale(type="log", nice=False)),
        color=altair.Color("method:N", title=None, sort=list(colours), scale=scale),
    )
    facets = altair.Facet("panel:N", title=None)
    chart.properties(width=260, height=220).facet(facets, columns=2).save(str(path))


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0],
        runs={"type": int, "default": 5},
        methods={"default": ",".join(METHODS)},
        tables={"default": "adult,loans"},
        columns={"default": "3,5"},
        epsilons={"default": ",".join(f"{one:g}" for one in EPSILONS)},
        picture={"type": Path, "help": "also draw the largest errors into this file"},
    )
    report = Report("synth", as_json=options.json)
    folder = options.data or (ENVIRONMENTS / "data" if (ENVIRONMENTS / "data" / "adult").exists() else None)
    if folder is None:
        report.note("no --data: a table is made up, and targets do not apply")
    methods = [one for one in options.methods.split(",") if one in METHODS]
    if options.quick:
        for method in methods:
            if method != "rap":  # needs JAX, and longer: see bench/rap.py
                measured(report, method, folder, "adult", 3, 1.0, 1)
        return
    names = options.tables.split(",") if folder is not None else ["adult"]
    widths, epsilons = map(int, options.columns.split(",")), map(float, options.epsilons.split(","))
    values = []
    for name, columns, epsilon in itertools.product(names, widths, epsilons):
        for method in methods:
            values += measured(report, method, folder, name, columns, epsilon, options.runs)
        if not options.no_peers and name == "adult" and columns == 3 and epsilon in (0.1, 1.0):
            beside(report, folder, name, columns, epsilon)
    if options.picture:
        picture(values, options.picture)


if __name__ == "__main__":
    main()
