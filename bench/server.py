"""The server under load: plans and releases by 64 clients, the last of a budget, memory; SQLite and PostgreSQL.

    python bench/server.py [--quick] [--json] [--rows N]     (--quick: 16 clients, a second each)

`discreet serve` runs as it does for anyone, in one process or two, with its default limits but for the rate of one
caller, and a token for each client. The clients are in this process and share the cores with the server and the
database; their CPU is told.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

from harness import HERE, Report, arguments

sys.path.insert(0, str(HERE.parent / "tests"))

import numpy as np

from discreet.apps.server.tokens import Tokens
from discreet.ledger.ledger import Ledger
from serving import Client, Server, launcher, together

CLIENTS = 64
PRICE = Fraction(1, 1000)
PATH = "/api/datasets/people"
COUNTIES = ["Ash", "Birch", "Cedar", "Elm", "Hazel", "Juniper", "Larch", "Maple", "Oak", "Rowan", "Spruce", "Willow"]
SCHEMA = f"""
[dataset]
name = "people"
[budget]
epsilon = "{{cap}}"
[columns.age]
type = "integer"
lower = 0
upper = 100
[columns.pay]
type = "real"
lower = 0
upper = 100000
[columns.county]
type = "category"
values = {COUNTIES}
"""
QUESTIONS = [
    {"outputs": ["count"], "where": "age >= 18"},
    {"outputs": ["count", "mean(age)"], "by": ["county"]},
    {"sql": "SELECT county, COUNT(*) AS n, SUM(pay) AS paid FROM people GROUP BY county"},
    {"outputs": ["count", "sum(pay)"], "by": ["age/10"], "where": "county = 'Ash'"},
]


class Desk:
    """A table, its schema, a ledger and tokens, to be served."""

    def __init__(self, rows: int, cap: Fraction, ledger: str | None, workers: int, clients: int = CLIENTS) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.folder = Path(tempfile.mkdtemp(prefix="served"))
        rng = np.random.default_rng(1)  # made-up people: nothing private
        county = np.array(COUNTIES)[rng.integers(0, len(COUNTIES), rows)]
        people = {"age": rng.integers(0, 100, rows), "pay": 1e5 * rng.random(rows), "county": county}
        pq.write_table(pa.table(people), self.folder / "people.parquet")
        (self.folder / "discreet.toml").write_text(SCHEMA.format(cap=cap))
        known = Tokens(self.folder / "tokens.db")
        self.tokens = [known.create(f"client{number}", "analyst") for number in range(clients)]
        self.ledger = ledger or str(self.folder / "books.db")
        Ledger.open(self.ledger, create=True).close()
        words = ["--schema", self.folder / "discreet.toml", "--ledger", self.ledger]
        words += ["--tokens", self.folder / "tokens.db", "--workers", workers, "--rate", 10_000]
        self.server = Server(self.folder, self.folder / "people.parquet", *words)


class Load:
    """What clients saw while they kept a server busy: seconds of each answer, and statuses other than 200."""

    def __init__(self, desk: Desk, clients: int, seconds: float, path: str, asked) -> None:
        self.times: list[float] = []
        self.others: list[int] = []
        end = time.monotonic() + seconds

        async def work(client: Client) -> None:
            number = 0
            while time.monotonic() < end:
                start = time.perf_counter()
                status, _ = await client.ask(*asked(client, path, number))
                self.times.append(time.perf_counter() - start)
                number += 1
                if status != 200:
                    self.others.append(status)

        before, own, start = desk.server.cpu(), time.process_time(), time.monotonic()
        together(desk.server.port, desk.tokens[:clients], work)
        self.seconds = time.monotonic() - start
        self.cpu, self.own = desk.server.cpu() - before, time.process_time() - own

    def told(self, report: Report, case: str, what: str, *, at_least=None, at_most=None) -> None:
        count = len(self.times)
        report.figure(case, what, count / self.seconds, "/s", at_least=at_least)
        report.figure(case, "p50", float(np.quantile(self.times, 0.5)), "s")
        report.figure(case, "p99", float(np.quantile(self.times, 0.99)), "s", at_most=at_most)
        report.figure(case, "CPU of the server, each", 1000 * self.cpu / count, "ms")
        report.figure(case, "CPU of the client, each", 1000 * self.own / count, "ms")
        report.figure(case, "not answered with 200", len(self.others), "", at_most=0)


def question(client: Client, path: str, number: int) -> tuple[str, dict]:
    """One of the questions, in turn."""
    return f"{PATH}/{path}", {**QUESTIONS[(number + int(client.name)) % len(QUESTIONS)], "epsilon": str(PRICE)}


def released(client: Client, path: str, number: int) -> tuple[str, dict]:
    """A new release of one of the questions."""
    where, asked = question(client, path, number)
    return where, {**asked, "release": f"{time.time_ns()}-{client.name}"}


def busy(report: Report, name: str, desk: Desk, seconds: float) -> None:
    """Plans, then releases: one client alone, then all of them; then what was released, read again."""
    clients = len(desk.tokens)
    with desk.server:
        Load(desk, 4, seconds / 4, "plan", question)  # libraries are loaded on first use
        Load(desk, 4, seconds / 4, "release", released)
        Load(desk, 1, seconds / 4, "plan", question).told(report, f"{name}: 1 client", "plans")
        Load(desk, clients, seconds, "plan", question).told(
            report, f"{name}: {clients} clients", "plans", at_least=400, at_most=1
        )
        Load(desk, 1, seconds / 4, "release", released).told(report, f"{name}: 1 client", "releases")
        Load(desk, clients, seconds, "release", released).told(
            report, f"{name}: {clients} clients", "releases", at_least=100, at_most=1.5
        )
        books = Ledger.open(desk.ledger, create=True)
        kept = [one.charged.release for one in books.releases("people") if one.answer is not None]
        again = lambda client, path, number: (f"{PATH}/releases/{kept[number % len(kept)]}",)  # noqa: E731
        Load(desk, clients, seconds / 2, "", again).told(
            report, f"{name}: {clients} clients", "read again", at_least=1000
        )
    found = books.verify()
    report.figure(f"{name}: {clients} clients", "problems verify found", len(found.problems), "", at_most=0)


def last(report: Report, name: str, desk: Desk, fit: int) -> None:
    """Everyone releases until refused, with a budget for `fit` releases and half of one."""
    answered, refused, clients = [], [], len(desk.tokens)

    async def work(client: Client) -> None:
        for number in range(fit + 1):
            status, found = await client.ask(*released(client, "release", number))
            if status != 200:
                refused.append((status, found["error"]))
                return
            answered.append(found["id"])

    with desk.server:
        together(desk.server.port, desk.tokens, work)
    books = Ledger.open(desk.ledger, create=True)
    (standing,) = books.standing("people")
    charges = [record.amount for record in books.records("people") if record.kind == "charge"]
    case = f"{name}: {clients} clients, budget for {fit}"
    report.figure(
        case, "overspent", float(max(Fraction(0), sum(charges) - standing.allotment.cap.amount)), "", at_most=0
    )
    report.figure(case, "charges off what fits", abs(len(charges) - fit), "", at_most=0)
    report.figure(case, "answers off what fits", abs(len(set(answered)) - fit), "", at_most=0)
    report.figure(case, "refused for the budget", refused.count((409, "BudgetError")), "", at_least=clients)
    report.figure(case, "problems verify found", len(books.verify().problems), "", at_most=0)


def memory(report: Report, name: str, desk: Desk, rounds: int, seconds: float, *, quick: bool) -> None:
    """What the server holds after each round of plans and releases; how much more per thousand in the later half."""
    clients = 16  # as many as keep it busy
    with desk.server:
        Load(desk, clients, seconds / 2, "plan", question)
        Load(desk, clients, seconds / 2, "release", released)
        for path, asked, most in (("plan", question, 1), ("release", released, 5)):
            counts, held = [0], [desk.server.megabytes()]
            for _ in range(rounds):
                counts.append(counts[-1] + len(Load(desk, clients, seconds, path, asked).times))
                held.append(desk.server.megabytes())
            half = len(counts) // 2
            slope = 1000 * float(np.polyfit(counts[half:], held[half:], 1)[0])
            case = f"{name}: memory over {counts[-1]} {path}s"
            report.figure(case, "before", held[0], "MB")
            report.figure(case, "after", held[-1], "MB")
            report.figure(case, "growth in the later half", slope, "MB/1000", at_most=None if quick else most)


def main() -> None:
    rows = {"type": int, "default": 100_000, "help": "rows of the made-up table"}
    options = arguments(__doc__.splitlines()[0], rows=rows)
    report = Report("server", as_json=options.json)
    report.figure("machine", "load average before", os.getloadavg()[0], "")
    launcher()
    places = {"SQLite": (lambda: None, 1)} | ({} if options.quick else {"SQLite, 2 workers": (lambda: None, 2)})
    try:
        from servers import fresh_schema, postgres

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            postgres()
        places["PostgreSQL, 2 workers"] = (fresh_schema, 2)
    except BaseException as problem:  # a skip of the test suite is no Exception
        report.note(f"no PostgreSQL: {problem}")
    seconds, fit, clients = (1, 16, 16) if options.quick else (10, 100, CLIENTS)
    for name, (place, workers) in places.items():
        busy(report, name, Desk(options.rows, Fraction(1000), place(), workers, clients), seconds)
        last(report, name, Desk(options.rows, (fit + Fraction(1, 2)) * PRICE, place(), workers, clients), fit)
    rounds = (2, 0.5) if options.quick else (8, 5)
    memory(report, "SQLite", Desk(options.rows, Fraction(1000), None, 1), *rounds, quick=options.quick)
    report.figure("machine", "load average after", os.getloadavg()[0], "")


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
