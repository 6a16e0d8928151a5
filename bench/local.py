"""Scrambled answers: errors against the limit, microseconds a user beside pure-ldp and multi-freq-ldpy, the engine.

python bench/local.py [--quick] [--json] [--no-peers] [--data FOLDER] [--plot FILE]
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np

from discreet.local import GRR, OLH, OUE, Hadamard, Subset, Survey, aggregate, best, limit
from discreet.noise.laplace import laplace
from harness import ENVIRONMENTS, Report, arguments, cpu_seconds, peak_megabytes, peer

PEOPLE = 1_000_000
CATEGORIES = (2, 100, 10_000)
EPSILONS = (0.5, 1, 2, 4)
FASTER = 20
PEERS = (
    # Both hash texts, which xxhash no longer takes from version 3 on.
    ("pure-ldp", ["pure-ldp==1.2.0", "scikit-learn", "statsmodels", "xxhash<3"], "local_pure_ldp.py"),
    ("multi-freq-ldpy", ["multi-freq-ldpy==0.2.5", "numba", "numpy", "xxhash<3"], "local_multi_freq.py"),
)


def errors(report: Report, n: int, coordinates: int) -> None:
    """n times the mean squared error of the mechanism that is chosen, people spread evenly."""
    for categories in CATEGORIES:
        truth = np.bincount(np.arange(n) % categories, minlength=categories) / n
        for epsilon in EPSILONS:
            choice = best(domain=categories, epsilon=epsilon, n=n)
            mechanism, bound = choice.mechanism, limit(categories, epsilon)
            case = f"k = {categories:,}, epsilon {epsilon:g}: {mechanism.kind}"
            stated = mechanism.variance(1, Fraction(1, categories))
            report.figure(case, "n x MSE, stated / limit", stated / bound, "x", at_most=1.1)
            free = 1 if categories == 2 else categories - 1
            trials = max(1, coordinates // free)
            people = n if mechanism.layout == "integer" else max(categories, n // 20)
            values = np.arange(people) % categories
            shares = truth if people == n else np.bincount(values, minlength=categories) / people
            squares = [
                float(((mechanism.estimate(mechanism.privatize(values)).frequencies - shares) ** 2).mean())
                for _ in range(trials)
            ]
            noise = math.sqrt(2 / (trials * free))
            measured = people * float(np.mean(squares))
            report.figure(case, "n x MSE, measured", measured, f"+- {100 * noise:.1f}%")
            report.figure(case, "  off by", abs(measured / stated - 1) / noise, "standard errors", at_most=5)


def speeds(report: Report, *, quick: bool, peers: bool) -> None:
    ours: dict[tuple[str, int], tuple[float, float]] = {}
    for categories in CATEGORIES:
        for kind in (GRR, OUE, OLH, Hadamard, Subset):
            mechanism = kind(categories, 1)
            n = (PEOPLE if mechanism.layout == "integer" or categories <= 100 else 20_000) // (5 if quick else 1)
            values = np.arange(n) % categories
            client = cpu_seconds(lambda: mechanism.privatize(values), 2) * 1e6 / n
            reports = mechanism.privatize(values)
            server = cpu_seconds(lambda: mechanism.estimate(reports), 2) * 1e6 / n
            ours[mechanism.kind, categories] = client, server
            case = f"{mechanism.kind}, k = {categories:,}, epsilon 1"
            report.figure(case, "client", client, "us a user")
            report.figure(case, "server", server, "us a user")
        single = GRR(categories, 1)
        one = cpu_seconds(lambda: [single.privatize(1) for _ in range(500)], 2) * 1e6 / 500
        report.figure(f"grr, k = {categories:,}, epsilon 1", "client, one call a user", one, "us a user")
    if not peers:
        return
    for name, requirements, script in PEERS:
        for categories in (100, 10_000):
            users = 20_000 if quick else 100_000
            found = peer(name, requirements, script, str(users), str(categories), "1", report=report)
            for kind, theirs in (found or {}).items():
                case = f"{kind}, k = {categories:,}, epsilon 1"
                if "problem" in theirs:
                    report.note(f"{name}, {case}: {theirs['problem']}")
                    continue
                for side, mine in zip(("client", "server"), ours[kind, categories], strict=True):
                    report.figure(case, f"{name}, {side}", theirs[side], "us a user")
                    report.figure(case, f"  {name} / discreet, {side}", theirs[side] / mine, "x", at_least=FASTER)


def engine(report: Report, folder: Path, rows: int) -> None:
    """A file of reports, added up by DuckDB; tokens take most of it."""
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    survey = Survey("bench", GRR(100, 1))
    path = folder / f"local-{rows}.parquet"
    if not path.exists():
        duckdb.sql(
            f"COPY (SELECT '{survey.id}' AS survey, md5(i::VARCHAR) AS token, (hash(i) % 100)::BIGINT AS report "
            f"FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)"
        )
    for duplicates in ("ignore", "refuse"):
        spent = cpu_seconds(lambda: aggregate(path, survey, expect=rows, duplicates=duplicates), 1)
        case = f"{rows:,} replies, tokens {'checked' if duplicates == 'refuse' else 'not looked at'}"
        report.figure(case, "aggregate", spent, "CPU s")
        report.figure(case, "  a reply", spent * 1e6 / rows, "us")
    report.figure(f"{rows:,} replies", "peak memory so far", peak_megabytes(), "MB")


def comparison(trials: int) -> list[dict]:
    """The share of yes, epsilon 1: measured errors of scrambled answers and of a trusted curator."""
    survey, rows = GRR(2, 1), []
    for n in (100, 1000, 10_000, 100_000, 1_000_000):
        repeats = max(20, min(trials, 20_000_000 // n))
        values = (np.arange(n) % 10 < 3).astype(int)
        local = [survey.estimate(survey.privatize(values)).frequencies[1] - 0.3 for _ in range(repeats)]
        curator = laplace(scale=1, size=repeats) / n
        rows.append({"n": n, "who": "scrambled by everyone", "error": float(np.sqrt(np.mean(np.square(local))))})
        rows.append({"n": n, "who": "trusted curator", "error": float(np.sqrt(np.mean(np.square(curator))))})
    return rows


def plot(rows: list[dict], path: Path) -> None:
    import altair

    chart = (
        altair.Chart(altair.InlineData(values=rows), width=460, height=280)
        .mark_line(point=True)
        .encode(
            x=altair.X("n:Q", scale=altair.Scale(type="log"), title="people"),
            y=altair.Y("error:Q", scale=altair.Scale(type="log"), title="root mean squared error of the share"),
            color=altair.Color("who:N", title=None, legend=altair.Legend(orient="bottom")),
        )
    )
    chart.save(str(path))


def main() -> None:
    options = arguments(__doc__.splitlines()[0], plot={"type": Path, "help": "save the comparison as a picture"})
    report = Report("local", as_json=options.json)
    if options.plot:
        plot(comparison(2000), options.plot)
        return
    errors(report, PEOPLE // (10 if options.quick else 1), 60 if options.quick else 300)
    for row in comparison(100 if options.quick else 1000):
        report.figure(f"share of yes, epsilon 1, {row['n']:,} people", row["who"], row["error"], "RMSE")
    engine(report, options.data or ENVIRONMENTS / "data", 1_000_000 if options.quick else 10_000_000)
    speeds(report, quick=options.quick, peers=not options.no_peers)


if __name__ == "__main__":
    main()
