"""The laws of a ledger store, checked for every store: SQLite and a real PostgreSQL.

A new store passes by being added to the `place` fixture (tests/servers.py).
"""

import random
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from fractions import Fraction

import pytest

from crowd import WORKER, run_crowd
from discreet.core.loss import Pure
from discreet.errors import BudgetError, BusyError, LedgerError
from discreet.ledger.budget import Budget, Charge
from discreet.ledger.ledger import Ledger
from discreet.ledger.opening import store_at
from discreet.ledger.record import GENESIS, Record
from discreet.ledger.sqlite import SqliteStore


@pytest.fixture
def store(place):
    return store_at(place, None, create=True)[0]


def append(writer, **values):
    record = Record.after(writer.head(), **({"kind": "note", "dataset": "visits", "who": "ann"} | values))
    writer.append(record)
    return record


def test_a_new_store_is_empty(store):
    with store.read() as reader:
        assert reader.head() == GENESIS
        assert list(reader.rows()) == []
        assert reader.totals() == {}
        assert reader.total("visits", "questions") == Charge(Fraction(0))
        assert reader.latest("visits", "open") is None


def test_what_is_written_is_read_back(store, place):
    with store.write() as writer:
        one = append(writer, kind="open", detail={"x": [1, "é\u0000", None]})
        two = append(writer, dataset="other", release="r1", why="quote ' and % and ?")
        writer.set_total("visits", "a", Charge(Fraction(1, 3), Fraction(1, 10**9)))
        writer.set_total("visits", "a", Charge(Fraction(2, 3), Fraction(1, 10**9)))
    for each in (store, store_at(place, None, create=False)[0]):
        with each.read() as reader:
            assert reader.head() == two.head
            assert [Record.from_body(row.body) for row in reader.rows()] == [one, two]
            assert [row.sequence for row in reader.rows("other")] == [2]
            assert reader.row(1).hash == one.hash
            assert reader.row(3) is None
            assert reader.latest("visits", "open") == one
            assert reader.of_release("r1") == [two]
            assert reader.totals() == {("visits", "a"): Charge(Fraction(2, 3), Fraction(1, 10**9))}


def test_long_books_are_read_in_order(store):
    with store.write() as writer:
        for index in range(1201):
            append(writer, release=f"r{index}")
    with store.read() as reader:
        assert [row.sequence for row in reader.rows()] == list(range(1, 1202))
        assert [row.sequence for row in reader.rows(after=3, limit=600)] == list(range(4, 604))
        assert [row.sequence for row in reader.rows(after=1200)] == [1201]
        assert list(reader.rows(after=1201)) == list(reader.rows(limit=0)) == []


def test_a_transaction_that_fails_leaves_nothing(store):
    def fail():
        with store.write() as writer:
            append(writer)
            writer.set_total("visits", "a", Charge(Fraction(1)))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with store.read() as reader:
        assert reader.head() == GENESIS
        assert list(reader.rows()) == []
        assert reader.totals() == {}
    with store.write() as writer:
        append(writer)


def test_a_reader_sees_one_state(store):
    with store.read() as reader:
        before = reader.head()
        with store.write() as writer:
            append(writer)
        assert reader.head() == before
        assert list(reader.rows()) == []
    with store.read() as reader:
        assert reader.head().sequence == 1


def test_writers_are_alone(store):
    inside, most = 0, 0

    def work():
        nonlocal inside, most
        for _ in range(5):
            with store.write() as writer:
                inside += 1
                most = max(most, inside)
                append(writer)
                time.sleep(0.001)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    with store.read() as reader:
        assert reader.head().sequence == 40


def test_the_records_cannot_be_changed_by_accident(store):
    with store.write() as writer:
        append(writer)
    for statement in ("UPDATE discreet_record SET body = ''", "DELETE FROM discreet_record"):
        with pytest.raises(LedgerError, match="append-only"), store.write() as writer:
            writer._execute(statement, ())


@pytest.mark.parametrize("kinds", [("charge",) * 2, ("measurement",) * 2, ("answer",) * 2, ("answer", "failure")])
def test_the_tables_themselves_refuse_a_second_charge_measurement_or_outcome(store, kinds):
    def twice():
        with store.write() as writer:
            for kind in kinds:
                append(writer, kind=kind, release="r1")

    with pytest.raises(LedgerError):
        twice()


def test_a_number_is_used_once(store):
    with store.write() as writer:
        one = append(writer)
    with pytest.raises(LedgerError), store.write() as writer:
        writer.append(one)


def test_running_is_exclusive_for_one_release_and_free_for_others(store):
    order = []

    def second():
        with store.running("r1"):
            order.append("second")

    thread = threading.Thread(target=second)
    with store.running("r1"):
        with pytest.raises(BusyError, match="'r1' is being run"), store.running("r1", wait=False):
            pass
        thread.start()
        with store.running("r2"):
            time.sleep(0.1)
            order.append("first")
    thread.join()
    assert order == ["first", "second"]
    with store.running("r1", wait=False):
        pass


HOLDER = """
import sys, time
from discreet.ledger.ledger import Ledger
from discreet.ledger.opening import store_at
with Ledger.open(sys.argv[1], create=True).running("r1"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_running_is_freed_when_its_holder_is_killed(store, place):
    with subprocess.Popen([sys.executable, "-c", HOLDER, place], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        holder.kill()
        with store.running("r1"):
            pass


def test_a_store_survives_losing_its_connections(store):
    store.close()
    with store.write() as writer:
        append(writer)


def race(ledger, *, threads, each, price=1):
    """Many threads spend as fast as they can; what they were told is returned."""
    acknowledged, problems = [], []

    def work(name):
        for index in range(each):
            try:
                charged = ledger.spend("visits", Pure(price), release=f"{name}-{index}", who="ann", digest="d")
                acknowledged.append(charged.release)
            except BudgetError:
                pass
            except Exception as error:
                problems.append(error)

    crew = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(threads)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    assert not problems
    return acknowledged


def exact(ledger, acknowledged, cap):
    """Whether exactly `cap` charges of one were made, all of them acknowledged or on the books, and the books agree."""
    charged = {record.release for record in ledger.records() if record.kind == "charge"}
    return len(charged) == cap and set(acknowledged) <= charged and ledger.verify().ok


def test_sixteen_threads_spend_exactly_the_cap(place):
    ledger = Ledger.open(place, create=True)
    ledger.create("visits", Budget(epsilon=100), who="ann")
    acknowledged = race(ledger, threads=16, each=10)
    assert len(acknowledged) == 100
    assert exact(ledger, acknowledged, 100)
    assert ledger.remaining("visits") == Charge(Fraction(0))


class LooseStore(SqliteStore):
    """The mutant: it looks at what is spent before it is alone."""

    @contextmanager
    def write(self):
        with super().read() as reader:
            stale = reader.totals()
        time.sleep(random.random() / 100)
        with super().write() as writer:
            writer.total = lambda dataset, allotment: stale.get((dataset, allotment), Charge(Fraction(0)))
            yield writer


def test_a_store_that_checks_outside_the_transaction_is_caught(tmp_path):
    ledger = Ledger(LooseStore(tmp_path / "discreet.db"))
    ledger.create("visits", Budget(epsilon=20), who="ann")
    acknowledged = race(ledger, threads=16, each=4)
    assert not exact(ledger, acknowledged, 20)
    assert not ledger.verify().ok


def test_sixteen_processes_some_of_them_killed_spend_exactly_the_cap(place):
    ledger = Ledger.open(place, create=True)
    ledger.create("visits", Budget(epsilon=200), who="ann")
    crowd = run_crowd(place, processes=16, each=25, kill=6)  # ten survivors could spend 250
    assert crowd.problems == []
    assert crowd.killed == 6
    assert exact(ledger, crowd.acknowledged, 200)
    # A charge that nobody was told of belongs to a process that died while it was being told.
    charged = {record.release for record in ledger.records() if record.kind == "charge"}
    assert len(charged - set(crowd.acknowledged)) <= crowd.killed


def test_a_ledger_can_be_used_on_both_sides_of_a_fork(place):
    ledger = Ledger.open(place, create=True)
    ledger.create("visits", Budget(epsilon=1000), who="ann")
    command = [sys.executable, WORKER, "fork", place, "f", "6"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, input="go\n")
    assert run.returncode == 0, run.stderr
    assert ledger.remaining("visits").amount == 1000 - 7 * 6
    assert ledger.verify().ok
