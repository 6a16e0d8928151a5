"""A real server under load: killed at random moments, raced for the last of a budget, asked again and again."""

import asyncio
import gc
import itertools
import random
import sys
from collections import Counter
from fractions import Fraction

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
import discreet
import serving
from discreet import Budget, Category, Integer, Schema
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.site import application
from discreet.ledger.ledger import Ledger

PRICE = Fraction(1, 8)
ASK = {"outputs": ["count"], "by": ["county"], "epsilon": str(PRICE)}
RELEASE, STORED = "/api/datasets/people/release", "/api/datasets/people/releases"
SCHEMA = """
[dataset]
name = "people"
[budget]
epsilon = "{cap}"
[columns.age]
type = "integer"
lower = 0
upper = 120
[columns.county]
type = "category"
values = ["Ash", "Elm"]
"""


@pytest.fixture
def desk(tmp_path):
    """A folder to serve from: `desk(cap, callers)` gives a server that is not started and the callers' tokens."""

    def made(cap, callers):
        (tmp_path / "people.csv").write_text("age,county\n" + "30,Ash\n40,Elm\n" * 50)
        (tmp_path / "discreet.toml").write_text(SCHEMA.format(cap=cap))
        known = Tokens(tmp_path / "tokens.db")
        tokens = [known.create(f"caller{number}", "analyst") for number in range(callers)]
        Ledger.open(tmp_path / "books.db", create=True).close()
        place = {"--schema": "discreet.toml", "--ledger": "books.db", "--tokens": "tokens.db"}
        words = [word for option, name in place.items() for word in (option, tmp_path / name)]
        return serving.Server(tmp_path, tmp_path / "people.csv", *words), tokens

    return made


def without_left(answer):
    """An answer, but for what was left when it was read."""
    return {name: value for name, value in answer.items() if name != "remaining"}


def lost(books, seen, cap):
    """What is wrong with a ledger after a crash, in words: `seen` are the answers that clients have had, by id."""
    found = list(books.verify().problems)
    charges = [one.amount for one in books.records("people") if one.kind == "charge"]
    outcomes = {one.charged.release: one for one in books.releases("people")}
    if sum(charges) > cap:
        found.append("overspent")
    if len(charges) != len(outcomes) or set(charges) != {PRICE}:
        found.append("charged twice, or not at its price")
    found += [f"{name}: seen, not kept" for name in seen if name not in outcomes or outcomes[name].answer is None]
    return found + [f"{name}: failed" for name, one in outcomes.items() if one.failure is not None]


def test_kill_9_under_load_loses_nothing(desk, tmp_path):
    lives, callers, cap = 5, 8, 5
    server, tokens = desk(cap, callers)
    seen, refused, since = {}, set(), Counter()
    over = False

    async def releases(client):
        """One after the other; whatever has no answer is asked again under its id, as a careful program does."""
        for number in itertools.count():
            name = f"{client.name}-{number}"
            while name not in seen and name not in refused:
                if over:
                    return
                try:
                    status, found = await client.ask(RELEASE, {**ASK, "release": name})
                except (OSError, EOFError):
                    await asyncio.sleep(0.02)
                    continue
                if status == 200:
                    seen[name] = found
                else:
                    assert (status, found["error"]) == (409, "BudgetError"), found
                    refused.add(name)
                since[client.name] += 1

    async def killer():
        """Once everybody was answered since it started, at a random moment: so no release is run more than twice."""
        nonlocal over
        for life in range(lives):
            while len(since) < callers:
                await asyncio.sleep(0.01)
            await asyncio.sleep(random.random() * 0.3)
            over = life == lives - 1
            await asyncio.to_thread(server.kill)
            since.clear()
            if not over:
                await asyncio.to_thread(server.start)

    async def work(client):
        await (killer() if client.name == str(callers) else releases(client))

    with server:
        serving.together(server.port, [*tokens, ""], work)
        books = Ledger.open(tmp_path / "books.db", create=True)
        assert lost(books, seen, cap) == []
        begun = {one.charged.release: one for one in books.releases("people")}
        unanswered = [name for name, one in begun.items() if one.answer is None]
        rerun = sum(one.notes for one in begun.values())
        assert unanswered or rerun, "no kill was at a moment that matters"
        spent = books.standing("people")[0].spent

        async def read(client):
            for name, answer in seen.items():
                status, found = await client.ask(f"{STORED}/{name}")
                assert (status, without_left(found)) == (200, without_left(answer))
            for name in unanswered:
                status, found = await client.ask(RELEASE, {**ASK, "release": name})
                assert (status, found["id"]) == (200, name)

        server.start()
        serving.together(server.port, tokens[:1], read)
    assert books.standing("people")[0].spent == spent
    assert lost(books, [*seen, *unanswered], cap) == []


def test_what_was_lost_is_found(tmp_path):
    table = {"age": [30, 40], "county": ["Ash", "Elm"]}
    schema = Schema(
        "people", {"age": Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"], nullable=False)}
    )
    pyarrow = pytest.importorskip("pyarrow")
    curator = discreet.open(pyarrow.table(table), schema, ledger=tmp_path / "books.db", budget=Budget(2), create=True)
    curator.table().agg(n=discreet.count()).plan(epsilon=PRICE).release(release="kept")
    assert lost(curator.ledger, ["kept"], 2) == []
    assert lost(curator.ledger, ["kept", "gone"], 2) == ["gone: seen, not kept"]
    assert lost(curator.ledger, ["kept"], Fraction(1, 10)) == ["overspent"]
    curator.ledger.spend(
        "people", discreet.core.loss.Pure(PRICE), release="open", who="x", digest="d", unit=curator.schema.unit
    )
    assert lost(curator.ledger, ["kept", "open"], 2) == ["open: seen, not kept"]
    curator.ledger.failed("open", "its answer was lost too often", who="x")
    assert lost(curator.ledger, ["kept"], 2) == ["open: failed"]
    curator.table().agg(n=discreet.count()).plan(epsilon=1).release(release="dear")
    assert "charged twice, or not at its price" in lost(curator.ledger, ["kept"], 2)


def test_64_clients_race_for_the_last_of_the_budget(desk, tmp_path):
    fit = 5
    server, tokens = desk(fit * PRICE + PRICE / 2, 64)
    answers = {}

    async def one(client):
        answers[client.name] = await client.ask(RELEASE, {**ASK, "release": f"of {client.name}"})

    with server:
        serving.together(server.port, tokens, one)
    assert Counter(status for status, _ in answers.values()) == {200: fit, 409: 64 - fit}
    books = Ledger.open(tmp_path / "books.db", create=True)
    assert lost(books, [f"of {name}" for name, (status, _) in answers.items() if status == 200], fit * PRICE) == []
    assert books.standing("people")[0].spent.amount == fit * PRICE


def grown(app, token, plans):
    """How many pieces of Python's memory an application holds more after so many plans than before, per plan."""
    body = b'{"outputs": ["count"], "epsilon": 1}'
    headers = [(b"host", b"localhost"), (b"authorization", b"Bearer " + token.encode())]
    headers += [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    path = "/api/datasets/people/plan"

    async def asked(count):
        for _ in range(count):
            told = [{"type": "http.request", "body": bytes(bytearray(body))}]
            seen = []

            async def receive(told=told):
                return told.pop() if told else {"type": "http.disconnect"}

            async def send(message, seen=seen):
                seen.append(message)

            scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "path": path}
            scope |= {"raw_path": path.encode(), "query_string": b"", "headers": headers, "scheme": "http"}
            await app(
                {**scope, "server": ("localhost", 80), "client": ("127.0.0.1", 1), "root_path": ""}, receive, send
            )
            assert seen[0]["status"] == 200, seen

    async def measured():
        await asked(100)  # caches fill once
        gc.collect()
        before = sys.getallocatedblocks()
        await asked(plans)
        gc.collect()
        return (sys.getallocatedblocks() - before) / plans

    return asyncio.run(measured())


def test_memory_is_flat_over_many_plans(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    schema = Schema("people", {"age": Integer(0, 120, nullable=False)})
    curator = discreet.open(
        pyarrow.table({"age": [30]}), schema, ledger=tmp_path / "b.db", budget=Budget(1), create=True
    )
    service = Service({"people": curator}, Tokens(tmp_path / "tokens.db")).within(rate=1e9, burst=1e9)
    token, app = service.tokens.create("ann", "analyst"), application(service)
    # Free lists of the interpreter fill once, at some time; what leaks does so every time.
    assert any(grown(app, token, 300) < 0.5 for _ in range(3))
    kept = []

    async def leaks(scope, receive, send):
        async def heard():
            kept.append(await receive())
            return kept[-1]

        await app(scope, heard, send)

    assert grown(leaks, token, 100) > 1
