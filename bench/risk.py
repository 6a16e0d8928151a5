"""Anonymity of a million rows, coarsening, linkage and reconstruction: time, memory, what attacks find; pycanon beside.

python bench/risk.py [--quick] [--json] [--no-peers] [--data FOLDER]

People are made up: an age, a five-digit code of place, a sex, a marital status and a diagnosis. pycanon works on data
frames in pure Python and is given fewer rows, because its time grows quickly. With --data, FOLDER/taxi-nyc/taxis.csv.gz
holds 6,433 public taxi trips.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.csv

from discreet.apps.attacks.extraction import extract_secrets
from discreet.apps.attacks.inversion import invert_faces
from discreet.apps.attacks.membership import attack_model
from discreet.apps.attacks.row_membership import attack_rows
from discreet.noise.replay import Replay
from discreet.risk.block_attack import attack_blocks
from discreet.risk.coarsening import anonymize
from discreet.risk.heat_map import map_runs
from discreet.risk.linkage import link
from discreet.risk.measures import anonymity
from discreet.risk.ratings import link_ratings
from discreet.risk.reconstruction import reconstruct
from discreet.risk.records import Records
from harness import Report, arguments, cpu_seconds, peak_megabytes, peer

QUASI = ["age", "zip", "sex"]


def people(rows: int) -> dict[str, list]:
    draw = np.random.default_rng(7)
    age = np.clip(draw.normal(40, 22, rows), 0, 99).astype(int)
    place = (draw.pareto(1.2, rows) * 400).astype(int) % 9000 + 1000
    illness = np.minimum(draw.geometric(0.12, rows) + age // 30, 40)
    return {
        "person": np.arange(rows).tolist(),
        "age": age.tolist(),
        "zip": [f"{code:05d}" for code in place],
        "sex": draw.choice(["F", "M"], rows).tolist(),
        "diagnosis": illness.tolist(),
    }


def written(rows: int, folder: Path) -> Path:
    table = people(rows)
    path = folder / f"people-{rows}.csv"
    lines = zip(*table.values(), strict=True)
    path.write_text(",".join(table) + "\n" + "\n".join(",".join(map(str, line)) for line in lines) + "\n")
    return path


def measures(report: Report, folder: Path, sizes: list[int], small: int, peers: bool) -> None:
    took = {}
    for rows in sizes:
        path = written(rows, folder)
        took[rows] = cpu_seconds(lambda: anonymity(path, quasi=QUASI, sensitive=["diagnosis"]), repeats=2)
        goal = {"at_most": 3} if rows == 1_000_000 else {}
        report.figure(f"{rows:,} rows", "risk, file to report", took[rows], "CPU s", **goal)
    report.figure(f"{sizes[-1]:,} rows", "memory", peak_megabytes(), "MB")
    growth = np.log(took[sizes[-1]] / took[sizes[0]]) / np.log(sizes[-1] / sizes[0])
    report.figure(f"{sizes[0]:,} to {sizes[-1]:,}", "growth exponent", float(growth), "")
    table = Records.read(written(sizes[-1], folder))
    for method in ("lattice", "mondrian"):
        start = time.process_time()
        made = anonymize(table, quasi=QUASI, k=10, method=method)
        report.figure(f"{sizes[-1]:,} rows, k = 10, {method}", "time", time.process_time() - start, "CPU s")
        report.figure(f"{sizes[-1]:,} rows, k = 10, {method}", "detail lost", made.loss, "of 1")
    if not peers:
        return
    path = written(small, folder)
    ours = cpu_seconds(lambda: anonymity(path, quasi=QUASI, sensitive=["diagnosis"]), repeats=3)
    found = peer("pycanon", ["pycanon==1.0.1.post2", "pandas<3"], "risk_pycanon.py", str(path), report=report)
    if found is not None:
        report.figure(f"{small:,} rows, pycanon over ours", "k, l and t together", found["cpu"] / ours, "times")
        mine = anonymity(path, quasi=QUASI, sensitive=["diagnosis"])
        agree = (found["k"], found["l"]) == (mine.k, mine.sensitive[0].distinct)
        report.figure(f"{small:,} rows", "k and l agree with pycanon", float(agree), "", at_least=1)
        off = abs(found["t"] - mine.sensitive[0].closeness)
        report.figure(f"{small:,} rows", "t differs from pycanon's by", off, "", at_most=1e-6)
        gain = abs(found["beta"] / mine.sensitive[0].gain - 1)
        report.figure(f"{small:,} rows", "beta differs from pycanon's by", gain, "of it", at_most=1e-6)


GOALS = (1, 0.999, 0.939, 0.788, 0.579)
"""Bits found of a thousand people at each error: what least squares on stored halves had found."""


def bits(report: Report, people: int, runs: int) -> None:
    start = time.process_time()
    found = [reconstruct(people, bits=Replay(f"bench {people} {run}".encode())) for run in range(runs)]
    took = (time.process_time() - start) / runs
    report.figure(f"{people:,} bits, five errors, two epsilons, two ways", "time", took, "CPU s", at_most=60)
    for place, goal in enumerate(GOALS):
        case = f"{people:,} bits, error {found[0].scaled(found[0].sloppy[place].error):.2g} sqrt(n)"
        for way in ("squares", "program"):
            part = float(np.mean([getattr(run.sloppy[place], way) for run in found]))
            report.figure(case, f"found, {way}", part, "of bits", **({"at_least": goal} if people == 1000 else {}))
    for way in ("squares", "program"):
        part = float(np.mean([getattr(run.private, way) for run in found]))
        report.figure(f"{people:,} bits, epsilon 1 for all counts", f"found, {way}", part, "of bits")


def attacks(report: Report, quick: bool) -> None:
    table = Records.read(people(20_000))
    cases = {
        "as it is": table,
        "k = 2": anonymize(table, quasi=QUASI, k=2),
        "k = 5": anonymize(table, quasi=QUASI, k=5),
        "k = 5, boxes": anonymize(table, quasi=QUASI, k=5, method="mondrian"),
    }
    for name, released in cases.items():
        found = link(released, table, on=QUASI, sensitive="diagnosis", person="person")
        report.figure(f"linkage, 20,000 rows, {name}", "linked one-to-one", found.one_to_one / 20_000, "of people")
        report.figure(f"linkage, 20,000 rows, {name}", "secrets told", found.told / 20_000, "of people")
    bits(report, 1000, 10)
    if not quick:
        bits(report, 10_000, 2)
        for one in attack_model().targets:
            report.figure(f"network of 500 people, {one.label}", "named at 1%, LiRA", one.found.at(0.01), "of members")
            report.figure(f"network of 500 people, {one.label}", "named at 1%, loss", one.weaker.at(0.01), "of members")
            report.figure(f"network of 500 people, {one.label}", "accuracy", one.use, "of people")
        for one in attack_rows().targets:
            report.figure(f"rows of 200 people, {one.label}", "named at 1%", one.found.at(0.01), "of members")
            report.figure(f"rows of 200 people, {one.label}", "area", one.found.area, "of 1")
        blocks = attack_blocks(40, 7, 1.0)
        report.figure("40 blocks of 7 people, printed tables", "rebuilt", blocks.right / blocks.people, "of people")
        for case, one in (("printed tables", blocks.exact), ("epsilon 1", dict(blocks.noisy)[1.0])):
            for name in ("near", "named"):
                report.figure(f"40 blocks of 7 people, {case}", name, getattr(one, name) / blocks.people, "of people")
        report.figure("40 blocks of 7 people, epsilon 1", "rebuilt", blocks.right_noisy / blocks.people, "of people")
        films = link_ratings(2000)
        for known, found, without in zip(films.known, films.with_days, films.without_days, strict=True):
            report.figure(f"2,000 people's ratings, {known} known with days", "found", found, "of people")
            report.figure(f"2,000 people's ratings, {known} known", "found", without, "of people")
        runs = map_runs()
        report.figure("heat map, exact", "fences seen", runs.seen, "of cells")
        report.figure("heat map, epsilon 1", "fences seen", runs.seen_private, "of cells")
        faces = invert_faces()
        for case, one in (("no budget", faces.plain), ("no prior", faces.raw), ("epsilon 1", faces.private)):
            report.figure(f"20 faces, {case}", "identified", one.identified, "of people")
            report.figure(f"20 faces, {case}", "recognised", one.recognised, "of pictures")
        for leak in extract_secrets().leaks:
            report.figure(f"4 secrets in 2,000 messages, {leak.label}", "written out", leak.verbatim, "secrets")
            report.figure(f"4 secrets in 2,000 messages, {leak.label}", "exposure", leak.exposure, "bits")
            report.figure(f"4 secrets in 2,000 messages, {leak.label}", "loss", leak.loss, "a letter")


def trips(report: Report, folder: Path) -> None:
    """How many taxi trips are alone by when they began, and by where."""
    table = pyarrow.csv.read_csv(folder / "taxi-nyc" / "taxis.csv.gz")
    for known in (["pickup", "pickup_zone"], ["pickup"], ["pickup_zone"]):
        columns = {name: [str(value) for value in table[name].to_pylist()] for name in known}
        found = anonymity(columns, quasi=known)
        report.figure(f"{found.rows:,} taxi trips by {' and '.join(known)}", "alone", found.alone, "trips")


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = Report("risk", as_json=options.json)
    with tempfile.TemporaryDirectory() as scratch:
        sizes = [100_000, 1_000_000]
        measures(report, Path(scratch), sizes, 1000, not options.no_peers)
    attacks(report, options.quick)
    if options.data is not None and (options.data / "taxi-nyc").is_dir():
        trips(report, options.data)


if __name__ == "__main__":
    main()
