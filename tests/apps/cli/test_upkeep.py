"""A ledger over the years, as its custodian types it: the drill of backups, restores, upgrades and merges."""

import json

import pytest
from shell import folder_fixture, run  # noqa: F401

from discreet.ledger.backup import is_backup
from discreet.ledger.ledger import Ledger
from old import old_ledger
from servers import fresh_schema

COUNT = ("ask", "people.csv", "count", "--epsilon", "0.1", "--yes")


@pytest.fixture(params=["sqlite", "postgres"])
def here(request, folder, monkeypatch):
    """What every command of the drill is given: a folder, a state folder and a ledger of its own."""
    place = ".discreet/years.db" if request.param == "sqlite" else fresh_schema()
    given = {"cwd": folder, "DISCREET_STATE": str(folder / "state"), "DISCREET_LEDGER": place, "DISCREET_WHO": "rosa"}
    run("ledger", "create", **given)
    return given


def test_the_drill_of_a_lost_ledger(here, folder):
    run(*COUNT, "--id", "first", **here)
    told = run("ledger", "backup", "monday", **here).stdout
    head = run("ledger", "verify", **here).stdout.splitlines()[-1]
    assert head in told
    assert "Nothing was written" in run("ledger", "backup", "monday", code=2, **here).stderr
    run("ask", "people.csv", "count", "--epsilon", "0.3", "--id", "second", "--yes", **here)
    # The disk dies, and the backup is put back.
    assert "--replace" in run("ledger", "restore", "monday", "--yes", code=2, **here).stderr
    assert "--yes" in run("ledger", "restore", "monday", "--replace", code=2, **here).stderr
    told = run("ledger", "restore", "monday", "--replace", "--yes", **here).stdout
    assert head in told
    assert "set aside" in told
    assert "people, questions: epsilon = 0.3." in told
    assert "discreet ledger acknowledge --why" in told
    assert "Nothing was spent" in run(*COUNT, code=1, **here).stderr
    run("ledger", "acknowledge", "--why", "the disk died", "--yes", **here)
    (budget,) = json.loads(run("ledger", "show", "--json", **here).stdout)["budgets"]
    assert budget["spent"]["amount"] == "2/5"
    assert "paid earlier" in run(*COUNT, "--id", "first", **here).stdout
    assert "every hash, sum and cap holds" in run("ledger", "verify", **here).stdout
    told = json.loads(run("ledger", "verify", "--incremental", "--json", **here).stdout)
    assert (told["ok"], told["after"]) == (True, told["records"])
    told = json.loads(run("ledger", "restore", "monday", "--replace", "--yes", "--json", **here).stdout)
    assert told["missing"][0]["amount"] == "3/10"
    assert told["aside"]
    if (name := told["aside"]).startswith("discreet_before"):
        import psycopg

        with psycopg.connect(here["DISCREET_LEDGER"]) as connection:
            listed = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'discreet_before%'")
            names = [row[0] for row in listed.fetchall()]
            assert name in names
            for each in names:
                connection.execute(f'DROP SCHEMA "{each}" CASCADE')


def test_the_drill_of_a_move_to_a_new_machine(here, folder):
    """A backup is a ledger to read: verified and added up where it lies. Where it is put, its guard is unknown."""
    run(*COUNT, "--id", "first", **here)
    told = json.loads(run("ledger", "backup", "monday", "--json", **here).stdout)
    assert told["head"]["sequence"] == 5
    assert "every hash" in run("ledger", "verify", "--ledger", "monday", **here).stdout
    total = json.loads(run("ledger", "total", "monday", "--json", **here).stdout)
    assert total == json.loads(run("ledger", "total", here["DISCREET_LEDGER"], "--json", **here).stdout)
    assert total["basic"]["epsilon"] == pytest.approx(0.1)
    elsewhere = here | {"DISCREET_STATE": str(folder / "other"), "DISCREET_LEDGER": "new.db"}
    told = run("ledger", "restore", "monday", "--yes", **elsewhere).stdout
    assert "acknowledge --write-off" in told
    assert "Nothing was spent" in run(*COUNT, code=1, **elsewhere).stderr
    run("ledger", "acknowledge", "--write-off", "nothing", "--why", "a new machine", "--yes", **elsewhere)
    run(*COUNT, **elsewhere)


def test_a_backup_that_was_changed_is_not_used(here, folder):
    run("ledger", "backup", "monday", **here)
    with (folder / "monday" / "ledger.db").open("ab") as file:
        file.write(b"x")
    for words in (("ledger", "restore", "monday", "--yes", "--replace"), ("ledger", "total", "monday")):
        assert "changed since it was made: ledger.db" in run(*words, code=1, **here).stderr
    (folder / "monday" / "manifest.json").unlink()
    assert "not a complete backup" in run("ledger", "restore", "monday", "--yes", code=1, **here).stderr


def test_where_nothing_was_spent_since_it_says_so(here):
    run(*COUNT, **here)
    run("ledger", "backup", "monday", **here)
    assert "can be used" in run("ledger", "restore", "monday", "--replace", "--yes", **here).stdout
    run(*COUNT, **here)


def test_the_drill_of_two_ledgers_that_become_one(here, folder):
    run(*COUNT, "--id", "first", **here)
    other = here | {"DISCREET_LEDGER": "other.db"}
    run("ledger", "create", **other)
    births = folder / "births.toml"
    births.write_text((folder / "discreet.toml").read_text().replace('name = "people"', 'name = "births"'))
    run("ledger", "open", "--schema", "births.toml", "--yes", **other)
    assert "--yes" in run("ledger", "merge", "other.db", "--why", "one agency", code=2, **here).stderr
    told = run("ledger", "merge", "other.db", "--why", "one agency", "--yes", **here).stdout
    assert "Datasets: births." in told
    assert "other.db is closed" in told
    told = json.loads(run("ledger", "show", "--json", **here).stdout)
    assert [each["dataset"] for each in told["budgets"]] == ["people", "births"]
    assert "every hash" in run("ledger", "verify", **here).stdout
    assert "moved to another ledger" in run("ledger", "open", "--yes", code=1, **other).stderr
    # People whom another ledger charged as well: added up under one budget, where they fit.
    second = here | {"DISCREET_LEDGER": "second.db"}
    run("ledger", "create", **second)
    run("ask", "people.csv", "count", "--epsilon", "0.9", "--id", "theirs", "--yes", **second)
    told = run("ledger", "merge", "second.db", "--why", "one agency", "--yes", "--json", **here).stdout
    assert json.loads(told)["datasets"] == ["people"]
    assert "does not cover this" in run(*COUNT, code=3, **here).stderr
    assert "every hash" in run("ledger", "verify", **here).stdout


def test_the_drill_of_an_old_ledger(folder, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(folder / "state"))
    old_ledger(folder).close()
    given = {"cwd": folder, "DISCREET_STATE": str(folder / "state"), "DISCREET_LEDGER": "old.db"}
    told = run("ledger", "upgrade", **given).stdout
    assert "has format 2, before 1" in told
    assert is_backup(folder / "old.db.format-1")
    assert "Nothing to do" in run("ledger", "upgrade", **given).stdout
    assert "every hash" in run("ledger", "verify", **given).stdout
    told = json.loads(run("ledger", "upgrade", "--json", **given).stdout)
    assert (told["from"], told["to"], told["backup"]) == (None, 2, None)
    Ledger.open(folder / "old.db").close()


def test_a_database_is_told_where_its_backup_goes(here):
    if "://" in here["DISCREET_LEDGER"]:
        assert "--backup" in run("ledger", "upgrade", code=2, **here).stderr
    else:
        assert "Nothing to do" in run("ledger", "upgrade", **here).stdout
