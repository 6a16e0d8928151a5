"""Two tables with keys that match, whose fan-out, transitions and times between rows are those of the data."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from clinic_desk import FIRST, MOVES, WARDS, clinic, mean_gap, sequences, transitions, visits

from discreet.errors import InputError

LIMIT = 6


@pytest.fixture(scope="module")
def real():
    """The visits that count: the first six of every patient."""
    rows = [row for mine in sequences(visits(4000).sort_by("day")).values() for row in mine[:LIMIT]]
    return pyarrow.Table.from_pylist(rows)


def fan_out_by_age(parents: pyarrow.Table, children: pyarrow.Table) -> tuple[float, float]:
    many = {name: len(rows) for name, rows in sequences(children).items()}
    ages, names = parents["age"].to_pylist(), parents["patient"].to_pylist()
    young = [many.get(name, 0) for name, age in zip(names, ages, strict=True) if age < 60]
    old = [many.get(name, 0) for name, age in zip(names, ages, strict=True) if age >= 60]
    return float(np.mean(young)), float(np.mean(old))


def first_wards(parents: pyarrow.Table, children: pyarrow.Table) -> np.ndarray:
    """Shares of the first ward of the old."""
    age = dict(zip(parents["patient"].to_pylist(), parents["age"].to_pylist(), strict=True))
    wards = [rows[0]["ward"] for name, rows in sequences(children).items() if age[name] >= 60]
    return np.array([wards.count(ward) / len(wards) for ward in WARDS])


def test_keys_match_and_rows_are_in_order(release):
    keys = release.parents["patient"].to_pylist()
    assert keys == [str(number) for number in range(1, len(release) + 1)]
    assert set(release.children["patient"].to_pylist()) <= set(keys)
    visited = sequences(release.children)
    for rows in visited.values():
        days = [row["day"] for row in rows]
        assert days == sorted(days)
        assert 1 <= len(rows) <= LIMIT
        assert date(2024, 1, 1) <= days[0] <= days[-1] <= date(2025, 12, 31)
    assert release.fan_out.tolist() == [len(visited[key]) for key in keys]
    assert release.parents.column_names == ["patient", "age", "sex"]
    assert release.children.column_names == ["patient", "day", "ward", "cost"]
    assert [str(kind) for kind in release.children.schema.types] == ["string", "date32[day]", "string", "double"]


def test_at_a_large_epsilon_the_structure_is_that_of_the_data(release, real):
    assert abs(len(release) - 4000) < 10
    assert abs(release.children.num_rows - real.num_rows) < 0.05 * real.num_rows
    young, old = fan_out_by_age(release.parents, release.children)
    assert abs(young - 2) < 0.25  # 1 to 3
    assert abs(old - (3 + 4 + 5 + 6 * 3) / 6) < 0.3  # 3 to 8, cut at 6
    assert np.abs(transitions(release.children) - MOVES).max() < 0.07
    assert np.abs(first_wards(release.parents, release.children) - FIRST["old"]).max() < 0.09
    assert abs(mean_gap(release.children) - mean_gap(real)) < 0.2 * mean_gap(real)
    for ward in ("day", "care"):  # the time since the visit before depends on the ward
        assert abs(mean_gap(release.children, ward) - mean_gap(real, ward)) < 0.35 * mean_gap(real, ward)
    costs = release.children.to_pylist()
    means = [
        np.mean([row["cost"] for row in costs if row["ward"] == ward and row["cost"] is not None]) for ward in WARDS
    ]
    assert np.allclose(means, [80, 240, 400], rtol=0.25)
    assert abs(sum(row["cost"] is None for row in costs) / len(costs) - 0.05) < 0.02


def test_at_epsilon_1_the_structure_is_seen(tmp_path):
    """Not to the last digit, but nobody would draw another conclusion. In the currency that is usual: with a delta."""
    curator = clinic(tmp_path, 8000, epsilon=1, delta="0.000001")
    release = curator.relate(["age", "sex"], ["ward"], order="day", limit=4).plan(share=1).release()
    assert abs(len(release) - 8000) < 400
    young, old = fan_out_by_age(release.parents, release.children)
    assert young < 2.6 < 3.1 < old
    moves = transitions(release.children)
    assert np.abs(moves - MOVES).max() < 0.2
    assert (moves.argmax(axis=1) == [0, 1, 2]).all()
    assert mean_gap(release.children, "care") < mean_gap(release.children, "day")


def test_rows_in_no_order_follow_from_their_parent(tmp_path):
    curator = clinic(tmp_path, 1500)
    release = curator.relate(["age"], ["ward", "cost"], limit=8, key="P{:04d}", rows=1200).plan(epsilon=50).release()
    assert release.parents["patient"].to_pylist()[:2] == ["P0001", "P0002"]
    assert len(release) == 1200
    young, old = fan_out_by_age(release.parents, release.children)
    assert abs(young - 2) < 0.35
    assert abs(old - 5.5) < 0.5
    means = {ward: [] for ward in WARDS}
    for row in release.children.to_pylist():
        if row["cost"] is not None:
            means[row["ward"]].append(row["cost"])
    assert np.allclose([np.mean(means[ward]) for ward in WARDS], [80, 240, 400], rtol=0.25)


def test_it_is_read_again_saved_and_made_larger_for_free(curator, release, tmp_path):
    left = curator.standing()[0].left
    again = curator.release("clinic")
    assert again.parents.equals(release.parents)
    assert again.children.equals(release.children)
    more = curator.publish("clinic", rows=500)
    assert len(more) == 500
    assert more.children.equals(curator.publish("clinic", rows=500).children)
    assert curator.standing()[0].left == left
    csv = release.save(tmp_path / "csv")
    assert [path.name for path in csv] == ["parents.csv", "children.csv"]
    assert len(csv[1].read_text().splitlines()) == release.children.num_rows + 1
    parquet = release.save(tmp_path / "parquet", "parquet")
    assert pyarrow.parquet.read_table(parquet[1]).equals(release.children)
    with pytest.raises(InputError, match="xls"):
        release.save(tmp_path, "xls")
    assert set(release.tables()) == {"parents", "children"}
    assert curator.release("clinic", "children").columns["ward"] == release.children["ward"].to_pylist()
    assert release.to_dict()["rows"] == {"parents": len(release), "children": release.children.num_rows}
    for word in ("parents:", "children:", "at most 6 child rows", "epsilon = 100"):
        assert word in repr(release)
