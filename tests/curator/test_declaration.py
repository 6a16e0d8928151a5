"""A table declared in the call that opens it: what is missing is asked for, in code that can be run."""

from __future__ import annotations

import re
from datetime import date

import pandas
import polars
import pyarrow
import pytest

import discreet
from discreet import Boolean, Category, Date, Integer, Real, Text, Timestamp, Unit
from discreet.errors import InputError, MissingLedgerError

COLUMNS = {
    "patient": [1, 2, 2],
    "age": [34, 61, 61],
    "sex": ["f", "m", "f"],
    "cost": [1.5, 2.0, 3.25],
    "smokes": [True, False, True],
}
FRAMES = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "arrow": pyarrow.table}


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("DISCREET_LEDGER", raising=False)


def refused(*args, **said) -> str:
    with pytest.raises(InputError) as caught:
        discreet.open(*args, **said)
    return str(caught.value)


def code_of(message: str) -> str:
    return message[message.index("import discreet") :]


@pytest.mark.parametrize("kind", FRAMES)
def test_five_lines_open_a_curator_over_a_frame(kind):
    curator = discreet.open(
        FRAMES[kind](COLUMNS),
        unit="patient",
        groups=1,
        rows=2,
        columns={"age": (0, 120), "sex": ["f", "m"], "cost": (0, 10)},
        epsilon=1,
        create=True,
    )
    assert curator.schema.unit == Unit("patient", groups=1, rows=2)
    assert dict(curator.schema.stored) == {
        "age": Integer(0, 120),
        "sex": Category(["f", "m"]),
        "cost": Real(0, 10),
        "patient": Text(),
    }
    answer = curator.table().group_by("sex").agg(n=discreet.count()).plan(epsilon=1).release()
    assert [row["sex"] for row in answer.rows()] == ["f", "m", None]


@pytest.mark.parametrize("kind", FRAMES)
def test_what_is_missing_is_asked_for_in_one_error_that_names_every_column(kind):
    message = refused(FRAMES[kind](COLUMNS))
    assert message.startswith("`unit`, `groups`, `rows`, `columns` and `epsilon` must be given")
    for line in (
        "unit=...,",
        '"age": (..., ...),',
        '"sex": ...,',
        '"cost": (..., ...),',
        '"smokes": Boolean(),',
        "epsilon=...,",
        "create=True,",
    ):
        assert line in message
    assert "34" not in message
    assert "3.25" not in message
    assert '"f"' not in message


def test_the_code_an_error_shows_runs_and_asks_for_the_same_again():
    df = pandas.DataFrame(COLUMNS)
    message = refused(
        df, unit="patient", columns={"age": (0, ...), "sex": ["?", "f"], "cost": Real(0, 5, nullable=False)}
    )
    with pytest.raises(InputError) as caught:
        exec(code_of(message), {"df": df})
    assert str(caught.value) == message
    assert 'cost": Real(0, 5, nullable=False)' in message
    assert '["?", "f"]' in message


def test_the_code_opens_a_curator_once_its_gaps_are_filled():
    df = pandas.DataFrame(COLUMNS)
    code = code_of(refused(df, unit="patient")).replace("(..., ...)", "(0, 120)").replace("=...", "=1")
    names = {"df": df}
    exec(code.replace('"sex": ...', '"sex": ["f", "m"]'), names)
    assert names["curator"].schema.columns["smokes"] == Boolean()


def test_no_ledger_is_made_unless_the_call_says_so(tmp_path):
    said = {"unit": "patient", "groups": 1, "rows": 1, "columns": {"age": (0, 120)}, "epsilon": 1}
    with pytest.raises(MissingLedgerError):
        discreet.open(pandas.DataFrame(COLUMNS), **said)
    assert not (tmp_path / ".discreet").exists()
    discreet.open(pandas.DataFrame(COLUMNS), **said, create=True)
    assert (tmp_path / ".discreet" / "ledger.db").exists()


def test_a_budget_on_record_need_not_be_given_again():
    said = {"unit": "row", "columns": {"age": (0, 120)}}
    curator = discreet.open(pandas.DataFrame(COLUMNS), **said, epsilon=1, create=True)
    curator.table().agg(n=discreet.count()).plan(epsilon=0.5).release()
    again = discreet.open(pandas.DataFrame(COLUMNS), **said)
    assert "epsilon = 0.5 left" in repr(again)


def test_a_column_of_text_or_objects_is_not_looked_into():
    numbers = pandas.DataFrame({"age": pandas.Series([34, 61], dtype=object)})
    message = refused(numbers, unit="row", columns={"age": (0, 120)}, epsilon=1, create=True)
    assert message.startswith("`columns.age.type` must be given, as Integer(0, 120) or Real(0, 120)")
    said = {"columns": {"age": Integer(0, 120)}}
    assert discreet.open(numbers, unit="row", **said, epsilon=1, create=True).schema.columns["age"] == Integer(0, 120)


def test_categories_of_a_frame_are_not_taken_from_its_dtype():
    frame = pandas.DataFrame({"sex": pandas.Categorical(["f", "m"])})
    message = refused(frame, unit="row", epsilon=1)
    assert '"sex": ...,' in message
    assert '"f"' not in message.replace('["f", "m"]', "")


def test_bounds_that_are_days_declare_days():
    frame = pandas.DataFrame({"day": ["2024-01-05"], "seen": pandas.to_datetime(["2024-01-05"])})
    bounds = ("2024-01-01", date(2024, 12, 31))
    curator = discreet.open(frame, unit="row", columns={"day": bounds, "seen": bounds}, epsilon=1, create=True)
    assert set(curator.schema.columns.values()) == {Date("2024-01-01", "2024-12-31")}


def test_bounds_with_a_zone_declare_times_of_day():
    frame = pandas.DataFrame({"seen": pandas.to_datetime(["2024-01-05 10:00"])})
    assert '"seen": (..., ...),' in refused(frame)
    bounds = ("2024-01-01", "2024-12-31", "Europe/Vienna")
    curator = discreet.open(frame, unit="row", columns={"seen": bounds}, epsilon=1, create=True)
    assert curator.schema.columns["seen"] == Timestamp(*bounds)
    assert "`columns.seen.timezone`" in refused(frame, unit="row", columns={"seen": (*bounds[:2], "Vienna")})


def test_the_first_line_of_a_file_is_not_quoted(tmp_path):
    (tmp_path / "people.csv").write_text("Ann Smith,34\nBob Jones,61\n")
    message = refused("people.csv", unit="row")
    assert "Ann" not in message
    assert "`columns` and `epsilon` must be given" in message
    message = refused("people.csv", unit="row", names=["who", "age"])
    assert '"who": ...,' in message
    assert 'names=["who", "age"],' in message
    said = {"columns": {"age": Integer(0, 120)}, "epsilon": 1, "names": ["who", "age"], "create": True}
    assert discreet.open("people.csv", unit="row", **said).schema.name == "people"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"unit": "pateint"}, "`unit` must be 'row', or a column: .*; got 'pateint'. Did you mean `patient`?"),
        ({"unit": 5}, "`unit` must be the column that identifies a person"),
        ({"unit": "row", "groups": 2}, "`groups` must be left out unless the unit is a person"),
        ({"unit": Unit("patient", groups=1, rows=1), "rows": 2}, "`rows` must be left out where `unit` is a Unit"),
        ({"unit": "row", "columns": {"age": (120, 0)}}, r"`columns.age.upper` must be more than lower = 120"),
        ({"unit": "row", "columns": {"age": (1, 2, 3)}}, r"`columns.age` must be a pair of bounds such as \(0, 120\)"),
        ({"unit": "row", "columns": {"sex": Text}}, "with its parentheses; got Text"),
        ({"unit": "row", "columns": {"sex": []}}, "`columns.sex.values` must be at least one value"),
        ({"unit": "row", "columns": {"age": (0, 1)}, "epsilon": -1}, "`budget.epsilon` must be more than zero"),
        ({"unit": "row", "columns": {"age": (0, 1)}, "delta": 1e-6}, "`epsilon` must be given where `delta` is"),
        ({"schema": "discreet.toml", "unit": "row"}, "`unit` must be left out where a schema is given"),
        ({"epsilon": 1, "budget": discreet.Budget(1)}, "`epsilon` must be left out where `budget` is given"),
        ({"unit": "row", "columns": {"aeg": (0, 1)}, "epsilon": 1}, "aeg"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(said, message):
    assert re.search(message, refused(pandas.DataFrame(COLUMNS), **said))


def test_a_schema_file_here_is_read_as_before(tmp_path):
    (tmp_path / "discreet.toml").write_text(
        '[dataset]\nname = "t"\n[budget]\nepsilon = 1\n[columns.age]\ntype = "integer"\nlower = 0\nupper = 120\n'
    )
    assert discreet.open(pandas.DataFrame(COLUMNS), create=True).schema.name == "t"


def test_a_misspelt_column_is_answered_with_the_one_that_was_meant():
    assert "Did you mean `age`?" in refused(pandas.DataFrame(COLUMNS), unit="row", columns={"agee": (0, 5)}, epsilon=1)


def test_columns_may_be_named_as_pandas_counts_them():
    frame = pandas.DataFrame([[1, 2], [3, 4]])
    opened = discreet.open(frame, unit="row", columns={0: (0, 9), 1: (0, 9)}, epsilon=1, create=True)
    assert list(opened.schema.columns) == ["0", "1"]
    assert "named once" in refused(frame, unit="row", columns={0: (0, 9), "0": (0, 9)}, epsilon=1)


@pytest.mark.parametrize(
    "address", ["postgresql://ann:secret@host?table=x", "postgresql:///city?table=x&password=secret"]
)
def test_a_table_is_not_called_by_an_address_that_holds_a_password(address):
    said = refused(address, columns={"age": (0, 99)}, unit="row", epsilon=1)
    assert "`name` must be given" in said
    assert "secret" not in said
