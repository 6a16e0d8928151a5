"""Synthetic tables by every method: errors of marginals, AUC, time and memory, beside other libraries.

python bench/synth.py [--quick] [--json] [--data FOLDER] [--runs N] [--methods a,b] [--tables adult,loans,salary]
                      [--columns 2,3,5] [--epsilons 0.1,1] [--no-peers | --peers-from FILE | --limit 600]
                      [--picture FILE]

FOLDER holds the tables as codes (NAME.csv.gz, NAME-domain.json; bench/synth_tables.py says where); without them a table
of ADULT's size is made up. A workload is all pairs of columns, or 64 random marginals of three or of five, with at most
as many cells as the table has rows. delta is 1/n^2, one row is added or removed, the price is the zCDP that (epsilon,
delta) allows. `max` is the largest error of a cell, `TV` the mean over marginals of half the L1 distance, both as parts
of all rows, both of sampled rows. `AUC` is that of a classifier trained on rows made for pairs and tested on real ones.
Every run is a process of its own, so that memory is that of one method. Peers run once for a table, epsilon and seed,
at their defaults and within a limit of CPU seconds (bench/synth_peers.py); with --peers-from what they did earlier is
printed. A method may have options: --methods mosaic,rap:rounds=1:relaxed_rows=100.
"""

from __future__ import annotations

import itertools
import multiprocessing
import time
from pathlib import Path

import numpy as np

from discreet.core.sensitivity import Sensitivity
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.meter import Meter
from discreet.synth.method_option import Options
from discreet.synth.methods import METHODS, method_named, with_options
from harness import ENVIRONMENTS, Report, arguments, peak_megabytes
from synth_peers import LIMIT, PEERS, collect, shown, stored
from synth_tables import SOURCES, auc, errors, rho_for, table, workload

EPSILONS = (0.1, 0.25, 0.5, 1.0)
# What the method of the house is held to (largest error, TV), and CPU seconds.
TARGETS = {("adult", 3, 1.0): (0.0053, 0.0638), ("adult", 3, 0.1): (0.036, 0.155), ("loans", 3, 1.0): (0.0105, 0.0870)}
SECONDS = {"adult": 4}
FULL = ("adult", "loans")  # measured at every epsilon
ENDS = (0.1, 1.0)  # where peers are run, and the other tables measured


def parsed(text: str) -> tuple[str, Options]:
    """A method and its options: rap:rounds=1:relaxed_rows=100."""
    name, *given = text.split(":")
    pairs = [one.partition("=")[::2] for one in given]
    return name, tuple((option, int(value) if value.isdecimal() else value) for option, value in pairs)


def run(method: str, folder: Path | None, name: str, columns: int, epsilon: float) -> tuple[float, ...]:
    """One release, in a process of its own: errors, CPU seconds, megabytes, AUC (NaN where there is none)."""
    domain, codes = table(folder, name)
    marginals = workload(domain, len(codes), columns)
    meter = Meter(ArrayCounts(domain, codes), Sensitivity(1), "rho", rho_for(epsilon, len(codes)))
    chosen, how = parsed(method)
    work = with_options(method_named(chosen), how)
    start = time.process_time()
    made = work(meter, marginals, None)
    seconds = time.process_time() - start
    if meter.left != 0:
        raise RuntimeError("the price was not spent")
    megabytes = peak_megabytes()
    score = auc(name, domain, codes, made.codes) if columns == 2 else None
    return (*errors(domain, codes, made.codes, marginals), seconds, megabytes, float("nan") if score is None else score)


def alone(work, folder: Path | None, name: str, *job):
    """What `work` returns, in a process of its own; the table is read once, here."""
    table(folder, name)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(work, job)


def measured(report: Report, method: str, folder, name: str, columns: int, epsilon: float, runs: int) -> list[dict]:
    """Some runs of one case; the largest error of their mean, for the picture."""
    case = f"{name}, {columns}-way, epsilon {epsilon:g}, {method}"
    try:
        found = np.array(
            [alone(run, folder, name, method, folder, name, columns, epsilon) for _ in range(runs)], dtype=float
        )
    except Exception as problem:
        report.note(f"{case} did not run: {type(problem).__name__}: {problem}")
        return []
    house = method == "mosaic"
    ours = TARGETS.get((name, columns, epsilon)) if house and folder is not None else None
    goal = {"at_most": ours[0]} if ours else {}
    report.figure(case, "max, mean", float(found[:, 0].mean()), f"of {runs} runs", **goal)
    report.figure(case, "max, worst", float(found[:, 0].max()), f"of {runs} runs")
    goal = {"at_most": ours[1]} if ours else {}
    report.figure(case, "TV", float(found[:, 1].mean()), "of rows", **goal)
    if not np.isnan(found[:, 4]).all():
        report.figure(case, "AUC, trained on synthetic", float(np.nanmean(found[:, 4])), f"of {runs} runs")
    goal = {"at_most": SECONDS[name]} if house and folder is not None and name in SECONDS else {}
    report.figure(case, "time", float(found[:, 2].mean()), "CPU s", **goal)
    report.figure(case, "memory", float(found[:, 3].max()), "MB")
    panel = f"{name}, {columns}-way"
    return [{"panel": panel, "method": method, "epsilon": epsilon, "max": float(found[:, 0].mean())}]


def real(report: Report, folder: Path | None, name: str) -> None:
    """What a classifier reaches that is trained on real rows."""
    score = alone(auc, folder, name, name, *table(folder, name), None)
    if score is not None:
        report.figure(f"{name}, real rows", "AUC, trained on real", score, "of one split")


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
        tables={"default": ",".join(SOURCES)},
        columns={"default": "2,3,5"},
        epsilons={"default": ",".join(f"{one:g}" for one in EPSILONS)},
        limit={"type": int, "default": LIMIT, "help": "CPU seconds after which a peer's run is stopped"},
        picture={"type": Path, "help": "also draw the largest errors into this file"},
        **{"peers-from": {"type": Path, "help": "print what peers did earlier, out of this file"}},
    )
    report = Report("synth", as_json=options.json)
    folder = options.data or (ENVIRONMENTS / "data" if (ENVIRONMENTS / "data" / "adult").exists() else None)
    if folder is None:
        report.note("no --data: a table is made up, and targets do not apply")
    methods = [one for one in options.methods.split(",") if parsed(one)[0] in METHODS]
    earlier = stored(options.peers_from) if options.peers_from else []
    if options.quick:
        real(report, folder, "adult")
        for method in methods:
            if parsed(method)[0] != "rap":  # needs JAX, and longer: see bench/rap.py
                measured(report, method, folder, "adult", 3, 1.0, 1)
        measured(report, methods[0], folder, "adult", 2, 1.0, 1)
        shown(report, earlier, "adult", 3, 1.0)
        return
    names = options.tables.split(",") if folder is not None else ["adult"]
    widths = [int(one) for one in options.columns.split(",")]
    epsilons = [float(one) for one in options.epsilons.split(",")]
    if not options.no_peers and not options.peers_from:
        ends = [one for one in epsilons if one in ENDS]
        jobs = ((peer, *job) for *job, peer in itertools.product(names, ends, range(options.runs), PEERS))
        earlier = collect(report, ENVIRONMENTS / "synth-peers.jsonl", jobs, folder=folder, limit=options.limit)
    values = []
    for name in names:
        real(report, folder, name)
        some = [one for one in epsilons if name in FULL or one in ENDS]
        for columns, epsilon in itertools.product(widths, some):
            if not workload(table(folder, name)[0], len(table(folder, name)[1]), columns):
                report.note(f"{name}: no marginal of {columns} columns has as few cells as there are rows")
                continue
            for method in methods:
                values += measured(report, method, folder, name, columns, epsilon, options.runs)
            shown(report, earlier, name, columns, epsilon)
    if options.picture:
        picture(values, options.picture)


if __name__ == "__main__":
    main()
