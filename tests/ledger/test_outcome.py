"""Records were lost: whatever was open then ends, for its answers may have been seen."""

import shutil

import pytest

import discreet
from discreet import Budget, Integer, Pure, Schema, Unit, bins, count
from discreet.errors import InputError, RunError
from discreet.ledger import cover as cover_module
from discreet.ledger import custody as custody_module
from discreet.ledger import outcome as outcome_module
from discreet.ledger.door import release
from discreet.ledger.ledger import Ledger
from discreet.ledger.outcome import SEEN, last_acknowledged, open_releases
from discreet.ledger.record import Record
from jobs import Data, Job


@pytest.fixture
def folder(tmp_path):
    """The folder of the ledger, and of nothing else."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def copy_of(folder, name="backup"):
    """One backup of everything beside the ledger, the private files of streams among it."""
    return shutil.copytree(folder, folder.with_name(name))


def put_back(folder, backup):
    shutil.rmtree(folder)
    shutil.copytree(backup, folder)
    return Ledger.open(folder / "books.db")


def restored(folder, backup, **how):
    """The ledger of the backup, acknowledged by a custodian."""
    ledger = put_back(folder, backup)
    ledger.acknowledge(who="rosa", why="restored from the night before", **how)
    return ledger


class Backed(Job):
    """A job during whose run the nightly backup is made."""

    folder = None

    def measure(self, data, bits):
        if not self.folder.with_name("backup").exists():
            copy_of(self.folder)
        return super().measure(data, bits)


def ask(ledger, folder, id_="q"):
    plan = type("Backed", (Backed,), {"folder": folder})()
    return release(plan, Data(), ledger, who="ann", release=id_).result


@pytest.fixture
def ledger(folder):
    ledger = Ledger.open(folder / "books.db", create=True)
    ledger.create("visits", Budget(epsilon=5), who="ann")
    return ledger


def test_a_release_whose_answer_is_among_what_was_lost_is_not_drawn_again(ledger, folder):
    """The backup falls between charge and answer: to the books, nobody has seen one."""
    ask(ledger, folder)
    old = put_back(folder, folder.with_name("backup"))
    with old._store.read() as reader:
        assert [*open_releases(reader)] == [("visits", "q")]
    added = old.acknowledge(who="rosa", why="restored")
    assert [record.kind for record in added] == ["failure", "note"]
    assert old.find("q").failure == SEEN
    with pytest.raises(RunError, match="may have been seen"):
        ask(old, folder)
    assert old.remaining("visits").amount == 4
    ask(old, folder, "another")
    assert old.verify().ok


def test_what_was_measured_before_records_were_lost_is_published_from_there(ledger, folder):
    """The backup falls between measurement and answer: nothing can be drawn for it again, so it stays open."""

    class Late(Job):
        def publish(self, measured):
            if not folder.with_name("backup").exists():
                copy_of(folder)
            return {"half": measured["count"] // 2}

    seen = release(Late(), Data(), ledger, who="ann", release="q").result
    old, data = restored(folder, folder.with_name("backup")), Data()
    assert release(Late(), data, old, who="ann", release="q").result == seen
    assert data.opened == 0
    assert old.verify().problems == ()


def test_a_lost_guard_closes_what_is_open_too(ledger, folder, state):
    ask(ledger, folder)
    shutil.rmtree(state)
    old = restored(folder, folder.with_name("backup"), write_off="nothing")
    with pytest.raises(RunError, match="may have been seen"):
        ask(old, folder)
    assert old.verify().ok


def test_what_is_answered_stays_and_what_comes_later_may_crash_and_run_again(ledger, folder):
    first = release(Job(), Data(), ledger, who="ann", release="done").result
    ask(ledger, folder)
    old = restored(folder, folder.with_name("backup"))
    assert release(Job(), Data(), old, who="ann", release="done").result == first
    old.spend("visits", Pure(1), release="later", who="ann", digest="sha256:1")  # and a crash
    assert "count" in release(Job(), Data(), old, who="ann", release="later").result
    assert old.verify().ok


def test_an_acknowledgement_of_0_1_closed_nothing_and_what_was_open_then_has_failed(ledger):
    """Its record has no hash of the totals, and is not held against the books."""
    ledger.spend("visits", Pure(1), release="q", who="ann", digest="sha256:1")
    detail = {"acknowledged": "restored", "anchor": ""}
    with ledger._write() as writer:
        writer.append(Record.after(writer.head(), kind="note", dataset="", who="rosa", why="", detail=detail))
    assert ledger.verify().ok
    with pytest.raises(RunError, match="may have been seen"):
        release(Job(), Data(), ledger, who="ann", release="q")


def test_verify_sees_what_an_acknowledgement_left_open(ledger, folder, monkeypatch):
    """The planted bug, which is what the ledger did before: the same charge pays for a second draw."""
    first = ask(ledger, folder)
    monkeypatch.setattr(custody_module, "open_releases", lambda _: ())
    monkeypatch.setattr(outcome_module, "last_acknowledged", lambda _: 0)
    old = restored(folder, folder.with_name("backup"))
    assert ask(old, folder) != first
    assert old.remaining("visits").amount == 4
    assert "leaves 'q' open" in "; ".join(old.verify().problems)


def stream_of(ledger, data):
    schema = Schema("v", {"m": Integer(1, 9, nullable=False)}, Unit("p", groups=1, rows=1))
    curator = discreet.open(str(data), schema, ledger=ledger, budget=Budget(epsilon=2), who="ann", create=True)
    return curator.table().agg(n=count()).stream(bins("m", [*range(1, 10)])).plan(epsilon=1)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("p,m\n" + "".join(f"{i},{1 + i % 8}\n" for i in range(160)))
    return path


def test_a_stream_of_a_restored_folder_goes_no_further(folder, data):
    """One backup holds the ledger and the file of the stream, in step: every restore would draw its periods anew."""
    ledger = Ledger.open(folder / "books.db", create=True, who="c")
    stream = stream_of(ledger, data).start("s")
    published = [stream.release()["n"] for _ in range(2)]
    backup = copy_of(folder)
    stream.release()
    old = restored(folder, backup)
    offer = stream_of(old, data)
    before = old.head()
    with pytest.raises(InputError, match="paid before record"):
        offer.start("s").release()
    assert old.head() == before
    assert [offer.start("s").release(period)["n"] for period in (1, 2)] == published
    offer.start("anew").release()
    offer.start("anew").release()
    assert old.remaining("v").amount == 0
    assert old.verify().ok


def test_verify_sees_a_step_that_was_paid_before_a_loss(folder, data, monkeypatch):
    """The planted bug: a cover that outlives the loss. A period is published twice, with noise of its own each time."""
    ledger = Ledger.open(folder / "books.db", create=True, who="c")
    stream = stream_of(ledger, data).start("s")
    stream.release()
    backup = copy_of(folder)
    drawn = {tuple(stream.release()["n"])}
    monkeypatch.setattr(cover_module, "last_acknowledged", lambda _: 0)
    for _ in range(8):
        old = restored(folder, backup)
        drawn.add(tuple(stream_of(old, data).start("s").release()["n"]))
    assert len(drawn) > 1
    assert old.remaining("v").amount == 1
    assert "'s/1' was paid before record" in "; ".join(old.verify().problems)


def test_books_that_lost_nothing_have_no_acknowledgement(ledger):
    with ledger._store.read() as reader:
        assert last_acknowledged(reader) == 0
