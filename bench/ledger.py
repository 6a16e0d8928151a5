"""The ledger under fire: 16 processes, random kill -9, exactly the cap; and how fast that is.

    python bench/ledger.py [--quick] [--json] [--no-peers]

SQLite always; PostgreSQL from the PyPI package pgserver where it is installed.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path

from harness import HERE, Report, arguments

sys.path.insert(0, str(HERE.parent / "tests"))

from crowd import run_crowd, run_door
from discreet.core.loss import Pure
from discreet.ledger.budget import Budget
from discreet.ledger.door import release
from discreet.ledger.ledger import Ledger
from jobs import Data, Job


def ledger_with(place: str, cap: int) -> Ledger:
    ledger = Ledger.open(place, create=True)
    ledger.create("visits", Budget(epsilon=cap), who="bench")
    return ledger


def alone(report: Report, name: str, place: str, count: int) -> None:
    """One process, one spend after another; then the door; then verification."""
    ledger = ledger_with(place, 10 * count)
    start = time.perf_counter()
    for index in range(count):
        ledger.spend("visits", Pure(1), release=f"r{index}", who="bench", digest="d")
    report.figure(f"{name}: one process", "spends", count / (time.perf_counter() - start), "/s", at_least=50)
    start = time.perf_counter()
    for index in range(count // 5):
        release(Job(), Data(), ledger, who="bench", release=f"job{index}")
    report.figure(f"{name}: one process", "releases", count // 5 / (time.perf_counter() - start), "/s")
    start = time.process_time()
    for index in range(count // 5):
        release(Job(), Data(), ledger, who="bench", release=f"timed{index}")
    each = (time.process_time() - start) / (count // 5)
    report.figure(f"{name}: one process", "CPU of a release", 1000 * each, "ms")


def crowd(report: Report, name: str, place: str, *, each: int) -> None:
    """The test of the issue: 16 processes, 6 of them killed, a cap that the survivors reach."""
    processes, kill = 16, 6
    cap = (processes - kill) * each * 9 // 10
    ledger = ledger_with(place, cap)
    result = run_crowd(place, processes=processes, each=each, kill=kill)
    case = f"{name}: 16 x {each} spends, 6 killed"
    charged = {record.release for record in ledger.records() if record.kind == "charge"}
    report.figure(case, "charges off the cap", abs(len(charged) - cap), "", at_most=0)
    report.figure(case, "acknowledged, not kept", len(set(result.acknowledged) - charged), "", at_most=0)
    unsaid = len(charged - set(result.acknowledged))
    report.figure(case, "kept, not acknowledged", unsaid, "", at_most=kill)
    report.figure(case, "killed", result.killed, "", at_least=kill)
    report.figure(case, "problems", len(result.problems), "", at_most=0)
    report.figure(case, "spends", cap / result.seconds, "/s", at_least=50)
    start = time.perf_counter()
    found = ledger.verify()
    report.figure(case, f"verify {found.records} records", time.perf_counter() - start, "s")
    report.figure(case, "problems verify found", len(found.problems), "", at_most=0)


def doors(report: Report, name: str, place: str, *, jobs: int) -> None:
    """Kill -9 in the middle of releases: one charge and one answer for each, and what was seen is what is kept."""
    ledger = ledger_with(place, 10 * jobs)
    seen, lives = run_door(place, jobs=jobs, kills=jobs // 5)
    outcomes = {outcome.charged.release: outcome for outcome in ledger.releases()}
    case = f"{name}: {jobs} releases in {lives} lives"
    report.figure(
        case, "charges off one each", abs(10 * jobs - jobs - int(ledger.remaining("visits").amount)), "", at_most=0
    )
    wrong = sum(outcomes[identity].answer != f'{{"count":{count}}}' for identity, count in seen)
    report.figure(case, "answers seen, not kept", wrong, "", at_most=0)
    report.figure(case, "run again after a crash", sum(outcome.notes for outcome in outcomes.values()), "")


def long_books(report: Report, name: str, place: str, count: int) -> None:
    """How long it takes to check a long ledger."""
    from fractions import Fraction

    from discreet.core.unit import Unit
    from discreet.core.wire import loss_to_json
    from discreet.ledger.budget import Charge
    from discreet.ledger.chain import write
    from discreet.ledger.record import Record

    ledger = ledger_with(place, 10 * count)
    told = {"dataset": "visits", "allotment": "questions", "digest": "d", "unit": str(Unit())}
    told |= {"charge": Charge(Fraction(1)), "loss": loss_to_json(Pure(1))}
    with ledger._store.write() as writer:  # one transaction: writing them one by one is measured above
        for index in range(count):
            write(writer, Record.after(writer.head(), kind="charge", who="bench", release=f"r{index}", **told))
    start = time.perf_counter()
    found = ledger.verify()
    seconds = time.perf_counter() - start
    report.figure(f"{name}: verify {count} charges", "time", seconds, "s", at_most=10)
    report.figure(f"{name}: verify {count} charges", "problems", len(found.problems), "", at_most=0)


def growth(report: Report, name: str, place: str, sizes: tuple[int, ...]) -> None:
    """CPU time of a charge, a look for an answer and a short verification on ledgers of ever more records."""
    from fractions import Fraction

    from discreet.core.unit import Unit
    from discreet.core.wire import loss_to_json
    from discreet.ledger.budget import Charge
    from discreet.ledger.chain import write
    from discreet.ledger.record import Record

    ledger = Ledger.open(place, create=True)
    ledger.create("visits", Budget(epsilon=10 * sizes[-1], delta="1e-6"), who="bench")
    part = ledger.account("visits").budget.allotment(None)
    loss = Pure(Fraction(1, 100))
    told = {"dataset": "visits", "allotment": part.name, "unit": str(Unit()), "charge": Charge(part.price(loss).amount)}
    for size in sizes:
        with ledger._store.write() as writer:
            for index in range(writer.head().sequence, size):
                values = told | {"release": f"g{index}", "digest": f"d{index}", "loss": loss_to_json(loss)}
                write(writer, Record.after(writer.head(), kind="charge", who="bench", **values))
        ledger._guard.follow(ledger._store)
        case = f"{name}: {size:,} records"
        start = time.process_time()
        found = ledger.verify()
        report.figure(case, "verify, CPU", time.process_time() - start, "s")
        report.figure(case, "problems", len(found.problems), "", at_most=0)
        many = 50
        for what, act in (
            ("spend, CPU", lambda at: ledger.spend("visits", loss, release=at, who="bench", digest=at)),
            ("answer looked for, CPU", lambda at: ledger.answered("visits", at)),
            ("plain sum left, CPU", lambda at: ledger.pure_left("visits")),
        ):
            start = time.process_time()
            for index in range(many):
                act(f"{what} {size} {index}")
            report.figure(case, what, 1000 * (time.process_time() - start) / many, "ms")
        start = time.process_time()
        found = ledger.verify(incremental=True)
        report.figure(case, "verify --incremental, CPU", time.process_time() - start, "s")
        report.figure(case, "records read again", found.records - found.after, "", at_most=many)


def kept(report: Report) -> None:
    """What a question of 1,000 groups takes on the ledger: what was measured, and the answer made of it."""
    import numpy as np
    import pyarrow

    import discreet
    from discreet import Category, Integer, Schema, count, mean

    names, chance = [f"{place:03d}" for place in range(1000)], np.random.default_rng(0)
    table = pyarrow.table({"g": [names[place] for place in chance.integers(0, 1000, 20_000)], "x": [1] * 20_000})
    schema = Schema("visits", {"g": Category(names, nullable=False), "x": Integer(0, 99, nullable=False)})
    place = Path(tempfile.mkdtemp()) / "discreet.db"
    curator = discreet.open(table, schema, ledger=place, budget=Budget(100), who="bench", create=True)
    for case, outputs in (("counts", {"n": count()}), ("counts and means", {"n": count(), "m": mean("x")})):
        offer = curator.table().group_by("g").agg(**outputs).plan(epsilon=1)
        offer.release(release=case)
        start = time.process_time()
        offer.release(release=f"{case} again")
        report.figure(f"1,000 {case}", "CPU of a release", 1000 * (time.process_time() - start), "ms")
        for record in curator.ledger.records():
            if record.release == case and record.kind != "charge":
                report.figure(f"1,000 {case}", f"{record.kind} on the ledger", len(record.body()), "bytes")


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = Report("ledger", as_json=options.json)
    places = {"SQLite": lambda: str(Path(tempfile.mkdtemp()) / "discreet.db")}
    try:
        from servers import fresh_schema, postgres

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            postgres()
        places["PostgreSQL"] = fresh_schema
    except BaseException as problem:  # a skip of the test suite is no Exception
        report.note(f"no PostgreSQL: {problem}")
    for name, place in places.items():
        alone(report, name, place(), 200 if options.quick else 1000)
        crowd(report, name, place(), each=40 if options.quick else 500)
        doors(report, name, place(), jobs=10 if options.quick else 50)
        long_books(report, name, place(), 10_000)
        growth(report, name, place(), (1000, 10_000))
    kept(report)


if __name__ == "__main__":
    main()
