"""A period of a stream: counted once, drawn once, published from what was drawn, and nobody counts twice."""

from uuid import UUID

import numpy as np
import pyarrow
import pytest
from stream_table import COLUMNS, MONTHS, FixedBits, opened, planned, reference, rows_of, steps, table

import discreet
from discreet import Budget, Schema, Unit, count, people, total
from discreet.data.source import source_of
from discreet.errors import LedgerError
from discreet.ledger.ledger import Ledger
from discreet.ledger.stream_state import StreamState
from discreet.noise.bits import SystemBits
from discreet.query.stream_step import StreamStep


def amended(seed, person):
    """Twelve tables, one when each month is released. One person's rows are amended, moved, doubled, taken away."""
    rng = np.random.default_rng(seed)
    others = rows_of(60, seed)
    tables = []
    for month in range(1, 13):
        moods = [
            [],
            [month],  # only their last visit is in the table
            list(range(1, month + 1)),
            [int(rng.integers(1, 13)) for _ in range(4)],
        ]
        days = moods[int(rng.integers(0, 4))]
        mine = [
            {"p": person, "day": f"2024-{day:02d}-09", "sex": sex, "pay": 10.0}
            for day in days
            for sex in rng.permutation(list("ffmm")).tolist()
        ]
        tables.append((others + mine, others))
    return tables


def moved_by(plan, tables, folder):
    """L1 and squared L2 change of all nodes of all levels, for each measure, with and without the person."""
    # The same bits for both: which groups of the others count must not differ.
    pair = [steps(plan, [both[i] for both in tables], folder / str(i), FixedBits()) for i in (0, 1)]
    change = (pair[0] - pair[1]).astype(float)
    levels = plan.trees[0].levels
    l1, l2 = np.zeros(len(plan.measures)), np.zeros(len(plan.measures))
    for level in range(levels):
        width = 1 << level
        for last in range(width, len(change) + 1, width):
            node = change[last - width : last].sum(axis=0)
            l1 += np.abs(node).sum(axis=1)
            l2 += (node**2).sum(axis=1)
    return l1, l2


@pytest.mark.parametrize("unit", [Unit(), Unit("p", groups=2, rows=2), Unit("p", groups=2, rows=1)], ids=str)
@pytest.mark.parametrize("limit", [1, 3])
def test_the_engine_counts_first_periods_only(unit, limit, tmp_path):
    rows = rows_of(200)
    plan = planned(unit, {"n": count()}, limit)
    assert (steps(plan, [rows] * 12, tmp_path)[:, 0] == reference([rows] * 12, plan)).all()


@pytest.mark.parametrize(("limit", "groups"), [(1, 1), (2, 2)])
@pytest.mark.parametrize("forgetful", [False, True])
def test_one_person_moves_all_nodes_within_the_bound_though_the_table_changes(
    limit, groups, forgetful, tmp_path, monkeypatch
):
    """Every node of every level, with and without one person: L1 and squared L2 stay within what is charged.

    A stream that forgets who was counted, as 0.1 did, must be seen to break it.
    """
    if forgetful:
        monkeypatch.setattr(StreamState, "spent", lambda *_: set())
    plan = planned(Unit("p", groups=groups, rows=2), {"n": count(), "s": total("pay")}, limit)
    tree = plan.trees[0]
    each = np.array([2, 2 * plan.measures[1].highest])
    for i in (0, 1):
        (tmp_path / str(i)).mkdir()
    l1, l2 = moved_by(plan, amended(0, 999), tmp_path)
    assert (l1 > 0).all()
    within = (l1 <= tree.levels * limit * groups * each).all() and (l2 <= groups * each**2 * tree.l2_squared).all()
    assert within != forgetful


@pytest.mark.parametrize("unit", [Unit(), Unit("p", groups=2, rows=2)], ids=str)
def test_days_outside_the_declared_bounds_are_in_no_period(unit, tmp_path):
    """They were counted in the first and the last, as days were moved to the nearer bound before they were compared."""
    inside = [{"p": i, "day": f"2024-{month:02d}-05", "sex": "f", "pay": 1.0} for i, month in enumerate((1, 1, 7, 12))]
    days = ("1899-12-31", "2023-12-31", "2025-01-01", "9999-12-31", None, "no day")
    outside = [{"p": 100 + i, "day": day, "sex": "f", "pay": 1.0} for i, day in enumerate(days)]
    plan = planned(unit, {"n": count()}, limit=12)
    found = steps(plan, [inside + outside] * 12, tmp_path)[:, 0, 0]
    assert found.tolist() == [2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    assert "Rows whose day is outside 2024-01-01..2024-12-31, or missing, are in no group." in str(plan.notes)


def test_a_person_whose_row_is_moved_counts_once(tmp_path):
    """The attack on 0.1: a table of last visits, where every period saw the same person again."""
    books = Ledger.open(tmp_path / "l.db", create=True)
    schema = Schema("t", COLUMNS, Unit("p", groups=1, rows=1))
    found = []
    for month in range(1, 5):
        day = f"2024-{month:02d}-05"
        last_visits = table([{"p": p, "day": day, "sex": "f", "pay": 1.0} for p in range(50)])
        desk = discreet.open(last_visits, schema, ledger=books, budget=Budget(epsilon=10**5), who="t", create=True)
        answer = desk.table().agg(n=people()).stream(MONTHS).plan(epsilon=10**5).start("year").release()
        found.append((answer["n"][0], round(answer["n_total"][0])))
    assert found == [(50, 50), (0, 50), (0, 50), (0, 50)]


@pytest.fixture
def curator(tmp_path):
    return opened(tmp_path)


def test_a_lost_or_old_state_is_refused_and_never_begun_again(curator, tmp_path):
    stream = curator.table().agg(n=count()).stream(MONTHS).plan(epsilon=1).start("year")
    stream.release()
    (file,) = (tmp_path / "l.db.private").iterdir()
    old = file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    stream.release()
    before = curator.ledger.head()
    file.write_bytes(old)
    with pytest.raises(LedgerError, match="holds 1 periods"):
        stream.release()
    file.unlink()
    with pytest.raises(LedgerError, match="holds 0 periods"):
        stream.release()
    assert curator.ledger.head() == before
    assert not file.exists()
    assert stream.release(2)["n"]  # what is published is read again


def test_a_crash_after_the_draw_publishes_what_was_drawn(curator, monkeypatch):
    """The state is on disk and the answer is not: the same noise comes out, and nobody counts twice."""
    stream = curator.table().agg(n=people()).stream(MONTHS).plan(epsilon=10).start("year")
    with monkeypatch.context() as crash:

        def die(*_, **__):
            raise KeyboardInterrupt

        crash.setattr(Ledger, "measurement", die)
        with pytest.raises(KeyboardInterrupt):
            stream.release()
    drawn = stream._step(1).state.result(1)
    assert stream.release()["n"] == drawn["nodes"][0][0]
    assert curator.ledger.find("year/1").notes == 0


def test_ids_stored_as_another_type_are_refused(tmp_path):
    plan = planned(Unit("p", groups=1, rows=1), {"n": people()})
    rows = rows_of(30)
    steps(plan, [rows], tmp_path)
    texts = [row | {"p": f"{row['p']:03d}"} for row in rows]
    with source_of(table(texts)).open() as connection, pytest.raises(LedgerError, match="stored as"):
        StreamStep(plan, 2, "s", tmp_path).measure(connection, SystemBits())


@pytest.mark.parametrize("apart", [True, False])
def test_ids_that_become_uuids_are_refused(tmp_path, monkeypatch, apart):
    """As a uuid the same id is written in lower case. Taken for text (the planted bug), everyone counts again."""
    import duckdb

    ids = [str(UUID(int=person + 10**37)).upper() for person in range(30)]
    file, schema = tmp_path / "t.duckdb", Schema("t", COLUMNS, Unit("p", groups=1, rows=1))
    books = Ledger.open(tmp_path / "l.db", create=True)
    if not apart:
        monkeypatch.setattr(StreamStep, "ids", lambda *_: "text")
    found = []
    for month, kind in enumerate(("varchar", "varchar", "uuid"), 1):
        file.unlink(missing_ok=True)
        with duckdb.connect(str(file)) as connection:
            connection.execute(f"CREATE TABLE t (p {kind}, day DATE, sex VARCHAR, pay DOUBLE)")
            connection.executemany("INSERT INTO t VALUES (?, ?, 'f', 1)", [(p, f"2024-0{month}-05") for p in ids])
        desk = discreet.open(
            str(file), schema, table="t", ledger=books, budget=Budget(epsilon=10**5), who="t", create=True
        )
        stream = desk.table().agg(n=people()).stream(MONTHS).plan(epsilon=10**5).start("year")
        if kind == "uuid" and apart:
            before = books.head()
            with pytest.raises(LedgerError, match="stored as text, and they are stored as uuid now"):
                stream.release()
            assert books.head() == before
        else:
            found += stream.release()["n"]
    assert found == ([30, 0] if apart else [30, 0, 30])


def test_a_whole_number_stored_as_a_float_is_the_same_person(tmp_path):
    """A column of whole numbers becomes one of floats where one is missing: 5.0 is 5, and -0.0 is 0."""
    plan = planned(Unit("p", groups=1, rows=1), {"n": people()}, keys=())
    months = ["2024-01-05", "2024-02-05"]
    first = [{"p": p, "day": months[0], "sex": "f", "pay": 1.0} for p in (0, 5, 6)]
    again = [{"p": p, "day": months[1], "sex": "f", "pay": 1.0} for p in (-0.0, 5.0, 7.0)]
    assert steps(plan, [first, again], tmp_path)[:, 0, 0].tolist() == [3, 1]


def test_a_float_that_is_not_whole_is_nobody_in_a_stream(tmp_path):
    """Engines write such numbers differently, and some not in full: two people could have one name."""
    plan = planned(Unit("p", groups=1, rows=1), {"n": people()}, keys=())
    ids = [1.5, 1e300, float("nan"), float("inf"), 2.0**53, 3.0]
    rows = [{"p": p, "day": "2024-01-05", "sex": "f", "pay": 1.0} for p in ids]
    assert steps(plan, [rows], tmp_path).ravel().tolist() == [1]


def test_a_float_of_32_bits_is_a_person_below_2_to_the_24(tmp_path):
    """From there on it stands for several ids, and somebody stored as a whole number before was counted once more."""
    plan = planned(Unit("p", groups=1, rows=1), {"n": people()}, keys=())
    ids = [5, 2**24 - 1, 2**24 + 1, 2**24 + 2]
    tables = [
        pyarrow.table({"p": np.array(ids, dtype=kind), "day": [day] * 4, "sex": ["f"] * 4, "pay": [1.0] * 4})
        for kind, day in ((np.int64, "2024-01-05"), (np.float32, "2024-02-05"))
    ]
    assert steps(plan, tables, tmp_path).ravel().tolist() == [4, 0]


def test_the_state_holds_no_id(tmp_path):
    plan = planned(Unit("p", groups=1, rows=1), {"n": people()})
    rows = [{"p": f"canary-{i}", "day": "2024-01-03", "sex": "f", "pay": 1.0} for i in range(9)]
    steps(plan, [rows], tmp_path)
    (file,) = tmp_path.iterdir()
    assert b"canary" not in file.read_bytes()


def test_two_spellings_of_one_person_are_one_person(tmp_path):
    """The engine takes 0.0 and -0.0 for one person: a stream must not count them as two."""
    rows = [{"p": p, "day": day, "sex": "f", "pay": 1.0} for p in (0.0, -0.0) for day in ("2024-01-03", "2024-02-03")]
    plan = planned(Unit("p", groups=1, rows=1), {"n": people()}, keys=())
    assert steps(plan, [rows, rows], tmp_path).ravel().tolist() == [1, 0]
