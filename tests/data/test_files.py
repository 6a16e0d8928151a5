"""Files are looked up at each reading, and a stored release is returned for the data it was made from only."""

import json
import os

import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest

from discreet.core.version import DataVersion
from discreet.curator import open_curator
from discreet.data.column import Category, Integer
from discreet.data.files import Files
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.query.aggregate import count

SCHEMA = Schema("visits", {"age": Integer(0, 120, nullable=False), "sex": Category(["f", "m"], nullable=False)})
EXACT = 100  # at this epsilon noise of a count is zero but once in 10^40


def month(folder, name, rows):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("age,sex\n" + "30,f\n" * rows)


def curator_of(place, tmp_path, **more):
    more.setdefault("budget", Budget(10_000))
    return open_curator(place, SCHEMA, ledger=Ledger.open(tmp_path / "books.db", create=True), **more, create=True)


def asked(curator, release=None):
    return curator.table().agg(n=count()).plan(epsilon=EXACT).release(release=release)


def spent(curator):
    return curator.standing()[0].spent.amount


@pytest.mark.parametrize("place", ["visits", "visits/*.csv"])
def test_the_file_of_the_next_month_is_counted(tmp_path, place):
    folder = tmp_path / "visits"
    month(folder, "2024-01.csv", 3)
    curator = curator_of(str(tmp_path / place), tmp_path)
    assert asked(curator)["n"] == [3]
    month(folder, "2024-02.csv", 4)
    assert asked(curator)["n"] == [7]  # it was 3, and charged for
    (folder / "2024-01.csv").unlink()
    assert asked(curator)["n"] == [4]


def test_a_name_is_never_taken_for_a_pattern(tmp_path):
    """In 0.1 `data[1].csv`, as browsers name a second download, answered from `data1.csv`."""
    month(tmp_path, "data[1].csv", 3)
    month(tmp_path, "data1.csv", 100)
    assert asked(curator_of(tmp_path / "data[1].csv", tmp_path))["n"] == [3]
    month(tmp_path / "d[1]", "a.csv", 7)
    month(tmp_path / "d1", "a.csv", 900)
    assert asked(curator_of(tmp_path / "d[1]" / "a.csv", tmp_path))["n"] == [7]
    for number, name in enumerate(["x*.csv", "x?.csv", "x[a].csv", "xa.csv", "xb.csv"]):
        month(tmp_path / "odd", name, 10**number)
    assert asked(curator_of(tmp_path / "odd", tmp_path))["n"] == [11_111]  # it was more, by any factor


def test_a_name_that_no_pattern_stands_for_is_refused(tmp_path):
    month(tmp_path, "a\\*.csv", 3)
    with pytest.raises(InputError, match="backslash"):
        curator_of(tmp_path / "a\\*.csv", tmp_path)


def test_a_path_with_dots_is_the_file_that_the_system_reads(tmp_path, monkeypatch):
    """Through a link `..` is the folder above its target, not the one that holds the link."""
    month(tmp_path / "far", "visits.csv", 3)
    (tmp_path / "far" / "inner").mkdir()
    month(tmp_path, "visits.csv", 100)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "inner")
    assert asked(curator_of(str(tmp_path / "link" / ".." / "visits.csv"), tmp_path))["n"] == [3]
    month(tmp_path / "~", "visits.csv", 8)
    monkeypatch.chdir(tmp_path)
    assert asked(curator_of("~/visits.csv", tmp_path))["n"] == [8]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_folder_named_like_a_file_is_none(tmp_path, ending):
    """In 0.1 every row in `visits.parquet/`, as Spark and Polars write it, counted twice."""
    folder = tmp_path / "data" / f"visits.{ending}"
    folder.mkdir(parents=True)
    table = pyarrow.table({"age": [30] * 5, "sex": ["f"] * 5})
    if ending == "csv":
        pyarrow.csv.write_csv(table, folder / "part-0.csv")
    else:
        pyarrow.parquet.write_table(table, folder / "part-0.parquet")
    curator = curator_of(tmp_path / "data", tmp_path)
    assert asked(curator)["n"] == [5]
    assert [name for name, _, _ in curator.local.source.place.stamps()] == [f"visits.{ending}/part-0.{ending}"]


@pytest.mark.parametrize("place", ["visits", "visits/*.csv"])
def test_a_file_with_several_names_counts_once(tmp_path, place):
    folder = tmp_path / "visits"
    month(folder, "2024-01.csv", 3)
    (folder / "latest.csv").symlink_to("2024-01.csv")
    (folder / "copy.csv").hardlink_to(folder / "2024-01.csv")
    assert asked(curator_of(str(tmp_path / place), tmp_path))["n"] == [3]


def test_a_folder_that_became_something_else_is_refused_before_anything_is_spent(tmp_path):
    folder = tmp_path / "visits"
    month(folder, "2024-01.csv", 3)
    curator = curator_of(folder, tmp_path)
    month(folder, "2024-02.parquet", 1)
    with pytest.raises(InputError, match="csv files only"):
        asked(curator)
    (folder / "2024-02.parquet").unlink()
    (folder / "2024-02.csv").write_text("sex,age\nf,30\n")
    with pytest.raises(InputError, match="same header line"):
        asked(curator)
    for file in folder.iterdir():
        file.unlink()
    with pytest.raises(InputError, match="nothing is there now"):
        asked(curator)
    assert spent(curator) == 0


def test_a_stored_release_is_not_returned_for_other_data(tmp_path):
    month(tmp_path, "y2023.csv", 3)
    month(tmp_path, "y2024.csv", 5)
    old, new = (curator_of(tmp_path / f"y{year}.csv", tmp_path) for year in (2023, 2024))
    first = asked(old, "yearly")
    before = spent(old)
    with pytest.raises(InputError, match=rf"paid for data version {first.data}, and the data is now version files"):
        asked(new, "yearly")
    assert spent(old) == before
    assert asked(old, "yearly")["n"] == [3]
    assert new.release("yearly").data == first.data  # read by its id alone, and it says what it was made from
    assert asked(new, "yearly-2024")["n"] == [5]


def test_a_file_that_was_written_again_is_other_data_and_one_that_was_moved_is_not(tmp_path):
    month(tmp_path / "a", "visits.csv", 3)
    asked(curator_of(tmp_path / "a", tmp_path), "r")
    (tmp_path / "a").rename(tmp_path / "b")
    moved = curator_of(tmp_path / "b", tmp_path)
    assert asked(moved, "r").replayed
    os.utime(tmp_path / "b" / "visits.csv", ns=(1, 1))
    with pytest.raises(InputError, match="count as changed, unless a version is declared"):
        asked(moved, "r")


def test_a_declared_version_is_what_is_compared(tmp_path):
    month(tmp_path, "visits.csv", 3)
    january = curator_of(tmp_path / "visits.csv", tmp_path, version="2024-01")
    assert asked(january, "r").data == "2024-01"
    os.utime(tmp_path / "visits.csv", ns=(1, 1))
    assert asked(january, "r").replayed
    with pytest.raises(InputError, match="data version 2024-01, and the data is now version 2024-02"):
        asked(curator_of(tmp_path / "visits.csv", tmp_path, version="2024-02"), "r")
    body = {**SCHEMA.to_dict(), "dataset": {"name": "visits", "version": "2024-03"}}
    assert (
        asked(open_curator(tmp_path / "visits.csv", body, ledger=tmp_path / "books.db", create=True), "s").data
        == "2024-03"
    )
    record = january.ledger.find("r").charged
    assert record.detail["data"] == {"declared": "2024-01"}  # and nothing of the files


def test_what_is_on_record_of_files_tells_neither_names_nor_sizes(tmp_path):
    month(tmp_path, "patient-smith.csv", 3)
    curator = curator_of(tmp_path / "patient-smith.csv", tmp_path)
    release = asked(curator, "r")
    text = json.dumps([record.to_json() for record in curator.ledger.records()]) + release.to_json()
    assert "smith" not in text
    key = Ledger.open(tmp_path / "elsewhere.db", create=True)  # another ledger has another secret
    assert key.version_of(curator.local.source) != curator.ledger.version_of(curator.local.source)


def test_what_is_on_record_of_databases_has_no_password():
    address = source_of("postgresql://ann:geheim@host:5/db?table=visits&password=x")
    assert address.described == "table visits of postgresql://host:5/db"
    assert source_of("sc://host:15002/;token=geheim", "db.visits").described == "table db.visits of sc://host:15002/"


def test_a_run_that_was_paid_and_lost_is_not_made_again_on_other_data(tmp_path, monkeypatch):
    month(tmp_path, "visits.csv", 3)
    curator = curator_of(tmp_path / "visits.csv", tmp_path)

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "measurement", killed)
        with pytest.raises(KeyboardInterrupt):
            asked(curator, "r")
    month(tmp_path, "visits.csv", 4)
    with pytest.raises(InputError, match="paid for data version"):
        asked(curator, "r")


def test_data_that_changes_during_a_run_is_noted(tmp_path, monkeypatch):
    month(tmp_path, "visits.csv", 3)
    curator = curator_of(tmp_path / "visits.csv", tmp_path)
    measurement = Ledger.measurement

    def slow(*values, **named):
        month(tmp_path, "visits.csv", 9)
        return measurement(*values, **named)

    monkeypatch.setattr(Ledger, "measurement", slow)
    asked(curator, "r")
    notes = [record.why for record in curator.ledger.records() if record.kind == "note" and record.release == "r"]
    assert notes == ["the data changed during the run"]


def test_what_the_first_version_stored_is_returned_and_says_that_no_version_is_recorded(tmp_path, monkeypatch):
    month(tmp_path, "visits.csv", 3)
    curator = curator_of(tmp_path / "visits.csv", tmp_path)
    spend = Ledger.spend
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "spend", lambda *values, data, **named: spend(*values, **named))
        asked(curator, "old")
    month(tmp_path, "visits.csv", 4)
    with pytest.warns(UserWarning, match="no data version was recorded with it"):
        found = asked(curator, "old")
    assert (found["n"], found.data, found.replayed) == ([3], "not recorded", True)
    assert [note.kind for note in found.notes] == ["data"]


def test_versions_go_with_the_books_when_they_move(tmp_path):
    month(tmp_path, "visits.csv", 3)
    curator = curator_of(tmp_path / "visits.csv", tmp_path)
    asked(curator, "r")
    new = curator.ledger.move(tmp_path / "new.db", who="ann", why="a new machine")
    assert asked(open_curator(tmp_path / "visits.csv", SCHEMA, ledger=new, create=True), "r").replayed


def test_a_version_without_its_key_would_give_sizes_away():
    """The planted bug: a plain hash of the stamps is found by trying sizes."""
    import hashlib

    stamps = [["", None, [["visits.csv", 4_321, 0]]]]
    plain = hashlib.sha256(json.dumps(stamps).encode()).hexdigest()
    tried = ([["", None, [["visits.csv", size, 0]]]] for size in range(10_000))
    assert next(one for one in tried if hashlib.sha256(json.dumps(one).encode()).hexdigest() == plain) == stamps
    keyed = DataVersion.of_files(stamps, os.urandom(32))
    tried = ([["", None, [["visits.csv", size, 0]]]] for size in range(10_000))
    assert all(DataVersion.of_files(one, b"\0" * 32) != keyed for one in tried)


def test_files_are_never_printed():
    assert "smith" not in repr(Files("smith.csv", "csv"))
