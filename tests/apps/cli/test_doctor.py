"""`discreet doctor`: well where all is well, and each thing that is not is named with what to do."""

import json
import shutil

import pytest
from shell import folder_fixture, run  # noqa: F401

from discreet.ledger.ledger import Ledger
from servers import fresh_schema


@pytest.fixture
def ready(folder):
    Ledger.open(folder / "ledger.db", create=True).close()
    (folder / "ledger.db").chmod(0o600)
    run("ledger", "open", "--schema", "discreet.toml", "--ledger", "ledger.db", "--yes", cwd=folder)
    return folder


def found(folder, *words, code=0):
    said = json.loads(run("doctor", *words, "--json", cwd=folder, code=code).stdout)
    return {one["part"]: one for one in said["findings"] if not one["well"]}, said["well"]


def test_all_is_well_and_nothing_is_spent(ready):
    ill, well = found(ready, "people.csv", "--ledger", "ledger.db")
    assert (ill, well) == ({}, True)
    said = run("doctor", "people.csv", "--ledger", "ledger.db", cwd=ready).stdout
    assert "ok       ledger: people." in said
    assert "0 problems." in said
    assert Ledger.open(ready / "ledger.db").releases() == ()


def test_a_ledger_that_others_can_read_is_named(ready):
    (ready / "ledger.db").chmod(0o644)
    ill, well = found(ready, "people.csv", "--ledger", "ledger.db", code=1)
    assert list(ill) == ["permissions"]
    assert "chmod 600" in ill["permissions"]["remedy"]
    assert not well


def test_a_ledger_of_another_time_is_named(ready, monkeypatch):
    from datetime import UTC, datetime

    from discreet.apps.cli import doctor

    class Past(datetime):
        @classmethod
        def now(cls, zone=None):
            return datetime(2001, 1, 1, tzinfo=UTC)

    monkeypatch.setattr(doctor, "datetime", Past)
    assert list(found(ready, "people.csv", "--ledger", "ledger.db", code=1)[0]) == ["clock"]


def test_a_ledger_that_was_put_back_is_named(ready):
    shutil.copy(ready / "ledger.db", ready / "old.db")
    run("ask", "people.csv", "count", "--epsilon", "0.1", "--ledger", "ledger.db", "--yes", cwd=ready)
    shutil.copy(ready / "old.db", ready / "ledger.db")
    for more in ("ledger.db-wal", "ledger.db-shm"):
        (ready / more).unlink(missing_ok=True)
    ill, _ = found(ready, "people.csv", "--ledger", "ledger.db", code=1)
    assert "not the one last seen" in ill["dataset"]["text"]


@pytest.mark.parametrize("gone", ["people.csv", "ledger.db"])
def test_what_is_gone_is_named(ready, gone):
    (ready / gone).unlink()
    ill, _ = found(ready, "people.csv", "--schema", "discreet.toml", "--ledger", "ledger.db", code=1)
    assert ill


def test_a_servers_file_is_read_whole(ready):
    pytest.importorskip("fastapi")
    text = '[server]\nledger = "ledger.db"\n[[dataset]]\ndata = "people.csv"\nschema = "discreet.toml"\n'
    (ready / "server.toml").write_text(text)
    assert found(ready, "--config", "server.toml") == ({}, True)
    (ready / "state").mkdir(mode=0o755)
    assert "chmod 700" in found(ready, "--config", "server.toml", code=1)[0]["permissions"]["remedy"]
    (ready / "server.toml").write_text("[server]\nport = 0\n")
    ill, _ = found(ready, "--config", "server.toml", code=1)
    assert "server.port" in ill["configuration"]["text"]


def test_it_is_told_what_to_look_at(folder):
    assert "`data` must be given" in run("doctor", cwd=folder, code=2).stderr
    assert "`--config` must be left out" in run("doctor", "people.csv", "--config", "x.toml", cwd=folder, code=2).stderr


def test_a_role_that_could_write_to_the_table_is_named(ready):
    psycopg = pytest.importorskip("psycopg")
    address = fresh_schema()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE people AS SELECT 30 AS age, 'Ash' AS county")
    budget, column = "[budget]\nepsilon = 1\n", '[columns.age]\ntype = "integer"\nlower = 0\nupper = 99\n'
    (ready / "city.toml").write_text(f'[dataset]\nname = "city"\n{budget}{column}')
    words = (f"{address}&table=people", "--schema", "city.toml", "--ledger", "ledger.db")
    run("ledger", "open", "--schema", "city.toml", "--ledger", "ledger.db", "--yes", cwd=ready)
    ill, _ = found(ready, *words, code=1)
    assert list(ill) == ["rights"]
    assert "GRANT SELECT" in ill["rights"]["remedy"]
