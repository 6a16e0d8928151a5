"""More rows of a release, and rows that meet a condition: from what is on record, the same ones every time, free."""

from __future__ import annotations

import numpy as np
import pytest
from synth_desk import SCHEMA, table

import discreet
from discreet import Budget, Category, Date, Integer, Real, Schema
from discreet.apps.cli import main
from discreet.data.column import Boolean
from discreet.errors import InputError
from discreet.query.predicate import And, Compare, IsIn, IsMissing
from discreet.synth import mosaic as mosaics
from discreet.synth.sampler import draw_until, read_subset


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    return tmp_path_factory.mktemp("sampler") / "books.db"


@pytest.fixture(scope="module")
def curator(books):
    return discreet.open(table(), SCHEMA, ledger=books, budget=Budget(20), who="ann", create=True)


@pytest.fixture(scope="module")
def release(curator):
    return curator.synthesize().plan(epsilon=5).release(release="people")


def test_more_rows_are_free_and_the_same_every_time(curator, release):
    left = curator.standing()[0].left
    more = release.sample(7000)
    assert len(more) == 7000 != len(release)
    assert more.to_csv() == release.sample(7000).to_csv() == curator.release("people").sample(7000).to_csv()
    assert more.to_csv() == curator.publish("people", rows=7000).to_csv()
    assert len(release.sample()) == len(release)
    assert curator.standing()[0].left == left
    assert (more.id, more.cost, more.columns) == (release.id, release.cost, release.columns)


@pytest.mark.parametrize(
    ("where", "meets"),
    [
        ({"sex": "f"}, lambda row: row["sex"] == "f"),
        ({"sex": None, "works": True}, lambda row: row["sex"] is None and row["works"]),
        ("works and age >= 33 and age < 41", lambda row: row["works"] and 33 <= row["age"] < 41),
        ("pay > 31234.5", lambda row: row["pay"] is not None and row["pay"] > 31234.5),
        ("since between DATE '2004-03-05' and DATE '2004-05-01'", lambda row: 64 <= _days(row["since"]) <= 121),
    ],
)
def test_every_row_of_a_sample_meets_the_condition(release, where, meets):
    """Also where the condition cuts through a run of values that one code stands for."""
    found = release.sample(300, where)
    rows = found.to_arrow().to_pylist()
    assert len(rows) == len(found) == 300
    assert all(map(meets, rows))
    assert any("rows were drawn for 300" in note for note in found.notes)
    again = release.sample(300, where=where)
    assert again.to_csv() == found.to_csv()


def _days(day):
    return (day - np.datetime64("2004-01-01").astype(object)).days


def test_without_a_number_as_many_meet_it_as_there_seem_to_be(release):
    true = sum(sex == "f" for sex in table()["sex"].to_pylist())
    assert abs(len(release.sample(where={"sex": "f"})) - true) < 100


def test_a_sample_has_the_conditional_distribution(release):
    """Who works is between 19 and 65; the ages of a sample of them are spread as theirs are."""
    ages = np.array(release.sample(4000, "works").to_arrow()["age"].to_pylist())
    real = np.array(table()["age"].to_pylist())[np.array(table()["works"].to_pylist())]
    assert np.mean((ages > 18) & (ages < 66)) > 0.9
    assert abs(ages.mean() - real.mean()) < 2


def test_conditions_hold_of_repaired_rows_too(curator):
    asked = curator.synthesize("independent", impossible=["age < 16 and works"])
    found = asked.plan(epsilon=3).release().sample(200, "age < 30 and works")
    assert all(16 <= row["age"] < 30 and row["works"] for row in found.to_arrow().to_pylist())


def test_a_condition_that_is_too_rare_is_refused_with_what_was_found(release, monkeypatch):
    monkeypatch.setattr("discreet.synth.sampler._RAREST", 50_000)  # a twentieth: to be refused takes all of them
    with pytest.raises(InputError, match=r"none of them did.*It may be impossible here\. Nothing was spent"):
        release.sample(1, "age < 40 and age > 60")
    with pytest.raises(InputError, match=r"Ask for at most [\d,]+ rows"):
        release.sample(45_000, "age = 7")


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("agee > 3", "agee"),
        ("year(since) = 2004", "about columns of the synthetic table"),
        ({}, "at least one column"),
        ({"sex": "x"}, "x"),
        ("age >", "where"),
        ({"nobody": 3}, "nobody"),
    ],
)
def test_what_is_no_condition_is_refused(release, where, message):
    with pytest.raises(InputError, match=message):
        release.sample(5, where)


def test_numbers_of_rows_are_checked(release):
    for rows in (0, -1, True, "7", 10**9):
        with pytest.raises(InputError, match="rows"):
            release.sample(rows)


def test_rows_by_single_columns_stay_so(curator, release):
    alone = curator.publish("people", method="independent")
    assert alone.method == "independent"
    assert alone.sample(len(alone)).to_csv() == alone.to_csv()


def test_more_rows_of_what_an_earlier_division_of_the_price_measured_keep_dependence(tmp_path, monkeypatch):
    books = discreet.open(table(), SCHEMA, ledger=tmp_path / "t.db", budget=Budget(20), who="ann", create=True)
    with monkeypatch.context() as patched:
        patched.setattr(mosaics, "allocate", lambda amount, cells, uses: [amount / len(cells)] * len(cells))
        first = books.synthesize("mosaic").plan(epsilon=5).release(release="early")
    spent = books.standing()[0].spent
    later = books.release("early").sample(4000)
    assert any("fitted to all that was measured" in note for note in later.notes)
    assert len(later) == 4000
    assert later.to_csv() == books.publish("early", rows=4000).to_csv()
    assert books.standing()[0].spent == spent
    assert _known(later) > _known(first) - 0.03 > 0.8
    assert _known(books.publish("early", method="independent")) < 0.7


def _known(release) -> float:
    """In what part of the rows age says who works."""
    frame = release.to_pandas()
    return float((((frame.age > 18) & (frame.age < 66)) == frame.works).mean())


def test_values_by_column_are_a_condition():
    schema = Schema("t", {"sex": Category(["f", "m"]), "age": Integer(0, 9), "day": Date("2020-01-01", "2020-02-01")})
    assert read_subset({"sex": ["f", "m"]}, schema, ["sex"]) == IsIn("sex", ("f", "m"))
    both = read_subset({"sex": "f", "age": None}, schema, ["sex", "age"])
    assert both == And((Compare("sex", "==", "f"), IsMissing("age")))


def test_how_many_rows_are_drawn_follows_from_how_many_met_it():
    drawn: list[int] = []

    def draw(many: int) -> int:
        drawn.append(many)
        return many // 1000

    assert draw_until(draw, 500) == drawn[-1] >= 500_000
    assert drawn == sorted(set(drawn))
    with pytest.raises(InputError, match="1,000 of them did"):
        draw_until(lambda many: many // 1000, 1001)


def test_timestamps_meet_conditions_as_they_are_shown(tmp_path):
    import pyarrow

    rng = np.random.default_rng(3)
    at = np.datetime64("2024-01-01") + rng.integers(0, 86400 * 20, 2000).astype("timedelta64[s]")
    schema = {
        "at": discreet.Timestamp("2024-01-01", "2024-01-21", "UTC", nullable=False),
        "paid": Real(0, 9, nullable=False),
    }
    schema["late"] = Boolean(nullable=False)
    data = pyarrow.table({"at": at, "paid": rng.random(2000), "late": rng.random(2000) < 0.3})
    curator = discreet.open(
        data, Schema("rides", schema), ledger=tmp_path / "b.db", budget=Budget(10), who="ann", create=True
    )
    found = curator.synthesize().plan(epsilon=5).release().sample(50, "at >= TIMESTAMP '2024-01-15 00:00:00' and late")
    assert min(found.to_arrow()["at"].to_pylist()).isoformat() >= "2024-01-15"
    assert all(found.to_arrow()["late"].to_pylist())


def test_the_command_line_draws_them_too(books, release, tmp_path, capsys):
    where = ["--where", "sex = 'm' and age < 30", "--out", str(tmp_path / "young.csv")]
    with pytest.raises(SystemExit) as end:
        main(["synth", "show", "people", "--ledger", str(books), "--rows", "40", *where])
    assert not end.value.code
    assert "rows were drawn for 40 that meet the condition" in capsys.readouterr().out
    assert (tmp_path / "young.csv").read_text() == release.sample(40, "sex = 'm' and age < 30").to_csv()
