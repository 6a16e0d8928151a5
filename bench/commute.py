"""Synthetic commuters: urns with every prior against noisy counts that agree; errors of origins and of distances.

python bench/commute.py [--quick] [--json] [--data FOLDER] [--picture FILE]

FOLDER holds taxi-chicago/nist-taxi.csv.gz and commuting-ny-2011/NY_commuting_flows_2011.csv.gz; without them only
made-up flows are measured. Errors are means over destinations, weighted by their true rows: total variation between
released and true origins, and kilometres between released and true mean distance. Whoever owns the data can compute
them; they are no part of a release.
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
from discreet import Budget, Integer, Schema
from discreet.flows.commuting.estimate import flows_of
from discreet.flows.commuting.land import Land, cluster
from discreet.flows.commuting.plan import CELLS, SIZES
from discreet.flows.commuting.release import distances_chart, mean_distances
from discreet.flows.commuting.urns import Urns
from discreet.marginals.meter import Noisy
from discreet.mechanisms import Laplace
from discreet.noise.bits import SystemBits
from discreet.show import stack
from discreet.show.map.atlas import atlas
from harness import Report, arguments, peak_megabytes

EPSILONS = ("0.5", "1", "2", "4.6", "8.6")
QUICK = ("1", "4.6")
PRIORS = ("pure", "probabilistic", "approximate", "accepted")
DELTA = Fraction(1, 10**5)  # or, for an accepted prior, how likely a destination is refused
# Total variation of an earlier study on the taxi trips, one draw.
PROTOTYPE = {
    "probabilistic": {"8.6": 0.023, "4.6": 0.025, "2": 0.052, "1": 0.202},
    "pure": {"8.6": 0.028, "4.6": 0.377, "2": 0.783, "1": 0.829},
}
# Middles of Chicago's 77 community areas in hundredths of a degree (of 41 and -87): public, and good to about a km.
AREAS = (
    "101 67 100 69 97 66 98 69 95 68 94 66 92 65 90 63 101 81 99 80 98 77 99 76 98 72 97 72 95 76 95 72 95 81 93 80 "
    "93 77 92 73 94 71 92 70 90 72 90 68 89 76 88 73 88 70 87 67 86 71 84 71 85 67 88 63 86 62 84 63 83 62 82 60 81 63 "
    "81 62 81 60 79 62 79 59 78 60 76 57 74 61 75 59 74 55 73 60 73 58 71 62 71 60 69 57 71 53 68 63 66 61 66 55 79 77 "
    "81 73 82 70 83 67 84 65 81 66 79 72 79 70 78 77 77 72 77 69 78 67 78 64 76 61 75 71 74 65 72 67 72 65 70 71 69 67 "
    "98 91 99 66"
)
OUTSIDE = (41.95, -87.97)  # code 0, a trip that began or ended in no area: put west of the city
ALBERS = 6371 / 1300  # kilometres a step of the atlas


def taxi(folder: Path):
    """Chicago taxi trips from one of 78 areas to another."""
    with gzip.open(folder / "taxi-chicago" / "nist-taxi.csv.gz", "rt") as file:
        names = next(file).strip().split(",")
        used = [names.index(name) for name in ("pickup_community_area", "dropoff_community_area")]
        rows = np.loadtxt(file, delimiter=",", usecols=used, dtype=np.int64)
    flows = np.zeros((78, 78), dtype=np.int64)
    np.add.at(flows, tuple(rows.T), 1)
    numbers = [int(word) for word in AREAS.split()]
    places = [OUTSIDE, *((41 + a / 100, -87 - b / 100) for a, b in zip(numbers[::2], numbers[1::2], strict=True))]
    return flows, np.array(places), rows


def commuting(folder: Path):
    """Commuters between the 62 counties of New York State, and the counties' middles in kilometres."""
    with gzip.open(folder / "commuting-ny-2011" / "NY_commuting_flows_2011.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    counties = sorted({row["origin"] for row in rows} | {row["destination"] for row in rows})
    flows = np.zeros((len(counties), len(counties)), dtype=np.int64)
    for row in rows:
        flows[counties.index(row["origin"]), counties.index(row["destination"])] += int(float(row["flow"]))
    shapes = next(found for found in atlas(True) if "36001" in found.rings).rings
    middles = [np.concatenate([np.asarray(ring) for ring in shapes[code]]).mean(axis=0) for code in counties]
    return flows, np.array(middles) * ALBERS


def made():
    """200,000 commuters between 100 places: fewer the farther, sizes log-normal, a factor of chance for each pair."""
    chance = np.random.default_rng(5)
    at = chance.random((100, 2)) * 50
    far = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    homes, jobs = chance.lognormal(0, 1, 100), chance.lognormal(0, 1.5, 100)
    rate = homes[:, None] * jobs * np.exp(-far / 8) * chance.lognormal(0, 0.5, far.shape)
    return chance.poisson(rate * 200_000 / rate.sum()).astype(np.int64), at


def plane(at):
    return np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))


def globe(places):
    """Kilometres between points not far from each other, (latitude, longitude)."""
    north = np.radians(places[:, 0]) * 6371
    east = np.radians(places[:, 1]) * 6371 * np.cos(np.radians(places[:, 0].mean()))
    return np.stack([east, north], axis=1)


def modern(true, epsilon, land):
    """Noisy cells, origins and destinations, sizes measured too, under one epsilon; then made to agree."""
    parts = []
    for columns, exact, part in (
        ((0, 1), true, CELLS),
        ((0,), true.sum(axis=1), SIZES),
        ((1,), true.sum(axis=0), SIZES),
    ):
        noise = Laplace.for_epsilon(Fraction(epsilon) * part)
        parts.append(Noisy(columns, noise.release(exact.ravel()).reshape(exact.shape), noise))
    return flows_of(*parts, None, land)


def plain(true, epsilon, land):
    """One noisy count of every cell, negative ones set to 0."""
    return np.maximum(Laplace.for_epsilon(epsilon).release(true.ravel()).reshape(true.shape), 0)


def classic(prior):
    """Urns with this prior; sizes of destinations are public, as published."""

    def drawn(true, epsilon, land):
        return Urns(prior, Fraction(epsilon), DELTA).flows(true, true.sum(axis=0), land, SystemBits())[0]

    return drawn


def errors(true, found, distances):
    """Total variation, kilometres off, and kilometres too far, all weighted by true rows."""
    weights = true.sum(axis=0) / true.sum()
    shares = [flows / np.maximum(flows.sum(axis=0), 1) for flows in (true, found)]
    means = [(share * distances).sum(axis=0) for share in shares]
    off = means[1] - means[0]
    variation = np.abs(shares[0] - shares[1]).sum(axis=0) / 2
    return float(weights @ variation), float(weights @ np.abs(off)), float(weights @ off)


def measured(report, case, way, true, epsilon, land, trials, **targets):
    """The errors of a way, as means over trials."""
    found, spent = [], 0.0
    for _ in range(trials):
        start = time.process_time()
        flows = way(true, epsilon, land)
        spent += time.process_time() - start
        found.append(errors(true, flows, land.distances))
    variation, off, far = (float(value) for value in np.mean(found, axis=0))
    report.figure(case, "total variation", variation, "", at_most=targets.get("variation"))
    report.figure(case, "mean distance, off by", off, "km", at_most=targets.get("off"))
    report.figure(case, "mean distance, too far by", far, "km")
    report.figure(case, "one release", spent / trials, "CPU s")
    return variation, off


def compare(report, name, true, at, trials):
    """Every prior against the modern way, which must beat the best of them in both errors."""
    land = Land(plane(at))
    for epsilon in EPSILONS if trials > 1 else QUICK:
        best = [float("inf"), float("inf")]
        for prior in PRIORS:
            case = f"{name}, epsilon {epsilon}, {prior}"
            best = np.minimum(best, measured(report, case, classic(prior), true, epsilon, land, trials))
            if name == "taxi" and epsilon in PROTOTYPE.get(prior, {}):
                report.figure(case, "total variation, prototype", PROTOTYPE[prior][epsilon], "")
        goals = {"variation": best[0], "off": best[1]}
        measured(report, f"{name}, epsilon {epsilon}, modern", modern, true, epsilon, land, trials, **goals)
        measured(report, f"{name}, epsilon {epsilon}, plain noise", plain, true, epsilon, land, trials)


def restricted(report, name, true, at, trials, farthest, near, clusters):
    """What coarser origins and a longest commute do for the urns."""
    distances = plane(at)
    zones = cluster(at, clusters)
    lands = {
        f"within {farthest} km": Land(distances, farthest=farthest),
        f"{clusters} clusters": Land(distances, zones),
        f"{clusters} clusters beyond {near} km": Land(distances, zones, near=near),
        f"both, within {farthest} km": Land(distances, zones, near=near, farthest=farthest),
    }
    for epsilon in ("1", "2") if trials > 1 else QUICK[:1]:
        for label, land in lands.items():
            case = f"{name}, epsilon {epsilon}, probabilistic, {label}"
            measured(report, case, classic("probabilistic"), true, epsilon, land, trials)
    return lands


def release(report, rows, places):
    """The whole way through the curator: count, noise, agreement, rows, record."""
    import pyarrow

    columns = {"start": Integer(0, 77, nullable=False), "end": Integer(0, 77, nullable=False)}
    table = pyarrow.table({name: rows[:, place] for place, name in enumerate(columns)})
    where = {area: tuple(pair) for area, pair in enumerate(places)}
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger.db"
        desk = discreet.open(table, Schema("taxi", columns), ledger=ledger, budget=Budget(epsilon=10), create=True)
        asked = desk.commute(origin="start", destination="end", coordinates=where, degrees=True)
        for method in ("modern", "classic"):
            start = time.process_time()
            found = asked.plan(epsilon=1, method=method).release()
            made_rows = len(found.to_arrow())
            case = f"taxi, through the curator, {method}"
            report.figure(case, "whole release and its rows", time.process_time() - start, "CPU s", at_most=30)
            report.figure(case, "rows", made_rows, "rows")


def panels(name, true, at, farthest):
    """Released against true mean distance, a point for each destination."""
    land, near = Land(plane(at)), Land(plane(at), farthest=farthest)
    ways = {
        f"{name}: probabilistic prior, epsilon 1": (classic("probabilistic"), land),
        f"the same, nobody from beyond {farthest} km": (classic("probabilistic"), near),
        f"{name}: noisy counts, epsilon 1": (modern, land),
    }
    means = mean_distances(true, land.distances)
    many = true.sum(axis=0).tolist()
    found = {}
    for title, (way, where) in ways.items():
        released = mean_distances(way(true, "1", where), land.distances)
        found[title] = [
            {"destination": str(place), "released": made_up, "true": real, "rows": many[place]}
            for place, (made_up, real) in enumerate(zip(released, means, strict=True))
            if made_up is not None and real is not None
        ]
    return found


def main() -> None:
    how = {"type": Path, "help": "also draw released against true mean distances into this file"}
    options = arguments(__doc__.splitlines()[0], picture=how)
    report = Report("commute", as_json=options.json)
    trials = 1 if options.quick else 10
    compare(report, "made up", *made(), trials)
    drawn = {}
    folder = options.data or Path("data")
    if (folder / "taxi-chicago").exists():
        trips, places, rows = taxi(folder)
        at = globe(places)
        compare(report, "taxi", trips, at, trials)
        restricted(report, "taxi", trips, at, trials, farthest=20, near=4, clusters=20)
        release(report, rows, places)
        drawn |= panels("taxi", trips, at, 20)
    else:
        report.note("No taxi-chicago under --data: left out.")
    if (folder / "commuting-ny-2011").exists():
        commuters, middles = commuting(folder)
        compare(report, "commuting", commuters, middles, trials if options.quick else 3)
        restricted(
            report, "commuting", commuters, middles, 1 if options.quick else 3, farthest=150, near=60, clusters=20
        )
        drawn |= panels("New York", commuters, middles, 150)
    else:
        report.note("No commuting-ny-2011 under --data: left out.")
    if options.picture and drawn:
        pictures = [distances_chart(rows, 200, title) for title, rows in drawn.items()]
        stack("Mean distance by destination", pictures, columns=3).save(str(options.picture))
    report.figure("everything", "peak memory", peak_megabytes(), "MB")


if __name__ == "__main__":
    main()
