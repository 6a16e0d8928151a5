"""Private quantiles: rank error against OpenDP, how well intervals are calibrated, the engine at ten million rows.

python bench/quantile.py [--quick] [--json] [--no-peers] [--data FOLDER]
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discreet import Allotment, Integer, Query, Real, Schema, Unit
from discreet.core.wire import canonical
from discreet.data.source import source_of
from discreet.noise.bits import SystemBits
from discreet.query.contribution import SALTS
from discreet.query.grid import grid_for
from discreet.query.price import Price
from discreet.query.quantile import quantiles
from discreet.query.quantile_plan import plan_quantiles
from discreet.query.tally import compile_tally
from harness import ENVIRONMENTS, Report, arguments, peak_megabytes, peer

PAY = Real(0, 200_000, nullable=False)
BUDGET = Allotment("questions", "pure", epsilon=100)
FIVE = [0.1, 0.25, 0.5, 0.75, 0.9]
ROWS = 10_000_000
GRID = 4096
SHAPES = {
    "uniform": lambda chance, rows: chance.uniform(0, 200_000, rows),
    "skewed": lambda chance, rows: chance.lognormal(10.3, 0.6, rows),
    "heaped on 1,000s": lambda chance, rows: np.round(chance.lognormal(10.3, 0.6, rows), -3),
    "heaped on 10,000s": lambda chance, rows: np.round(chance.lognormal(10.3, 0.6, rows), -4),
    "two humps": lambda chance, rows: chance.normal(np.where(chance.random(rows) < 0.5, 40_000, 160_000), 4_000),
}


def run_plan(plan: Any, data: Any, bits: Any) -> Any:
    """What a plan publishes of data, by way of a record, as at the door."""
    return plan.publish(json.loads(canonical(plan.measure(data, bits))))


def rank_error(found, asked, ordered):
    """Mean distance in rows of what was found from the ranks asked for; values that tie count as nearest."""
    total = 0.0
    for trial in found:
        for value, q in zip(trial, asked, strict=True):
            low = np.searchsorted(ordered, value, "left")
            high = np.searchsorted(ordered, value, "right")
            total += max(low - q * len(ordered), q * len(ordered) - high, 0)
    return total / (len(found) * len(asked))


class Intervals(NamedTuple):
    """How wide they were, how wide intervals around the values found had to be for 95%, and how often they held."""

    width: float
    needed: float
    held: float


def ours(values, asked, epsilon, trials, size=GRID, **how):
    """What our plan publishes, again and again; and what its plan said."""
    schema = Schema("people", {"pay": PAY})
    plan = plan_quantiles(
        Query().agg(**quantiles("pay", asked, grid=size, **how)), schema, BUDGET, Price.read(epsilon=epsilon)
    )
    grid = plan.grid
    places = np.clip((values / 200_000 * grid.bins).astype(int), 0, grid.bins - 1)
    counts = np.bincount(places, minlength=grid.bins)
    found, widths, held = [], [], []
    reached = np.cumsum(counts)
    true = [grid.middle(int(np.argmax(reached >= q * len(values)))) for q in asked]
    for _ in range(trials):
        table = plan.table(plan._searched(counts, SystemBits())[:, :, None])["columns"]
        found.append([table[name][0] for name, _ in plan.question.ordered])
        widths.append(np.mean([table[f"{n}_upper"][0] - table[f"{n}_lower"][0] for n, _ in plan.question.ordered]))
        names = [name for name, _ in plan.question.ordered]
        held += [
            table[f"{n}_lower"][0] <= value <= table[f"{n}_upper"][0] for n, value in zip(names, true, strict=True)
        ]
    off = np.abs(np.array(found, dtype=float) - np.array(true, dtype=float))
    needed = 2 * float(np.mean(np.quantile(off, 0.95, axis=0)))
    return found, Intervals(float(np.mean(widths)), needed, float(np.mean(held))), plan


def calibration(report: Report, trials: int) -> None:
    """Coverage and width over tables of all sizes and shapes, on the default grid. Bins are whole: one more is needed.

    Width over needed is averaged over the tables where intervals span more than 3 bins and less than half of the grid:
    where they do not, bins are whole, or nothing is known.
    """
    chance = np.random.default_rng(11)
    for asked in ([0.5], [0.9], FIVE):
        for shape, draw in SHAPES.items():
            held, ratios = {}, []
            for rows in (10, 100, 1_000, 10_000, 100_000):
                values = np.clip(draw(chance, rows), 0, 200_000 - 1)
                for epsilon in (0.1, 0.5, 1, 4):
                    ends = ours(values, asked, epsilon, trials, size=1024)[1]
                    held[rows, epsilon] = ends.held
                    if 3 < ends.width / 200_000 * 1024 < 512:
                        ratios.append(ends.width / (ends.needed + 200_000 / 1024))
            case = f"{shape}, quantiles {', '.join(map(str, asked))}, {len(held)} tables of {trials} releases"
            least = min(held, key=held.__getitem__)
            report.figure(case, "mean coverage", float(np.mean(list(held.values()))), "")
            report.figure(case, "least coverage", held[least], f"({least[0]:,} rows, epsilon {least[1]:g})")
            report.figure(case, "width / needed, mean", float(np.mean(ratios)), f"of {len(ratios)}")
            report.figure(case, "width / needed, median", float(np.median(ratios)), "x")


def errors(report: Report, trials: int, *, peers: bool) -> None:
    chance = np.random.default_rng(7)
    for size in (1_000, 10_000):
        values = np.clip(chance.lognormal(10.3, 0.6, size), 0, 200_000)
        ordered = np.sort(values)
        for asked, epsilon in (([0.5], 0.1), ([0.5], 1), (FIVE, 0.1), (FIVE, 1)):
            case = f"{size:,} rows, {len(asked)} quantile{'s' * (len(asked) > 1)}, epsilon {epsilon:g}"
            bare, _, plan = ours(values, asked, epsilon, trials, interval=False)
            mine = rank_error(bare, asked, ordered)
            report.figure(case, "discreet, value only", mine, f"ranks ({plan.mechanism.split()[0]})")
            full, ends, plan = ours(values, asked, epsilon, trials)
            covered = rank_error(full, asked, ordered)
            report.figure(case, "discreet, with interval", covered, f"ranks ({plan.mechanism.split()[0]})")
            report.figure(case, "  width of the interval", ends.width, "of 200,000")
            report.figure(case, "  width / needed for 95%", ends.width / max(ends.needed, 1e-9), "x")
            report.figure(case, "  coverage", ends.held, f"of {trials * len(asked):,}", at_least=0.94)
            if not peers:
                continue
            grid = grid_for(PAY, GRID)
            edges = [float(grid.start(j)) for j in range(grid.bins)] + [200_000.0]
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                job = {"values": values.tolist(), "edges": edges, "quantiles": asked, "epsilon": epsilon}
                json.dump({**job, "trials": trials}, file)
                file.flush()
                theirs = peer("opendp", ["opendp==0.16.*"], "quantile_opendp.py", file.name, report=report)
            if theirs is None:
                return
            best = rank_error(theirs["chosen"], asked, ordered)
            report.figure(case, "OpenDP, by choice", best, "ranks")
            if "tree" in theirs:
                tree = rank_error(theirs["tree"], asked, ordered)
                report.figure(case, "OpenDP, by tree", tree, "ranks")
                best = min(best, tree)
            else:
                report.note(f"OpenDP's tree did not run: {theirs.get('problem')}")
            report.figure(case, "OpenDP's best / discreet", best / max(mine, 1e-9), "x")


def table(folder: Path, rows: int) -> Path:
    """Made in the engine: a tenth as many persons as rows, a thousand groups, pay with a long tail."""
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"quantile-{rows}.parquet"
    if not path.exists():
        duckdb.sql(
            f"COPY (SELECT (hash(i) % {rows // 10})::BIGINT AS person, (hash(i * 7 + 1) % 1000)::INTEGER AS grp, "
            "exp(10.3 + 0.6 * ((hash(i * 3) % 1000003) / 250000.0 - 2)) AS pay "
            f"FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)"
        )
    return path


def engine(report: Report, folder: Path, rows: int) -> None:
    path = table(folder, rows)
    for unit, keys, name in (
        (Unit(), (), "rows, no groups"),
        (Unit(), ("grp",), "rows, 1,000 groups"),
        (Unit("person", groups=5, rows=1), ("grp",), "persons in 5 of 1,000 groups"),
        (Unit("person", groups=1, rows=5), (), "persons with 5 rows"),
    ):
        schema = Schema(
            "t", {"person": Integer(0, 10**9, nullable=False), "grp": Integer(0, 999, nullable=False), "pay": PAY}, unit
        )
        query = Query().group_by(*keys).agg(**quantiles("pay", [0.25, 0.5, 0.9]))
        plan = plan_quantiles(query, schema, BUDGET, Price.read(epsilon=1))
        with source_of(path).open() as connection:
            start = time.process_time()
            salt = list(range(1, SALTS + 1))
            connection.integers(compile_tally(plan.question, schema, "pay", plan.grid, connection.table, salt))
            counted = time.process_time() - start
            run_plan(plan, connection, SystemBits())
            whole = time.process_time() - start - counted
        case = f"{rows:,} rows; {name}"
        report.figure(case, "histogram in the engine", counted, "CPU s", at_most=rows / 1e6)
        report.figure(case, "whole release", whole, "CPU s")
        report.figure(case, "peak memory so far", peak_megabytes(), "MB", at_most=1024)


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = Report("quantile", as_json=options.json)
    errors(report, 40 if options.quick else 300, peers=not options.no_peers)
    calibration(report, 60 if options.quick else 300)
    engine(report, options.data or ENVIRONMENTS / "data", 1_000_000 if options.quick else ROWS)


if __name__ == "__main__":
    main()
