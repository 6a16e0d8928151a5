"""Flows of origin, destination and window: mean absolute error against plain noise of the same price, also cut at zero;
coverage of intervals by size; time and memory.

python bench/mobility.py [--quick] [--json] [--data FOLDER] [--joint]

FOLDER holds taxi-chicago/nist-taxi.csv.gz and commuting-ny-2011/NY_commuting_flows_2011.csv.gz; without them only the
made-up flows are measured. --joint also solves one least squares over everything at once, by OSQP.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # else threads that wait count as work

import csv
import gzip
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

import discreet
from discreet import Budget, Integer, Schema, Unit
from discreet.constraints.projection import project
from discreet.constraints.system import Between, Measurement
from discreet.flows.mobility.ask import SHARES
from discreet.flows.mobility.flows import reconcile
from discreet.flows.mobility.layout import CELLS, ORIGINS, PILOT, WINDOWS, ZONES, Layout
from discreet.flows.mobility.stages import buy_stages, centre, reaches
from discreet.mechanisms import Laplace
from discreet.query.price import Price
from harness import Report, arguments, peak_megabytes

PROTOTYPE = {CELLS: 0.82, ORIGINS: 40, WINDOWS: 261}  # of an earlier study, on data of the same kind and size
EPSILONS = (0.1, 0.5, 1.0)


def gravity():
    """100,000 trips between 174 places in 4 windows: fewer the farther, sizes log-normal, 12 square zones."""
    chance = np.random.default_rng(5)
    places, windows = 174, 4
    at = chance.random((places, 2))
    homes, jobs = chance.lognormal(0, 1, places), chance.lognormal(0, 1.2, places)
    far = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    rate = homes[:, None] * jobs * np.exp(-far / 0.15) * chance.lognormal(0, 0.3, (windows, places, places))
    rate *= np.array([0.4, 0.2, 0.3, 0.1])[:, None, None]
    flows = chance.poisson(rate * (100_000 / rate.sum())).astype(np.int64)
    zones = tuple(int(zone) for zone in (at[:, 0] * 4).astype(int) * 3 + (at[:, 1] * 3).astype(int))
    return flows, Layout(windows, zones, zones)


def taxi(folder: Path):
    """Chicago taxi trips by shift and community area; zones are runs of nine areas."""
    with gzip.open(folder / "taxi-chicago" / "nist-taxi.csv.gz", "rt") as file:
        names = next(file).strip().split(",")
        used = [names.index(name) for name in ("shift", "pickup_community_area", "dropoff_community_area")]
        rows = np.loadtxt(file, delimiter=",", usecols=used, dtype=np.int64)
    flows = np.zeros((21, 78, 78), dtype=np.int64)
    np.add.at(flows, tuple(rows.T), 1)
    zones = tuple(area // 9 for area in range(78))
    return flows, Layout(21, zones, zones), rows


def commuting(folder: Path):
    """Commuters between the 62 counties of New York State; no windows and no zones."""
    with gzip.open(folder / "commuting-ny-2011" / "NY_commuting_flows_2011.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    counties = sorted({row["origin"] for row in rows} | {row["destination"] for row in rows})
    flows = np.zeros((1, len(counties), len(counties)), dtype=np.int64)
    for row in rows:
        flows[0, counties.index(row["origin"]), counties.index(row["destination"])] += int(float(row["flow"]))
    return flows, Layout(1, (0,) * len(counties), (0,) * len(counties))


def measured(layout: Layout, sums, epsilon: float, shares):
    """Every aggregation with the noise that its share of epsilon buys."""
    whole = sum(shares.values())
    noises = {name: Laplace.for_epsilon(epsilon * part / whole) for name, part in shares.items()}
    noisy = {name: noise.release(sums[name].ravel()).reshape(sums[name].shape) for name, noise in noises.items()}
    return noisy, noises


def staged(layout: Layout, sums, epsilon: float, zoned: bool):
    """What a release measures by default: a first look, and what follows from it."""
    names = [name for name in SHARES if zoned or name != ZONES]
    shares = {name: Fraction(SHARES[name], sum(SHARES[one] for one in names)) for name in names}
    price = Price.read(epsilon=str(epsilon))
    stages = buy_stages(Unit(), Budget(epsilon=10).allotment(None), price, layout, shares)
    truth = {**sums, PILOT: sums[WINDOWS]}
    draw = lambda one: one.noise.release(truth[one.name].ravel()).reshape(truth[one.name].shape)  # noqa: E731
    pilot = draw(stages.pilot)
    after = stages.after(pilot)
    noisy = {PILOT: pilot, **{one.name: draw(one) for one in after}}
    return noisy, (stages.pilot, *after)


def errors(report: Report, name: str, truth, layout: Layout, trials: int, *, zoned: bool = True, targets=None) -> None:
    true = layout.sums(truth)
    tables = [table for table in SHARES if zoned or table != ZONES]
    for epsilon in EPSILONS:
        ours, plain, cut = (dict.fromkeys(tables, 0.0) for _ in range(3))
        held, seconds, dense = Coverage(), 0.0, 0
        for _ in range(trials):
            noisy, measures = staged(layout, true, epsilon, zoned)
            dense += ORIGINS not in noisy
            start = time.process_time()
            found = layout.sums(reconcile(layout, noisy, {one.name: one.noise for one in measures}))
            seconds += time.process_time() - start
            held.see(layout, measures, noisy, found, true, tables)
            stray = Laplace.for_epsilon(epsilon).release(np.zeros(truth.size, dtype=np.int64)).reshape(truth.shape)
            strayed, clipped = layout.sums(truth + stray), layout.sums(np.maximum(truth + stray, 0))
            for feature in tables:
                for into, counts in ((ours, found), (plain, strayed), (cut, clipped)):
                    into[feature] += np.abs(counts[feature] - true[feature]).mean() / trials
        case = f"{name}, epsilon {epsilon:g}"
        report.figure(case, "found dense", dense / trials, f"of {trials}")
        for feature in tables:
            target = (targets or {}).get(feature) if epsilon == EPSILONS[0] else None
            report.figure(case, f"{feature}, mean error", ours[feature], "rows", at_most=target)
            report.figure(case, f"{feature}, plain noise", plain[feature], "rows")
            report.figure(case, f"{feature}, plain noise cut at 0", cut[feature], "rows")
            best = min(plain[feature], cut[feature])
            report.figure(case, f"{feature}, against the better", ours[feature] / best, "x", at_most=1)
        held.report(report, case)
        report.figure(case, "making counts agree", seconds / trials, "CPU s", at_most=10)


class Coverage:
    """How often 95% intervals as printed hold the truth, by the size of the truth."""

    def __init__(self) -> None:
        self.seen = {}

    def see(self, layout, measures, noisy, found, true, tables) -> None:
        reach = reaches(layout, measures, 0.95)
        for table in tables:
            source, half = reach[table]
            around = centre(layout, noisy, table, source)
            low = np.minimum(np.maximum(around - half, 0), found[table])
            high = np.maximum(around + half, found[table])
            inside = ((true[table] >= low) & (true[table] <= high)).ravel()
            sizes = np.searchsorted([1, 10, 100, 1000], true[table].ravel(), side="right")
            for size in np.unique(sizes):
                hits, of = self.seen.get((table, size), (0, 0))
                self.seen[table, size] = hits + int(inside[sizes == size].sum()), of + int((sizes == size).sum())

    def report(self, report, case) -> None:
        names = ("0", "1-9", "10-99", "100-999", "1000 and more")
        for (table, size), (hits, of) in sorted(self.seen.items()):
            report.figure(case, f"{table} of {names[size]}: 95% intervals hold", 100 * hits / of, f"% of {of:,}")


def release(report: Report, rows) -> None:
    """The whole way through the curator: count, noise, agreement, record."""
    import pyarrow

    columns = {
        "shift": Integer(0, 20, nullable=False),
        "start": Integer(0, 77, nullable=False),
        "end": Integer(0, 77, nullable=False),
    }
    table = pyarrow.table({name: rows[:, place] for place, name in enumerate(columns)})
    with tempfile.TemporaryDirectory() as folder:
        budget = Budget(epsilon=10)
        desk = discreet.open(
            table, Schema("taxi", columns), ledger=Path(folder) / "ledger.db", budget=budget, create=True
        )
        zones = {area: f"zone {area // 9}" for area in range(78)}
        offer = desk.mobility(origin="start", destination="end", window="shift", zones=zones).plan(epsilon=1)
        start, clock = time.process_time(), time.perf_counter()
        found = offer.release()
        report.figure("taxi, through the curator", "whole release", time.process_time() - start, "CPU s", at_most=30)
        report.figure("taxi, through the curator", "whole release", time.perf_counter() - clock, "s")
        report.figure("taxi, through the curator", "cells published", len(found["cells"]), "rows")


def joint(report: Report, truth, layout: Layout) -> None:
    """One weighted least squares over all aggregations at once, x >= 0: what the staged way is instead of."""
    from scipy import sparse

    windows, origins, destinations = layout.shape
    true = layout.sums(truth)
    epsilon = EPSILONS[0]
    noisy, noises = measured(layout, true, epsilon, SHARES)
    window, cell = np.divmod(np.arange(truth.size), origins * destinations)
    row, column = np.divmod(cell, destinations)
    over, under = layout.zones
    pair = np.array(layout.origin_zones)[row] * under + np.array(layout.destination_zones)[column]
    places = {
        "origins": (window * origins + row, windows * origins),
        "destinations": (window * destinations + column, windows * destinations),
        "zones": (window * over * under + pair, windows * over * under),
        "windows": (window, windows),
    }
    asked = [Measurement(CELLS, None, noisy[CELLS].ravel(), variance=noises[CELLS].variance)]
    for feature, (place, many) in places.items():
        matrix = sparse.csr_array((np.ones(truth.size), (place, np.arange(truth.size))), (many, truth.size))
        asked.append(Measurement(feature, matrix, noisy[feature].ravel(), variance=noises[feature].variance))
    start = time.process_time()
    found = project(asked, [Between("counts")], seconds=400)
    case = f"gravity, epsilon {epsilon:g}, all at once ({found.solver})"
    sums = layout.sums(found.values.reshape(truth.shape))
    for feature in SHARES:
        report.figure(case, f"{feature}, mean error", np.abs(sums[feature] - true[feature]).mean(), "rows")
    report.figure(case, "solving", time.process_time() - start, "CPU s")


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0], joint={"action": "store_true", "help": "also one least squares by OSQP"}
    )
    report = Report("mobility", as_json=options.json)
    trials = 1 if options.quick else 20
    flows, layout = gravity()
    errors(report, "gravity", flows, layout, trials, targets=PROTOTYPE)
    report.figure("gravity", "peak memory so far", peak_megabytes(), "MB", at_most=1024)
    folder = options.data or Path("data")
    if (folder / "taxi-chicago").exists():
        trips, areas, rows = taxi(folder)
        errors(report, "taxi", trips, areas, trials)
        release(report, rows)
    else:
        report.note("No taxi-chicago under --data: left out.")
    if (folder / "commuting-ny-2011").exists():
        commuters, counties = commuting(folder)
        errors(report, "commuting", commuters, counties, trials, zoned=False)
    else:
        report.note("No commuting-ny-2011 under --data: left out.")
    if options.joint:
        joint(report, flows, layout)
    report.figure("everything", "peak memory", peak_megabytes(), "MB")


if __name__ == "__main__":
    main()
