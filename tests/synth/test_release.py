"""Synthetic rows: of the declared types, the same whenever they are read, and quoted for spreadsheets."""

from __future__ import annotations

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from synth_desk import SCHEMA, table

import discreet
from discreet import Budget, Category, Integer, Schema, Text, Unit
from discreet.curator import read_release
from discreet.errors import InputError
from discreet.synth import release as module


def test_rows_of_the_declared_types_and_bounds(curator, tmp_path, monkeypatch):
    release = curator.synthesize("independent").plan(epsilon=2).release()
    assert 2700 < len(release) < 3300
    assert abs(release.total - 3000) < 300
    rows = release.to_arrow()
    assert rows.column_names == list(SCHEMA.columns)
    assert [str(kind) for kind in rows.schema.types] == ["int64", "string", "bool", "double", "date32[day]"]
    assert 0 <= min(rows["age"].to_pylist()) <= max(rows["age"].to_pylist()) <= 99
    assert set(rows["sex"].to_pylist()) == {"f", "m", None}
    assert all(pay is None or 0 <= pay <= 100_000 for pay in rows["pay"].to_pylist())
    # One by one the columns are right.
    true = sum(1 for sex in table()["sex"].to_pylist() if sex is None)
    assert abs(rows["sex"].to_pylist().count(None) - true) < 60
    assert abs(sum(rows["works"].to_pylist()) - sum(table()["works"].to_pylist())) < 150
    assert list(release.to_pandas().columns) == list(release.to_polars().columns) == rows.column_names
    assert release.counts.marginal((1,)).sum() == len(release)
    for name in ("rows.csv", "rows.parquet"):
        release.save(tmp_path / name)
    assert pyarrow.parquet.read_table(tmp_path / "rows.parquet").equals(rows)
    monkeypatch.setattr(module, "_GROUP", 700)  # in several groups, the same rows
    release.save(tmp_path / "groups.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "groups.parquet").equals(rows, check_metadata=True)
    assert pyarrow.parquet.ParquetFile(tmp_path / "groups.parquet").num_row_groups == -(-len(release) // 700)
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == len(release) + 1
    with pytest.raises(InputError, match="ends in"):
        release.save(tmp_path / "rows.xls")
    for word in ("more rows", "by independent", "epsilon = 2"):
        assert word in repr(release)


def test_the_same_id_again_is_the_same_rows_and_costs_nothing(curator, tmp_path):
    first = curator.synthesize(rows=500).plan(epsilon=1).release(release="twins")
    left = curator.standing()[0].left
    other = discreet.open(table(10, seed=9), SCHEMA, ledger=tmp_path / "books.db", who="bob", create=True)
    with pytest.warns(UserWarning, match="may describe earlier data"):
        second = other.synthesize(rows=500).plan(epsilon=1).release(release="twins")
    assert "may describe earlier data" in " ".join(second.notes)
    third = other.release("twins")
    assert first.to_csv() == second.to_csv() == third.to_csv()
    assert len(third) == 500
    assert np.array_equal(first.codes, third.codes)
    assert [one.noise for one in first.measured] == [one.noise for one in third.measured]
    assert first.domain == third.domain
    assert other.standing()[0].left == left
    with pytest.raises(InputError, match="this one answers another question"):
        other.synthesize(rows=501).plan(epsilon=1).release(release="twins")
    with pytest.raises(InputError, match="stored release"):
        other.release("nothing")
    assert other.release("twins", "rows").columns["age"] == first.to_arrow()["age"].to_pylist()
    other.table().agg(n=discreet.count()).plan(epsilon=1).release(release="count")
    with pytest.raises(InputError, match=r"a synthetic table.*discreet releases show count"):
        read_release(other.ledger, "count", kind="synth")


def test_days_are_text_where_rows_are_a_table(curator):
    release = curator.synthesize("independent", columns=["since", "age"], rows=20).plan(epsilon=1).release()
    shown = release.tables()["rows"]
    assert shown.columns["since"] == [day.isoformat() for day in release.to_arrow()["since"].to_pylist()]
    assert "since" in shown.to_json()


def test_what_cannot_be_is_not(curator):
    asked = curator.synthesize("independent", impossible=["age < 16 and works", "works and pay is null"])
    release = asked.plan(epsilon=3).release()
    rows = release.to_arrow().to_pylist()
    assert any(row["age"] < 16 for row in rows)
    assert any(row["works"] for row in rows)
    assert not any((row["age"] < 16 and row["works"]) or (row["works"] and row["pay"] is None) for row in rows)
    assert any("were changed" in note for note in release.notes)
    # Columns that conditions do not name are as they were.
    since = release.domain.place("since")
    assert np.array_equal(np.bincount(release.codes[:, since]), np.bincount(release.made.codes[:, since]))


def test_keys_are_made_anew(tmp_path):
    schema = Schema("people", {**SCHEMA.columns, "person": Text()}, Unit("person", groups=1, rows=1))
    curator = discreet.open(table(800), schema, ledger=tmp_path / "books.db", budget=Budget(10), who="ann", create=True)
    plain = curator.synthesize("independent", rows=3).plan(epsilon=1).release()
    assert plain.columns[0] == "person"
    assert plain.to_arrow()["person"].to_pylist() == ["1", "2", "3"]
    keys = {"person": "P{:06d}", "visit": 100}
    named = curator.synthesize("independent", rows=2, keys=keys).plan(epsilon=1).release()
    assert named.to_arrow().select(["person", "visit"]).to_pylist() == [
        {"person": "P000001", "visit": 100},
        {"person": "P000002", "visit": 101},
    ]
    assert curator.synthesize(keys={}).plan(epsilon=1).plan.keys == ()
    assert "counts in at most 1 combination" in str(curator.synthesize().plan(epsilon=1))
    numbered = Schema(
        "people", {**SCHEMA.columns, "person": Integer(5, 10**6, nullable=False)}, Unit("person", groups=1, rows=1)
    )
    rows = table(50).set_column(0, "person", pyarrow.array(range(50)))
    other = discreet.open(rows, numbered, ledger=tmp_path / "other.db", budget=Budget(10), who="ann", create=True)
    made = other.synthesize("independent", rows=2).plan(epsilon=1).release()
    assert made.to_arrow()["person"].to_pylist() == [5, 6]


def test_text_that_a_spreadsheet_would_run_is_quoted(tmp_path):
    schema = Schema("t", {"what": Category(["=1+1", "a,b"], nullable=False), "n": Integer(-3, 3, nullable=False)})
    rows = pyarrow.table({"what": ["=1+1", "a,b"] * 50, "n": [-3, 3] * 50})
    curator = discreet.open(rows, schema, ledger=tmp_path / "t.db", budget=Budget(100), who="ann", create=True)
    text = curator.synthesize("independent").plan(epsilon=50).release().to_csv()
    assert "'=1+1" in text
    assert '"a,b"' in text
    assert "\n=1+1" not in text


@pytest.mark.parametrize("method", ["independent", "auto"])
def test_tables_that_have_little_in_them(tmp_path, method):
    columns = {
        "gone": Category(["a"], nullable=True),
        "same": Category(["x"], nullable=False),
        "n": Integer(0, 3, nullable=False),
    }
    schema = Schema("t", columns)
    rows = pyarrow.table({"gone": pyarrow.array([None] * 400, pyarrow.string()), "same": ["x"] * 400, "n": [2] * 400})
    curator = discreet.open(rows, schema, ledger=tmp_path / "t.db", budget=Budget(100), who="ann", create=True)
    made = curator.synthesize(method).plan(epsilon=20).release().to_arrow()  # all missing, constant, constant
    assert made["gone"].null_count > 0.9 * made.num_rows
    assert set(made["same"].to_pylist()) == {"x"}
    assert made["n"].to_pylist().count(2) > 0.9 * made.num_rows
    one = curator.synthesize(method, columns=["n"]).plan(epsilon=20).release()
    assert one.columns == ("n",)
    # No row has a declared value: there is nothing to count, and that is said.
    empty = Schema("u", {"n": Integer(0, 3, nullable=False), "what": Category(["never"], nullable=False)})
    rows = pyarrow.table({"n": [1] * 300, "what": ["always"] * 300})
    other = discreet.open(rows, empty, ledger=tmp_path / "u.db", budget=Budget(100), who="ann", create=True)
    release = other.synthesize(method).plan(epsilon=20).release()
    assert len(release) < 20
    assert any("counted" in note for note in release.notes)
