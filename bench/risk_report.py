"""The risk report on 100,000 rows of ten columns: CPU time of its parts, and what the search has found by when.

python bench/risk_report.py [--quick] [--json] [--data FOLDER]

People are made up. With --data, the same searches on ADULT (adult/adult.csv.gz) with ten quasi-identifiers.
"""

from __future__ import annotations

import gzip
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from discreet.risk.coarsening import anonymize
from discreet.risk.criteria import Criteria
from discreet.risk.instead import compare_release
from discreet.risk.ladder import ladder_of
from discreet.risk.lattice import least_coarse
from discreet.risk.population import estimate_population
from discreet.risk.records import Records, classes_of
from discreet.risk.report import report_risk
from discreet.risk.roles import guess_roles
from discreet.risk.singling import single_out
from harness import Report, arguments, peak_megabytes

ADULT = [
    *("age", "workclass", "education-num", "marital-status", "occupation", "relationship", "race", "sex"),
    *("hours-per-week", "native-country"),
]


def people(rows: int) -> dict[str, object]:
    """Ten columns: nine that an outsider may know, and a diagnosis."""
    draw = np.random.default_rng(3)
    age = np.clip(draw.normal(40, 22, rows), 0, 99).astype(int)
    place = (draw.pareto(1.2, rows) * 400).astype(int) % 9000 + 1000
    return {
        "age": age,
        "zip": [f"{code:05d}" for code in place],
        "sex": draw.choice(["F", "M"], rows),
        "marital": draw.choice(["single", "married", "widowed", "divorced"], rows, p=[0.4, 0.4, 0.1, 0.1]),
        "education": draw.choice([f"e{level}" for level in range(16)], rows),
        "occupation": draw.choice([f"o{level}" for level in range(15)], rows),
        "race": draw.choice([f"r{level}" for level in range(5)], rows, p=[0.8, 0.1, 0.05, 0.03, 0.02]),
        "hours": draw.integers(0, 99, rows),
        "children": np.minimum(draw.geometric(0.5, rows) - 1, 9),
        "diagnosis": np.minimum(draw.geometric(0.12, rows) + age // 30, 40),
    }


def written(table: dict[str, object], folder: Path) -> Path:
    path = folder / "people.csv"
    lines = zip(*table.values(), strict=True)
    path.write_text(",".join(table) + "\n" + "\n".join(",".join(map(str, line)) for line in lines) + "\n")
    return path


def timed(report: Report, case: str, what: str, work) -> object:
    start = time.process_time()
    found = work()
    report.figure(case, what, time.process_time() - start, "CPU s")
    return found


def search(report: Report, case: str, table: Records, quasi: list[str], secret: str, seconds: float) -> None:
    """What a search under k, l and t has found after so much CPU time."""
    columns = [table[name] for name in quasi]
    ladders = [ladder_of(name, column) for name, column in zip(quasi, columns, strict=True)]
    for criteria in (Criteria(5), Criteria(5, 2, 0.2)):
        heard: list[tuple[float, float]] = []
        start = time.process_time()

        def listen(node, start=start, heard=heard):
            heard.append((time.process_time() - start, node.loss))

        hidden = [table[secret]] if criteria.of_secrets else []
        left = int(0.05 * table.rows)
        node = least_coarse(columns, ladders, criteria, left, secrets=hidden, seconds=seconds, on_better=listen)
        name = f"{case}, {criteria}"
        for limit in (1.0, 2.0, 5.0):
            by_then = [loss for at, loss in heard if at <= limit]
            if by_then:
                report.figure(name, f"detail lost after {limit:g} CPU s", by_then[-1], "of 1")
        near = next(at for at, loss in heard if loss <= 1.01 * node.loss)
        report.figure(name, "within 1% of the best after", near, "CPU s", at_most=5)
        report.figure(name, "detail lost at the end", node.loss, "of 1")
        report.figure(name, "ways tried", node.tried, "ways")


def costs(report: Report, case: str, table: Records, quasi: list[str], secret: str, seconds: float) -> None:
    """The error of the same tables from a coarsened table and with noise."""
    for criteria in (Criteria(5), Criteria(5, 2), Criteria(5, 2, 0.2)):
        asked = {"k": criteria.k, "diverse": criteria.l, "close": criteria.t, "sensitive": secret}
        made = anonymize(table, quasi=quasi, redact=0.05, seconds=seconds, **asked)
        found, name = compare_release(table, made, [secret]), f"{case}, {criteria}"
        report.figure(name, "detail lost", made.loss, "of 1")
        report.figure(name, "people in a wrong cell", found.coarse, "of 1")
        report.figure(name, "epsilon that is as good", found.equal or 0.01 * found.cheaper, "")
    for one in found.noisy:
        report.figure(f"{case}, epsilon {one.epsilon:g}", "people in a wrong cell", one.error, "of 1")


def parts(report: Report, rows: int, folder: Path, seconds: float) -> None:
    """Each part by itself, then the whole."""
    path, case = written(people(rows), folder), f"{rows:,} rows x 10 columns"
    table = timed(report, case, "reading", lambda: Records.read(path))
    quasi = [name for name in table.columns if name != "diagnosis"]
    timed(report, case, "roles", lambda: guess_roles(table))
    timed(report, case, "sets that single out", lambda: single_out(table, list(table.columns), 4))
    few = classes_of([table[name] for name in ("age", "zip", "sex")])
    timed(report, case, "population models", lambda: estimate_population(few, 20 * rows))
    search(report, case, table, quasi, "diagnosis", seconds)
    start = time.process_time()
    found, made = report_risk(path, seconds=seconds, population=20 * rows)
    report.figure(case, f"report, search of {seconds:g} s", time.process_time() - start, "CPU s", at_most=seconds + 5)
    costs(report, case, table, quasi, "diagnosis", seconds)
    timed(report, case, "page", found.page)
    timed(report, case, "what noise would cost", lambda: compare_release(table, made, ["diagnosis"]))
    report.figure(case, "memory", peak_megabytes(), "MB")


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = Report("risk_report", as_json=options.json)
    with tempfile.TemporaryDirectory() as scratch:
        parts(report, 20_000 if options.quick else 100_000, Path(scratch), 4 if options.quick else 10)
        if options.data is not None:
            path = Path(scratch) / "adult.csv"
            with gzip.open(options.data / "adult" / "adult.csv.gz") as packed, path.open("wb") as plain:
                shutil.copyfileobj(packed, plain)
            table, case = Records.read(path), "ADULT, 48,842 rows, 10 columns"
            search(report, case, table, ADULT, "income>50K", 10)
            costs(report, case, table, ADULT, "income>50K", 10)


if __name__ == "__main__":
    main()
