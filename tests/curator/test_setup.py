"""Where a curator's ledger lies, that none is made unasked, and that a plan opens no budget."""

import shutil
from pathlib import Path

import pytest

from discreet import Ledger, count
from discreet.curator import open_curator
from discreet.curator.setup import dataset_name, schema_path, state_folder
from discreet.errors import InputError, LedgerError, MissingLedgerError
from discreet.ledger.budget import Budget

SCHEMA = """
[dataset]
name = "visits"
[columns.age]
type = "integer"
lower = 0
upper = 99
[budget]
epsilon = 100
"""


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A folder with a schema and a folder of data beside it."""
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    for name in ("DISCREET_LEDGER", "DISCREET_ANCHOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    fill(tmp_path)
    (tmp_path / "discreet.toml").write_text(SCHEMA)
    return tmp_path


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("visits/january.csv", "january"),
        ("postgresql://ann:secret@host/city", "city"),
        ("postgresql://ann:secret@host", "data"),
        ("postgresql:///city?password=secret&table=trips", "trips"),
        ("postgresql:///city?password=secret", "city"),
    ],
)
def test_data_is_never_called_by_an_address_that_may_hold_a_password(data, name):
    assert dataset_name(data) == name


def fill(folder):
    (folder / "visits").mkdir()
    (folder / "visits" / "january.csv").write_text("age\n3\n4\n")


def ask(curator, epsilon=5):
    return curator.table().agg(n=count()).plan(epsilon=epsilon)


def left(curator):
    return curator.standing()[0].left.amount


def test_a_ledger_is_not_made_unasked(project):
    with pytest.raises(MissingLedgerError, match=r"discreet ledger create --ledger .*\.discreet/ledger.db"):
        open_curator("visits", "discreet.toml")
    assert not (project / ".discreet").exists()
    assert not (project / "state" / "guards").exists()


def test_new_data_in_the_old_folder_give_no_budget_back(project):
    """The monthly refresh: in 0.1 ledger and guard went with the old folder."""
    ask(open_curator("visits", "discreet.toml", create=True)).release()
    (project / "visits").rename(project / "visits.old")
    fill(project)
    assert left(open_curator("visits", "discreet.toml")) == 95
    assert not list((project / "visits.old").glob("*.db*"))


def test_state_is_never_inside_the_data(project):
    shutil.move("discreet.toml", "visits/discreet.toml")
    with pytest.raises(InputError, match="outside visits"):
        open_curator("visits", "visits/discreet.toml", create=True)
    assert [path.name for path in (project / "visits").iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("pattern", ["visits/*.csv", "vis*/*.csv", "visits/**/*.csv", "**/*.csv"])
def test_state_is_never_inside_the_folder_of_a_pattern(project, pattern):
    shutil.move("discreet.toml", "visits/discreet.toml")
    with pytest.raises(InputError, match="outside"):
        open_curator(pattern, "visits/discreet.toml", create=True)
    assert [path.name for path in (project / "visits").iterdir() if path.is_dir()] == []


def test_state_may_lie_beside_the_folders_of_a_pattern(project):
    ask(open_curator("vis*/*.csv", "discreet.toml", create=True)).release()
    assert (project / ".discreet" / "ledger.db").exists()


def test_a_schema_may_name_its_ledger(project):
    (project / "discreet.toml").write_text(SCHEMA + '[ledger]\nplace = "books.db"\n')
    open_curator("visits", "discreet.toml", create=True)
    assert (project / "books.db").exists()
    (project / "discreet.toml").write_text(SCHEMA + '[ledger]\npath = "books.db"\n')
    with pytest.raises(InputError, match="place"):
        open_curator("visits", "discreet.toml")


def old_ledger(project, spent=40):
    """A ledger where version 0.1 kept it: in the folder of the data."""
    ledger = Ledger.open(project / "visits" / "discreet.db", create=True)
    curator = open_curator("visits/january.csv", "discreet.toml", ledger=ledger, create=True)
    ask(curator, spent).release()
    ledger.close()
    return ledger


def test_a_ledger_of_version_0_1_beside_the_data_is_used_with_a_word(project):
    old = old_ledger(project)
    with pytest.warns(UserWarning, match="discreet ledger move"):
        assert left(open_curator("visits", "discreet.toml", create=True)) == 60
    (project / ".discreet").mkdir()
    old.move(project / ".discreet" / "ledger.db", who="ann", why="out of the data")
    assert left(open_curator("visits", "discreet.toml")) == 60  # no word is needed any more


def test_an_old_ledger_and_a_new_one_are_not_both_believed(project):
    old_ledger(project)
    (project / ".discreet").mkdir()
    Ledger.open(project / ".discreet" / "ledger.db", create=True)
    with pytest.raises(LedgerError, match="two ledgers"):
        open_curator("visits", "discreet.toml")


def test_a_plan_opens_no_budget_so_a_slip_can_be_corrected(project):
    curator = open_curator("visits", "discreet.toml", create=True)
    print(ask(curator))
    assert left(curator) == 100
    assert curator.ledger.datasets() == ()
    (project / "discreet.toml").write_text(SCHEMA.replace("100", "1"))
    corrected = open_curator("visits", "discreet.toml")
    ask(corrected, "0.5").release()
    assert corrected.ledger.datasets() == ("visits",)
    assert left(corrected) * 2 == 1
    assert [record.kind for record in corrected.ledger.records()] == ["note", "open", "charge", "measurement", "answer"]
    with pytest.raises(InputError, match="has already"):
        ask(curator).desk.ledger.create("visits", Budget(epsilon=100), who="ann")


def test_a_charge_that_is_refused_opens_no_budget(project):
    curator = open_curator("visits", "discreet.toml", create=True)
    with pytest.raises(Exception, match="does not cover"):
        ask(curator, 101).release()
    assert curator.ledger.head().sequence == 1


def test_a_misspelt_name_begins_no_new_budget(project):
    ask(open_curator("visits", "discreet.toml", create=True)).release()
    (project / "discreet.toml").write_text(SCHEMA.replace("visits", "vists"))
    with pytest.raises(InputError, match=r"got 'vists'\. Did you mean `visits`"):
        open_curator("visits", "discreet.toml")
    (project / "discreet.toml").write_text(SCHEMA.replace("visits", "births"))
    with pytest.raises(InputError, match="discreet ledger open"):
        open_curator("visits", "discreet.toml")
    assert left(open_curator("visits", "discreet.toml", create=True)) == 100


def test_a_server_that_is_refused_leaves_nothing_on_the_ledger(project):
    pytest.importorskip("fastapi")
    from discreet.apps.server.settings import Served, Settings
    from discreet.apps.server.tokens import Tokens

    ledger = Ledger.open(project / "books.db", create=True)
    Tokens("tokens.db").create("ann", "analyst", "nowhere")
    serving = Settings((Served("visits", "discreet.toml", "books.db"),), "tokens.db", "jobs.db")
    with pytest.raises(InputError, match="nowhere"):
        serving.service()
    assert ledger.head().sequence == 1


def test_a_server_does_not_start_without_a_guard(project):
    pytest.importorskip("fastapi")
    from discreet.apps.server.settings import Served, Settings

    ask(open_curator("visits", "discreet.toml", create=True)).release()
    shutil.rmtree(project / "state")
    with pytest.raises(LedgerError, match="guard"):
        Settings((Served("visits", "discreet.toml"),), "tokens.db", "jobs.db").service()


def test_the_schema_is_that_of_the_datas_name_else_the_one_here_else_the_one_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "far").mkdir()
    beside, here = Path("far/discreet.toml"), Path("discreet.toml")
    here.unlink()
    assert schema_path("far/people.csv", None) == here
    beside.write_text("")
    assert schema_path("far/people.csv", None) == beside
    here.write_text("")
    assert schema_path("far/people.csv", None) == here
    Path("far/people.toml").write_text("")
    assert schema_path("far/people.csv", None) == Path("far/people.toml")
    assert schema_path("far/people.csv", "other.toml") == Path("other.toml")
    assert schema_path("far/*.csv", None) == here
    assert schema_path("postgresql://host/db?table=visits", None) == here
    Path("visits.toml").write_text("")
    assert schema_path("postgresql://host/db?table=visits", None) == Path("visits.toml")
    assert schema_path("", None) == here


def test_what_is_brought_never_lies_where_tables_are_read(tmp_path):
    """A folder of data is read with all that is under it: an upload there would be counted."""
    (tmp_path / "data").mkdir()
    inside, beside = tmp_path / "data" / "discreet.toml", tmp_path / "discreet.toml"
    assert state_folder(inside, [str(tmp_path / "data")]) is None
    assert state_folder(inside, ["postgresql://host/city", str(tmp_path / "data")]) is None
    assert state_folder(beside, [str(tmp_path / "data")]) == tmp_path / ".discreet"
