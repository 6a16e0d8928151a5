"""What watches a ledger: no guard stands in for another, and a lost ledger is remembered wherever it was watched."""

import os
import shutil
import threading

import pytest

from discreet.core.loss import Pure
from discreet.errors import LedgerError
from discreet.ledger import anchor as anchor_module
from discreet.ledger import discrepancy as discrepancy_module
from discreet.ledger import guard as guard_module
from discreet.ledger.budget import Budget
from discreet.ledger.guard import Guard, identity_of
from discreet.ledger.ledger import Ledger
from old import old_ledger


@pytest.fixture
def witness(witness, monkeypatch):
    """A guard that several machines share, named."""
    monkeypatch.setenv("DISCREET_ANCHOR", witness)
    return witness


def spend(ledger, release, epsilon=1, dataset="visits"):
    return ledger.spend(dataset, Pure(epsilon), release=release, who="ann", digest="d")


def begin(folder):
    folder.mkdir(exist_ok=True)
    ledger = Ledger.open(folder / "books.db", create=True)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    spend(ledger, "r1")
    ledger.close()
    return ledger


def carry(folder, target):
    """Put the files of a folder in the place of those of another."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target)


# A lost ledger is not begun anew


@pytest.mark.parametrize("machine", ["the same machine", "another machine"])
def test_a_lost_ledger_is_not_begun_anew_under_a_named_guard(tmp_path, witness, machine, monkeypatch):
    begin(tmp_path / "books")
    if machine == "another machine":
        monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "second"))
    shutil.rmtree(tmp_path / "books")
    (tmp_path / "books").mkdir()
    with pytest.raises(LedgerError, match=r"3 records was stored at .* and is gone"):
        Ledger.open(tmp_path / "books" / "books.db", create=True)
    anew = Ledger.open(tmp_path / "books" / "books.db", create=True, anew=True)
    anew.create("visits", Budget(epsilon=10), who="ann")
    spend(anew, "r1")
    assert anew.verify().ok


def test_a_guard_that_forgets_the_place_would_be_seen(tmp_path, monkeypatch):
    """The planted bug: no memory of the place where a guard is named."""
    monkeypatch.setenv("DISCREET_ANCHOR", f"sqlite:///{tmp_path}/witness.db")
    monkeypatch.setattr(Guard, "former", lambda self: None)
    monkeypatch.setattr(Guard, "_registers", lambda self: [])
    with pytest.raises(pytest.fail.Exception):
        test_a_lost_ledger_is_not_begun_anew_under_a_named_guard(tmp_path, "", "the same machine", monkeypatch)


# The places of databases


def emptied(address):
    """The database as after a mistake: every table of it is gone."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP TABLE discreet_record, discreet_head, discreet_total CASCADE")


def in_database(address):
    ledger = Ledger.open(address, create=True)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    spend(ledger, "r1")
    ledger.close()
    return ledger


def test_a_lost_ledger_of_a_database_is_not_begun_anew(state):
    from servers import fresh_schema

    address = fresh_schema()
    in_database(address)
    emptied(address)
    with pytest.raises(LedgerError, match=r"3 records was stored at postgresql://.* and is gone"):
        Ledger.open(address, create=True)
    spend_anew = Ledger.open(address, create=True, anew=True)
    spend_anew.create("visits", Budget(epsilon=10), who="ann")
    spend(spend_anew, "r1")
    assert spend_anew.verify().ok
    in_database(fresh_schema())  # another schema of the same database is another place


def test_where_a_ledger_was_lost_nothing_is_made_so_that_a_backup_goes_in(state, tmp_path):
    """Empty tables were made before the refusal: then a backup did not go in, and the books were wrecked."""
    import psycopg

    from servers import fresh_schema

    address = fresh_schema()
    in_database(address)
    emptied(address)
    with pytest.raises(LedgerError, match="Nothing was made"):
        Ledger.open(address, create=True)
    with psycopg.connect(address) as connection:
        assert connection.execute("SELECT to_regclass('discreet_head')").fetchone() == (None,)
    in_database(tmp_path / "books.db")
    (tmp_path / "books.db").unlink()
    with pytest.raises(LedgerError, match="Nothing was made"):
        Ledger.open(tmp_path / "books.db", create=True)
    assert not (tmp_path / "books.db").exists()


def test_another_ledger_in_the_place_of_one_in_a_database_is_noticed(state):
    import psycopg

    from servers import fresh_schema

    address, other = fresh_schema(), fresh_schema()
    in_database(address)
    in_database(other)
    emptied(address)
    here, there = (each.rpartition("%3D")[2] for each in (address, other))
    with psycopg.connect(address, autocommit=True) as connection:
        for table in ("discreet_record", "discreet_head", "discreet_total"):
            connection.execute(f"ALTER TABLE {there}.{table} SET SCHEMA {here}")
    with pytest.raises(LedgerError, match="another ledger"):
        spend(Ledger.open(address), "r2")


def test_what_is_remembered_of_a_database_has_no_password(state, monkeypatch):
    address = "postgresql://ann:geheim@host:5/books?options=-csearch_path%3Dx&password=geheim"
    Guard(address=address)._register("identity")
    (register,) = (state / "guards" / "places").iterdir()
    assert register.read_text() == "identity\npostgresql://host:5/books\n"
    assert Guard(address=address.replace("geheim", "neu")).former() == "identity"
    for other in (address.replace("ann", "bob"), address.replace("3Dx", "3Dy"), address.replace("/books", "/book")):
        assert Guard(address=other).former() is None


def test_a_guard_that_forgets_the_places_of_databases_would_be_seen(state, monkeypatch):
    """The planted bug: 0.1 and its like remembered paths only."""
    init = Guard.__init__
    monkeypatch.setattr(
        Guard, "__init__", lambda self, named=(), *, address=None, local=True: init(self, named, local=local)
    )
    with pytest.raises(pytest.fail.Exception):
        test_a_lost_ledger_of_a_database_is_not_begun_anew(state)


def test_a_lost_ledger_whose_guard_is_lost_too_is_not_begun_anew(tmp_path, state):
    begin(tmp_path / "books")
    for path in [*(state / "guards").glob("*.head"), *(tmp_path / "books").glob("books.db*")]:
        path.unlink()
    with pytest.raises(LedgerError, match="is gone"):
        Ledger.open(tmp_path / "books" / "books.db", create=True)


def test_another_ledger_in_its_place_is_noticed_under_a_named_guard(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_ANCHOR", f"sqlite:///{tmp_path}/witness.db")
    begin(tmp_path / "books")
    begin(tmp_path / "other")
    carry(tmp_path / "other", tmp_path / "books")
    with pytest.raises(LedgerError, match="another ledger"):
        spend(Ledger.open(tmp_path / "books" / "books.db"), "r2")


def test_ledgers_of_two_machines_under_one_path_do_not_meet(tmp_path, monkeypatch):
    """They share a guard; the second is begun with a word, and both go on."""
    monkeypatch.setenv("DISCREET_ANCHOR", f"sqlite:///{tmp_path}/witness.db")
    begin(tmp_path / "books")
    (tmp_path / "books").rename(tmp_path / "first")
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "second"))
    (tmp_path / "books").mkdir()
    second = Ledger.open(tmp_path / "books" / "books.db", create=True, anew=True)
    second.create("visits", Budget(epsilon=10), who="ann")
    spend(second, "r1")
    second.close()
    (tmp_path / "books").rename(tmp_path / "away")
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    (tmp_path / "first").rename(tmp_path / "books")
    spend(Ledger.open(tmp_path / "books" / "books.db"), "r2")


# No guard stands in for another


def test_a_guard_beside_the_ledger_does_not_stand_in_for_the_one_of_this_machine(tmp_path, state):
    begin(tmp_path / "books")
    (guard,) = (state / "guards").glob("*.head")
    shutil.copy(guard, tmp_path / "books" / "books.db.head")
    carry(tmp_path / "books", tmp_path / "backup")
    spend(Ledger.open(tmp_path / "books" / "books.db"), "r2", 9)
    carry(tmp_path / "backup", tmp_path / "books")
    shutil.rmtree(state)
    old = Ledger.open(tmp_path / "books" / "books.db")
    with pytest.raises(LedgerError, match=r"missing.*--write-off"):
        spend(old, "r3")
    old.acknowledge(who="carla", why="restored", write_off="everything")
    assert old.remaining("visits").amount == 0


def test_a_ledger_of_0_1_is_taken_over_once(tmp_path, state):
    ledger = old_ledger(tmp_path)
    assert ledger.discrepancy() is None
    ledger.note("q1", "seen", who="ann")
    assert ledger.discrepancy() is None
    shutil.rmtree(state)
    assert "missing" in ledger.discrepancy().problem


def test_a_guard_that_any_other_stands_in_for_would_be_seen(tmp_path, state, monkeypatch):
    """The planted bug: one that agrees is enough."""

    def any_one(reader, watch, absent):
        return None if len(absent) < len(watch.own) else "all"

    monkeypatch.setattr(discrepancy_module, "_missing", any_one)
    with pytest.raises(pytest.fail.Exception):
        test_a_guard_beside_the_ledger_does_not_stand_in_for_the_one_of_this_machine(tmp_path, state)


def test_the_guard_of_this_machine_follows_also_where_another_is_named(tmp_path, witness, monkeypatch):
    """A job that forgets the variable meets a guard that knows what was spent."""
    begin(tmp_path / "books")
    carry(tmp_path / "books", tmp_path / "backup")
    ledger = Ledger.open(tmp_path / "books" / "books.db")
    spend(ledger, "r2", 7)
    ledger.close()
    carry(tmp_path / "backup", tmp_path / "books")
    monkeypatch.delenv("DISCREET_ANCHOR")
    with pytest.raises(LedgerError, match="restored from an old copy"):
        spend(Ledger.open(tmp_path / "books" / "books.db"), "r3")


def test_a_named_guard_that_was_never_there_is_missed(tmp_path, monkeypatch):
    begin(tmp_path / "books")
    monkeypatch.setenv("DISCREET_ANCHOR", str(tmp_path / "new.head"))
    ledger = Ledger.open(tmp_path / "books" / "books.db")
    with pytest.raises(LedgerError, match=r"new\.head.*missing"):
        spend(ledger, "r2")
    ledger.acknowledge(who="carla", why="adopted", write_off="nothing")
    spend(ledger, "r2")
    assert ledger.verify().anchored


def test_a_machine_that_can_keep_no_state_is_watched_by_the_named_guard(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_ANCHOR", str(tmp_path / "named.head"))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "file" / "state"))
    ledger = begin(tmp_path / "books")
    spend(ledger, "r2")
    assert ledger.verify().anchored


def test_a_temporary_ledger_leaves_nothing_elsewhere(tmp_path, state):
    ledger = Ledger.temporary(tmp_path)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    spend(ledger, "r1")
    assert ledger.verify().anchored
    assert not [path for path in state.rglob("*") if path.is_file()] if state.exists() else True


# What is lost of two ledgers


def test_what_is_lost_of_two_ledgers_at_one_place_adds_up(tmp_path):
    """One goes on after its backup and is lost, another is begun and lost, and the backup is put back."""
    begin(tmp_path / "books")
    carry(tmp_path / "books", tmp_path / "backup")
    spend(Ledger.open(tmp_path / "books" / "books.db"), "r2", 3)
    shutil.rmtree(tmp_path / "books")
    (tmp_path / "books").mkdir()
    other = Ledger.open(tmp_path / "books" / "books.db", create=True, anew=True)
    other.create("visits", Budget(epsilon=10), who="ann")
    spend(other, "x", 5)
    other.close()
    carry(tmp_path / "backup", tmp_path / "books")
    back = Ledger.open(tmp_path / "books" / "books.db")
    back.acknowledge(who="carla", why="both count")
    assert back.remaining("visits").amount == 10 - 1 - 3 - 5
    assert back.verify().ok


def test_the_largest_loss_of_two_ledgers_would_be_seen(tmp_path, monkeypatch):
    """The planted bug: as if both guards had seen parts of one history."""
    both = discrepancy_module._both
    monkeypatch.setattr(discrepancy_module, "_both", lambda discrepancies, others: both([*discrepancies, *others], []))
    with pytest.raises(AssertionError):
        test_what_is_lost_of_two_ledgers_at_one_place_adds_up(tmp_path)


# Two copies at the same moment


def race(folder, monkeypatch):
    """Copy A commits two records and pauses before its guard follows; copy B commits one. The errors of each."""
    monkeypatch.setenv("DISCREET_ANCHOR", str(folder / "witness.head"))
    (folder / "a").mkdir()
    first = Ledger.open(folder / "a" / "books.db", create=True)
    first.create("one", Budget(epsilon=1), who="ann")
    first.close()
    shutil.copytree(folder / "a", folder / "b")
    first, second = (Ledger.open(folder / name / "books.db") for name in "ab")
    first.declare("two", Budget(epsilon=1), who="ann", new=True)
    committed, go_on, follow = threading.Event(), threading.Event(), Guard.follow

    def pause(self, store, step=None):
        if threading.current_thread().name == "first" and not committed.is_set():
            committed.set()
            go_on.wait(30)
        follow(self, store, step)

    monkeypatch.setattr(Guard, "follow", pause)
    errors = {}

    def run(name, ledger, dataset):
        try:
            spend(ledger, name, dataset=dataset)
        except LedgerError as error:
            errors[name] = str(error)

    thread = threading.Thread(target=run, args=("first", first, "two"), name="first")
    thread.start()
    committed.wait(30)
    run("second", second, "one")
    go_on.set()
    thread.join(30)
    return errors, first, second


def test_of_two_copies_that_spend_at_the_same_moment_one_is_refused(tmp_path, monkeypatch):
    errors, first, second = race(tmp_path, monkeypatch)
    assert list(errors) == ["first"]
    assert "copy of this ledger is in use" in errors["first"]
    second.answer("second", "1", who="ann")
    with pytest.raises(LedgerError, match="not the one last seen"):
        first.answer("first", "1", who="ann")
    assert first.discrepancy().lost[0][:2] == ("one", "questions")  # both histories count


def test_a_guard_that_follows_without_comparing_would_be_seen(tmp_path, monkeypatch):
    """The planted bug: what comes after the last number is appended, whoever wrote the last mark."""
    monkeypatch.setattr(anchor_module, "agrees", lambda mark, reader: True)
    errors, first, _ = race(tmp_path, monkeypatch)
    assert not errors
    assert first.remaining("one").amount == 1  # although the other copy spent it


@pytest.mark.skipif(os.name == "nt", reason="modes of files")
def test_what_a_folder_of_guards_remembers_is_for_its_owner(tmp_path, monkeypatch):
    (tmp_path / "shared").mkdir()
    monkeypatch.setenv("DISCREET_ANCHOR", str(tmp_path / "shared"))
    begin(tmp_path / "books")
    names = sorted(path.name for path in (tmp_path / "shared").glob("*.head"))
    assert [name.startswith("place-") for name in names].count(True) == 1
    for path in (tmp_path / "shared").glob("*.head"):
        assert path.stat().st_mode & 0o777 == 0o600


# What was just committed


def lines(ledger):
    with ledger._store.read() as reader:
        (anchor,) = ledger._guard.watch(identity_of(reader)).own
    return [mark.head.sequence for mark in anchor.history()]


def looks(monkeypatch):
    """How often the ledger is looked at for what an anchor lacks."""
    found, look = [], guard_module.marks_after
    monkeypatch.setattr(guard_module, "marks_after", lambda reader, last: found.append(1) or look(reader, last))
    return found


def test_an_anchor_that_ends_where_a_transaction_began_needs_no_look_at_the_ledger(tmp_path, monkeypatch):
    ledger = begin(tmp_path / "books")
    found = looks(monkeypatch)
    for number in range(2, 6):
        spend(ledger, f"r{number}")
    assert found == []
    assert lines(ledger)[-4:] == [4, 5, 6, 7]
    assert ledger.verify().ok


def test_an_anchor_that_fell_behind_takes_more_than_the_last_transaction(tmp_path, monkeypatch):
    ledger = begin(tmp_path / "books")
    with monkeypatch.context() as patch:
        patch.setattr(Guard, "follow", lambda self, store, step=None: None)  # as when the power fails
        spend(ledger, "r2")
    found = looks(monkeypatch)
    spend(ledger, "r3")
    assert len(found) == 1
    assert lines(ledger)[-3:] == [3, 4, 5]
    assert ledger.verify().ok


def test_a_guard_that_believes_every_step_would_be_seen(tmp_path, monkeypatch):
    """The planted bug: what was just committed is added, whatever the last line is."""
    lead = Guard.lead

    def hasty(anchor, store, known=list, *, step=None):
        last = anchor.last()
        lead(anchor, store, known, step=None if step is None or last is None else step._replace(begin=last.head))

    monkeypatch.setattr(Guard, "lead", staticmethod(hasty))
    with pytest.raises(AssertionError):
        test_an_anchor_that_fell_behind_takes_more_than_the_last_transaction(tmp_path, monkeypatch)
    errors, _, _ = race(tmp_path, monkeypatch)
    assert not errors  # although the other copy spent it
