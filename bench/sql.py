"""SQL as people write it: how much of it is accepted, by construct, and whether what is accepted is right.

python bench/sql.py [--quick] [--json] [--no-peers] [--data FOLDER] [--show]

Every statement of bench/sql_corpus.py is asked about a made-up table of visits, one row a patient. What is accepted is
released at a huge epsilon and compared with DuckDB (spellings of other systems, with sqlglot's translation of them).
"""

from __future__ import annotations

import datetime
import math
import random
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot

import discreet
from discreet import Boolean, Budget, Category, Date, Integer, Real, Schema, Text, Unit
from discreet.data import Lookup
from discreet.errors import InputError
from harness import Report, arguments
from sql_corpus import CORPUS, DIALECTS, MEANT

COUNTIES = ["Ash", "Elm", "Oak"]
REGIONS = {"county": ["Ash", "Elm"], "region": ["north", "south"]}
SCHEMA = Schema(
    "visits",
    {
        "patient": Integer(0, 10**6, nullable=False),
        "age": Integer(0, 110, nullable=False),
        "sex": Category(["F", "M"], nullable=False),
        "county": Category(COUNTIES, nullable=False),
        "cost": Real(0, 100),
        "hours": Integer(0, 20, nullable=False),
        "day": Date("2020-01-01", "2021-12-31", nullable=False),
        "insured": Boolean(nullable=False),
        "diagnosis": Category(["a", "b", "c"]),
        "city": Text(),
    },
    Unit("patient", groups=1, rows=1),
    {"regions": Lookup("county", REGIONS, {"region": Category(["north", "south"])})},
)


def table(rows: int) -> pa.Table:
    source = random.Random("visits")
    first = datetime.date(2020, 1, 1)
    return pa.table(
        {
            "patient": list(range(rows)),
            "age": [source.randint(0, 100) for _ in range(rows)],
            "sex": [source.choice("FM") for _ in range(rows)],
            "county": [source.choice(COUNTIES) for _ in range(rows)],
            "cost": [None if source.random() < 0.05 else round(source.random() * 100, 2) for _ in range(rows)],
            "hours": [source.randint(0, 20) for _ in range(rows)],
            "day": [first + datetime.timedelta(days=source.randint(0, 730)) for _ in range(rows)],
            "insured": [source.random() < 0.7 for _ in range(rows)],
            "diagnosis": [source.choice(["a", "b", "c", None]) for _ in range(rows)],
            "city": [source.choice(["Ashford", "Elmton", "Oakham"]) for _ in range(rows)],
        }
    )


def plain(value: Any) -> Any:
    if isinstance(value, datetime.date):
        return value.isoformat()[:10]
    if value is None or isinstance(value, bool | str):
        return value
    return float(value)


def alike(mine: Any, theirs: Any, loose: bool) -> bool:
    if isinstance(mine, float) and isinstance(theirs, float):
        return math.isclose(mine, theirs, rel_tol=2e-2 if loose else 1e-3, abs_tol=0.2 if loose else 1e-2)
    return mine == theirs


def right(release: Any, expected: list[tuple[Any, ...]], text: str) -> bool:
    """Whether a released table holds the rows of DuckDB, and else only groups that nobody is in."""
    names = [*release.keys, *release.outputs]
    order = [name for name in release.columns if name in names]
    mine = [tuple(plain(row[name]) for name in order) for row in release.rows()]
    loose = any(word in text.upper() for word in ("MEDIAN", "QUANTILE", "PERCENTILE"))  # bins of a grid
    if "LIMIT" in text.upper() or "FETCH" in text.upper() or "TOP " in text.upper():
        return len(mine) == len(expected)

    def has(rows: list[tuple[Any, ...]], row: tuple[Any, ...]) -> bool:
        return any(all(alike(a, b, loose) for a, b in zip(row, other, strict=False)) for other in rows)

    spare = [row for row in mine if not has(expected, row)]
    return all(has(mine, row) for row in expected) and all(0.0 in row or None in row for row in spare)


def main() -> int:
    options = arguments(__doc__.splitlines()[0], show={"action": "store_true", "help": "name what is refused"})
    report = Report("sql", as_json=options.json)
    warnings.simplefilter("ignore")
    rows = table(2_000 if options.quick else 20_000)
    database = duckdb.connect()
    database.register("visits", rows)
    database.register("regions", pa.table(REGIONS))
    with tempfile.TemporaryDirectory() as folder:
        curator = discreet.open(
            rows, SCHEMA, ledger=Path(folder) / "ledger.db", budget=Budget(epsilon=10**15, delta=0.5), create=True
        )
        totals = {"statements": 0, "accepted": 0, "right": 0, "crashes": 0}
        began = time.process_time()
        for construct, texts in [*CORPUS.items(), *DIALECTS.items()]:
            dialect = construct if construct in DIALECTS else "duckdb"
            accepted = 0
            if options.quick and len(texts) > 4:  # every second one: all take a minute
                texts = [text for place, text in enumerate(texts) if place % 2 == 0]
            for text in texts:
                totals["statements"] += 1
                try:
                    question = curator.sql(text, dialect=dialect)
                    found = any(key.discovered for key in question.query.keys)  # at most epsilon 1,000 for these
                    price = {"epsilon": 500, "delta": "1e-3"} if found else {"epsilon": 10**8}
                    release = question.plan(**price).release()
                except InputError as problem:
                    if options.show:
                        report.note(f"{text}\n    {problem}")
                    continue
                except Exception as problem:
                    totals["crashes"] += 1
                    report.note(f"CRASH {text}\n    {type(problem).__name__}: {problem}")
                    continue
                accepted += 1
                spelt = MEANT.get(text, text)
                if spelt == text and dialect != "duckdb":
                    spelt = sqlglot.transpile(text, read=dialect, write="duckdb")[0]
                for schema in ("dbo.", "public.", "main.", "project.dataset.", '"project"."dataset".'):
                    spelt = spelt.replace(schema, "")
                try:
                    expected = [tuple(map(plain, row)) for row in database.execute(spelt).fetchall()]
                except duckdb.Error as problem:
                    report.note(f"DuckDB does not run: {spelt}\n    {str(problem)[:120]}")
                    totals["right"] += 1
                    continue
                agrees = right(release, expected, spelt)
                totals["right"] += agrees
                if not agrees:
                    report.note(f"DIFFERS {text}\n    here  {release.rows()[:3]}\n    there {expected[:3]}")
            totals["accepted"] += accepted
            report.figure(construct, "accepted", 100 * accepted / len(texts), "%")
        seconds = time.process_time() - began
    report.figure("all", "statements", totals["statements"], "", at_least=None if options.quick else 200)
    report.figure("all", "accepted", 100 * totals["accepted"] / totals["statements"], "%", at_least=90)
    report.figure("all", "as DuckDB says, of accepted", 100 * totals["right"] / totals["accepted"], "%", at_least=100)
    report.figure("all", "crashes", totals["crashes"], "", at_most=0)
    report.figure("all", "a question, planned and released", 1000 * seconds / totals["statements"], "ms CPU")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
