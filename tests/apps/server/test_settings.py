"""`discreet serve --workers 2`: real processes over one ledger, which never lets out more than its cap."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest

import discreet
from discreet.errors import BudgetError, DiscreetError, InputError
from discreet.ledger.ledger import Ledger
from discreet.ledger.person_total import person_total
from servers import free_port, place  # noqa: F401

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
from discreet.apps.server.settings import Served, Settings
from discreet.apps.server.tokens import Tokens

TOML = """
[dataset]
name = "people"
[columns]
age = { type = "integer", lower = 0, upper = 120 }
county = { type = "category", values = ["Ash", "Elm"] }
[budget]
epsilon = 2
[budget.allotments.team]
kind = "pure"
epsilon = 1
[budget.allotments.guests]
kind = "pure"
epsilon = 1
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "discreet.toml").write_text(TOML)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    rows = "\n".join(f"{20 + n % 50},{'Ash' if n % 2 else 'Elm'}" for n in range(200))
    (tmp_path / "people.csv").write_text(f"age,county\n{rows}\n")
    return tmp_path


@pytest.fixture
def served(folder, place):  # noqa: F811
    """A server of two processes, with a SQLite or a PostgreSQL ledger, and a token of each of two allotments."""
    known = Tokens(folder / "discreet-tokens.db")
    tokens = {name: known.create(name, "analyst", name) for name in ("team", "guests")}
    Ledger.open(place, create=True).close()
    port = free_port()
    words = ["serve", "people.csv", "--ledger", place, "--workers", "2", "--port", str(port), "--rate", "1000"]
    child = subprocess.Popen(
        [sys.executable, "-m", "discreet", *words], cwd=folder, stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        wait(port)
        yield f"http://127.0.0.1:{port}", tokens, place, child
    finally:
        child.terminate()
        try:
            child.wait(20)
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait(10)


def wait(port):
    for _ in range(1200):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api/datasets")
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not start")


def workers(child):
    """The processes below the one that was started that listen: not the helper that multiprocessing has."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((one / "stat").read_text().rpartition(")")[2].split()[1])
            told = (one / "cmdline").read_text()
        except OSError:
            continue
        if parent == child.pid and "spawn_main" in told:
            found.append(int(one.name))
    return found


def asked(url, tokens, number):
    there = discreet.connect(url, tokens["team" if number % 2 else "guests"])
    try:
        there.table().agg(n=discreet.count()).plan(epsilon="1/7").release(release=f"r{number}")
    except BudgetError:
        return False
    return True


def stored(there, seconds=60):
    """Ids of releases, also while a worker is away."""
    end = time.monotonic() + seconds
    while True:
        try:
            return there.releases()
        except DiscreetError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


# Of both stores it is tried with sixteen processes in tests/laws/test_ledger_laws.py, without a server around them.
@pytest.mark.parametrize("place", [pytest.param("sqlite", marks=pytest.mark.large), "postgres"], indirect=True)
@pytest.mark.skipif(sys.platform != "linux", reason="looks for the workers in /proc")
def test_two_processes_spend_exactly_the_cap(served):
    url, tokens, place, child = served  # noqa: F811
    assert len(workers(child)) == 2
    with ThreadPoolExecutor(8) as crowd:
        paid = list(crowd.map(lambda number: asked(url, tokens, number), range(20)))
    assert sum(paid) == 14  # seven sevenths of each
    books = Ledger.open(place, create=True)
    assert [one.spent.amount for one in books.standing("people")] == [1, 1]
    assert books.verify().ok
    with ThreadPoolExecutor(8) as crowd:  # asked again under ids that are paid for, nothing is spent
        again = list(crowd.map(lambda number: asked(url, tokens, number), range(20)))
    assert again == paid
    assert [one.spent.amount for one in books.standing("people")] == [Fraction(1), Fraction(1)]
    # A worker that is killed is replaced, and what it had answered is still there.
    os.kill(workers(child)[0], signal.SIGKILL)
    there = discreet.connect(url, tokens["team"])  # the other one answers
    end = time.monotonic() + 60
    while len(workers(child)) < 2 and time.monotonic() < end:
        assert len(stored(there)) == 14
        time.sleep(0.1)
    assert len(workers(child)) == 2
    assert there.release("r1" if paid[1] else "r3").outputs == ("n",)
    books.close()


def test_a_token_for_nothing_is_refused_when_the_server_starts(folder, monkeypatch):
    monkeypatch.chdir(folder)
    Tokens("t.db").create("ann", "analyst", "nowhere")
    asked = Settings((Served("people.csv"),), "t.db", "jobs.db")
    with pytest.raises(InputError, match="token of ann"):
        asked.service()


def test_a_name_under_which_nothing_would_be_found_is_refused_when_the_server_starts(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "discreet.toml").write_text(TOML.replace('"people"', '"north/people"'))
    with pytest.raises(InputError, match="without a slash"):
        Settings((Served("people.csv"),), "t.db", "jobs.db").service()


def test_a_token_for_nothing_is_not_made_where_the_ledger_is_known(folder, monkeypatch):
    from typer.testing import CliRunner

    from discreet.apps.cli import app

    monkeypatch.chdir(folder)
    assert CliRunner().invoke(app, ["ledger", "open", "--yes"]).exit_code == 0
    made = CliRunner().invoke(
        app, ["token", "create", "ann", "--allotment", "nowhere", "--ledger", ".discreet/ledger.db"]
    )
    assert isinstance(made.exception, InputError)
    assert "guests, team" in str(made.exception)
    assert len(Tokens("discreet-tokens.db")) == 0
    made = CliRunner().invoke(app, ["token", "create", "ann", "--allotment", "team", "--ledger", ".discreet/ledger.db"])
    assert made.exit_code == 0


def test_datasets_on_one_ledger_share_it(folder, monkeypatch):
    (folder / "visits.toml").write_text(TOML.replace('"people"', '"visits"'))
    (folder / "visits.csv").write_text("age,county\n20,Ash\n")
    (folder / "other").mkdir()
    (folder / "other" / "stays.toml").write_text(TOML.replace('"people"', '"stays"'))
    (folder / "other" / "stays.csv").write_text("age,county\n20,Ash\n")
    Ledger.open(folder / "other" / ".discreet" / "ledger.db", create=True).close()
    monkeypatch.chdir(folder)
    tables = (Served("people.csv"), Served("visits.csv", ledger="./.discreet/../.discreet/ledger.db"))
    served = (*tables, Served("other/stays.csv"))
    service = Settings(served, tokens="discreet-tokens.db", jobs="jobs.db").service()
    assert service.curators["people"].ledger is service.curators["visits"].ledger
    assert len(service.ledgers) == len(service.queues) == 2
    assert service.ledgers[0].datasets() == ()  # a budget is opened with the first charge
    for name in service.curators:
        service.curators[name].table().agg(n=discreet.count()).plan(epsilon=0.5, allotment="team").release()
        assert service.curators[name].standing()[0].left.amount == Fraction(1, 2)
    total = person_total(service.ledgers)  # one ledger twice is refused
    assert [one.dataset for one in total.datasets] == ["people", "visits", "stays"]


def test_workers_share_the_rate_and_what_they_are_told_is_private(folder, monkeypatch):
    monkeypatch.chdir(folder)
    asked = Settings((Served("people.csv"),), "t.db", "jobs.db", rate=20.0, workers=4)
    assert asked.service().limits.rate == 5
    with asked.shared():
        told = Path(os.environ["DISCREET_SERVING"])
        assert told.stat().st_mode & 0o077 == 0
        from discreet.apps.web.site import worker

        assert worker().title == "discreet"
    assert not told.exists()
    assert "DISCREET_SERVING" not in os.environ
