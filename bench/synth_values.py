"""Synthetic taxi rides beside the real ones: spikes, steps, times, and what never happens, by the public path.

python bench/synth_values.py [--quick] [--json] [--data FOLDER] [--runs N] [--rho 1.5]

FOLDER/taxi-nyc/taxis.csv.gz holds 6,433 rides in New York; without it rides are made up. The file is opened with the
schema below, which says what anybody knows: bounds, cents, the clock. Shares are compared with those of the real
table; each is to be within two points of it. `given` also says that nobody notes a tip for a ride paid in cash.
"""

from __future__ import annotations

import gzip
import multiprocessing
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd

import discreet
from discreet import Budget, Category, Integer, Real, Schema, Timestamp
from discreet.errors import DiscreetError
from harness import ENVIRONMENTS, Report, arguments, peak_megabytes

POINTS = 0.02
ZONE = "America/New_York"
BOROUGHS = ["Bronx", "Brooklyn", "Manhattan", "Queens", "Staten Island"]
MONEY = {"fare": 200, "tip": 50, "tolls": 50, "total": 250}
CASES = {"asked as it is": (), "given": ("payment = 'cash' and tip > 0",)}


def schema() -> Schema:
    """What is public about the rides: nothing here was read off them."""
    columns = {
        "pickup": Timestamp("2019-02-28", "2019-04-01", ZONE),
        "dropoff": Timestamp("2019-02-28", "2019-04-01", ZONE),
        "passengers": Integer(0, 6),
        "distance": Real(0, 50, step=0.01),
        **{name: Real(0, most, step=0.01) for name, most in MONEY.items()},
        "color": Category(["green", "yellow"]),
        "payment": Category(["cash", "credit card"]),
        "pickup_borough": Category(BOROUGHS),
        "dropoff_borough": Category(BOROUGHS),
    }
    return Schema("rides", columns)


def invented(rows: int = 6433) -> pd.DataFrame:
    """Rides with the habits of real ones: mostly no toll, no tip in cash, minutes long."""
    chance = np.random.default_rng(7)
    start = [datetime(2019, 3, 1) + timedelta(seconds=int(one)) for one in chance.integers(0, 31 * 86_400, rows)]
    minutes = np.clip(chance.lognormal(2.4, 0.7, rows), 1, 120)
    cash = chance.random(rows) < 0.28
    fare = np.round(2.5 + 0.9 * minutes, 2)
    tip = np.where(cash | (chance.random(rows) < 0.05), 0, np.round(fare * chance.choice([0.15, 0.2, 0.25], rows), 2))
    tolls = np.where(chance.random(rows) < 0.05, 5.76, 0.0)
    made = {
        "pickup": [one.isoformat(" ") for one in start],
        "dropoff": [
            (one + timedelta(seconds=int(60 * more))).isoformat(" ") for one, more in zip(start, minutes, strict=True)
        ],
        "passengers": chance.integers(1, 7, rows),
        "distance": np.round(minutes / 5, 2),
        "fare": fare,
        "tip": tip,
        "tolls": tolls,
        "total": np.round(fare + tip + tolls + 0.8, 2),
        "color": chance.choice(["yellow", "green"], rows, p=[0.85, 0.15]),
        "payment": np.where(cash, "cash", "credit card"),
        "pickup_borough": chance.choice(BOROUGHS[:4], rows),
        "dropoff_borough": chance.choice(BOROUGHS, rows),
    }
    return pd.DataFrame(made)


def shares(rides: pd.DataFrame) -> dict[str, float]:
    """What a second look sees first."""
    begin, end = (local(rides[name]) for name in ("pickup", "dropoff"))
    both = begin.notna() & end.notna()
    cash = rides["payment"].astype(str) == "cash"
    cents = pd.concat([rides[name].astype(float) for name in MONEY]).dropna() * 100
    return {
        "zero tolls": float((rides["tolls"].astype(float) == 0).mean()),
        "cash rides with a tip": float((rides["tip"].astype(float)[cash] > 0).mean()) if cash.any() else 0.0,
        "rides paid in cash": float(cash.mean()),
        "dropoff before pickup": float((end < begin)[both].mean()),
        "same-day trips": float((end.dt.date == begin.dt.date)[both].mean()),
        "amounts in whole cents": float(((cents - cents.round()).abs() < 1e-6).mean()),
    }


def local(times: pd.Series) -> pd.Series:
    """Times on the clocks of New York, whether they were written with an offset or without."""
    read = pd.to_datetime(times, errors="coerce")
    return read.dt.tz_convert(ZONE).dt.tz_localize(None) if read.dt.tz is not None else read


def released(path: Path, rho: float, impossible: tuple[str, ...]) -> tuple[dict[str, float], float, float]:
    """One release of the file, as a user makes it: shares, CPU seconds, megabytes."""
    with tempfile.TemporaryDirectory() as scratch:
        ledger = Path(scratch) / "ledger.db"
        start = time.process_time()
        curator = discreet.open(path, schema(), ledger=ledger, budget=Budget(rho=rho), create=True)
        rows = curator.synthesize(impossible=impossible).plan(rho=rho).release().to_pandas()
        return shares(rows), time.process_time() - start, peak_megabytes()


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0],
        runs={"type": int, "default": 5},
        rho={"type": float, "default": 1.5},
    )
    report = Report("synth_values", as_json=options.json)
    runs = 1 if options.quick else options.runs
    folder = options.data or ENVIRONMENTS / "data"
    file = folder / "taxi-nyc" / "taxis.csv.gz"
    if file.exists():
        with gzip.open(file, "rt") as text:
            rides = pd.read_csv(text)
    else:
        report.note("no --data: rides are made up")
        rides = invented()
    true = shares(rides)
    for name, share in true.items():
        report.figure("real rides", name, 100 * share, "%")
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "rides.csv"
        rides.to_csv(path, index=False)
        for case, impossible in CASES.items():
            found, failed = [], ""
            for _ in range(runs):
                try:
                    with multiprocessing.get_context("spawn").Pool(1) as pool:
                        found.append(pool.apply(released, (path, options.rho, impossible)))
                except (DiscreetError, TypeError, ValueError) as problem:
                    failed = f"{type(problem).__name__}: {str(problem).splitlines()[0]}"
                    break
            case = f"rho {options.rho:g}, {case}"
            report.figure(
                case, "runs that ended", len(found), f"of {runs}{': ' if failed else ''}{failed}", at_least=runs
            )
            if not found:
                continue
            for name, share in true.items():
                mean = float(np.mean([one[0][name] for one in found]))
                report.figure(case, name, 100 * mean, f"%, mean of {runs}")
                worst = max(abs(one[0][name] - share) for one in found)
                report.figure(case, f"{name}: off", 100 * worst, "points, worst", at_most=100 * POINTS)
            report.figure(case, "time", float(np.mean([one[1] for one in found])), "CPU s")
            report.figure(case, "memory", max(one[2] for one in found), "MB")


if __name__ == "__main__":
    main()
