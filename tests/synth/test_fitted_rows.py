"""Rows from noisy marginals that somebody has: near to what the marginals say, free, always the same."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from synth_desk import SCHEMA, table

import discreet
from discreet import Budget, Category, Integer, Schema
from discreet.data.column import Timestamp
from discreet.errors import InputError
from discreet.marginals.counts import ArrayCounts
from discreet.synth import fitted_codes as room
from discreet.synth import rows_from_marginals

LETTERS = list("abcdefgh")
NAMES = "uvwxy"
PLAIN = Schema("t", {name: Category(LETTERS, nullable=False) for name in NAMES} | {"n": Integer(0, 5000)})


def codes(many: int = 6000):
    """Columns that each lean on the one before."""
    chance = np.random.default_rng(8)
    found = [chance.integers(0, 8, many)]
    for _ in NAMES[1:]:
        found.append(np.where(chance.random(many) < 0.8, found[-1], chance.integers(0, 8, many)))
    return np.stack(found, axis=1)


def brought(rows, deviation: float):
    """All pairs with noise, as another system would write them."""
    chance = np.random.default_rng(3)
    marginals = []
    for pair in [*((one,) for one in range(5)), *itertools.combinations(range(5), 2)]:
        counts = np.zeros((8,) * len(pair))
        np.add.at(counts, tuple(rows[:, one] for one in pair), 1)
        noisy = counts + chance.normal(0, deviation, counts.shape)
        named = [NAMES[one] for one in reversed(pair)]  # in any order of columns
        marginals.append({"columns": named, "counts": noisy.T.tolist(), "variance": deviation**2})
    columns = [{"name": name, "codes": LETTERS} for name in NAMES]
    return {"format": "discreet-marginals", "version": 1, "columns": columns, "marginals": marginals}


def far(made, truth) -> float:
    pairs = list(itertools.combinations(range(5), 2))
    left, right = (ArrayCounts(made.domain, one) for one in (made.codes, truth))
    return float(
        np.mean([np.abs(left.marginal(p) / len(made) - right.marginal(p) / len(truth)).sum() / 2 for p in pairs])
    )


def test_rows_are_near_to_what_the_marginals_say():
    truth = codes()
    near, farther = (rows_from_marginals(PLAIN, brought(truth, noise)) for noise in (2, 60))
    alone = brought(truth, 2)
    alone["marginals"] = alone["marginals"][:5]
    independent = rows_from_marginals(PLAIN, alone)
    assert len(near) == pytest.approx(6000, abs=30)
    assert far(near, truth) < 0.05
    assert far(near, truth) < far(farther, truth) < 0.5 * far(independent, truth)


def test_marginals_that_no_tree_holds_are_met_by_weights(monkeypatch):
    truth = codes()
    monkeypatch.setattr(room, "CELLS", 300)
    made = rows_from_marginals(PLAIN, brought(truth, 2))
    assert " 0 by weights" not in made.notes[0]
    assert far(made, truth) < 0.08


def test_the_same_marginals_give_the_same_rows(tmp_path):
    entry = brought(codes(1000), 5)
    one, two = (rows_from_marginals(PLAIN, entry, rows=300) for _ in range(2))
    assert one.to_csv() == two.to_csv()
    assert len(one) == 300
    one.save(tmp_path / "a.csv")
    one.save(tmp_path / "a.parquet")
    assert (tmp_path / "a.csv").read_text() == one.to_csv()
    assert pyarrow.parquet.read_table(tmp_path / "a.parquet").equals(one.to_arrow())
    assert list(one.to_pandas().columns) == list(NAMES)
    with pytest.raises(InputError, match=r"\.csv or \.parquet"):
        one.save(tmp_path / "a.txt")


def test_what_a_release_exports_makes_rows_like_its_own(tmp_path):
    curator = discreet.open(table(6000), SCHEMA, ledger=tmp_path / "t.db", budget=Budget(99, delta=1e-6), create=True)
    made = curator.synthesize().plan(rho=2).release()
    made.marginals().save(tmp_path / "noisy.json")
    again = rows_from_marginals(SCHEMA, tmp_path / "noisy.json", impossible=["age < 10 and works"])
    frame = again.to_pandas()
    assert abs(frame.works.mean() - made.to_pandas().works.mean()) < 0.02
    known = [float(((one.age > 18) & (one.age < 66) == one.works).mean()) for one in (frame, made.to_pandas())]
    assert known[0] > known[1] - 0.02 > 0.9
    assert not ((frame.age < 10) & frame.works).any()
    assert frame.pay.dropna().between(0, 100_000).all()
    assert again.to_arrow().schema.field("since").type == pyarrow.date32()


def test_times_that_a_release_was_made_of_are_put_together_again(tmp_path):
    chance = np.random.default_rng(2)
    left = np.datetime64("2020-01-01T00:00:00") + chance.integers(0, 86_400 * 30, 3000).astype("timedelta64[s]")
    back = left + chance.integers(60, 7200, 3000).astype("timedelta64[s]")
    schema = Schema(
        "t", {name: Timestamp("2020-01-01", "2020-02-01", "UTC", nullable=False) for name in ("left", "back")}
    )
    rows = pyarrow.table({"left": left, "back": back})
    curator = discreet.open(rows, schema, ledger=tmp_path / "t.db", budget=Budget(99, delta=1e-6), create=True)
    made = curator.synthesize().plan(rho=2).release()
    frame = rows_from_marginals(schema, made.marginals()).to_pandas()
    assert list(frame.columns) == ["left", "back"]
    assert (frame.back >= frame.left).mean() > 0.95
    assert 1800 < (frame.back - frame.left).dt.total_seconds().median() < 5400


def test_a_condition_on_two_columns_holds():
    numbers = Schema("t", {"a": Integer(0, 9, nullable=False), "b": Integer(0, 9, nullable=False)})
    columns = [{"name": name, "codes": list(range(10))} for name in "ab"]
    counts = [{"columns": [name], "counts": [100] * 10, "variance": 1} for name in "ab"]
    entry = {"format": "discreet-marginals", "version": 1, "columns": columns, "marginals": counts}
    frame = rows_from_marginals(numbers, entry, impossible=["a < b"]).to_pandas()
    assert (frame.a >= frame.b).all()
    assert len(frame) > 900
    assert not (rows_from_marginals(numbers, entry).to_pandas().eval("a >= b")).all()


@pytest.mark.parametrize(
    ("fields", "message"), [({"rows": 0}, "rows"), ({"impossible": ["zip = 3"]}, "impossible"), ({"rows": 1.5}, "rows")]
)
def test_what_is_wrong_is_said(fields, message):
    with pytest.raises(InputError, match=message):
        rows_from_marginals(PLAIN, brought(codes(100), 5), **fields)
