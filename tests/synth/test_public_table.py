"""Public tables: read by the rules of the schema, whatever form they come in, refused before anything is spent."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest
from synth_desk import SCHEMA, table

import discreet
from discreet import Budget, Integer, Schema
from discreet.data.column import Timestamp
from discreet.errors import InputError
from discreet.marginals.domain import Domain
from discreet.synth import public_table as room
from discreet.synth.ask import PUBLIC_TABLE, SynthAsk
from discreet.synth.parts import made_columns, partitions_of
from discreet.synth.public_table import PublicTable, public_columns

DOMAIN = Domain.of(SCHEMA)


@pytest.fixture
def curator(tmp_path):
    return discreet.open(table(), SCHEMA, ledger=tmp_path / "t.db", budget=Budget(99, delta=1e-6), create=True)


def test_every_form_of_a_table_is_the_same_text(tmp_path):
    frame = pd.DataFrame({"age": [3, 4], "sex": ["f", None], "works": [True, False], "pay": [1.5, np.nan]})
    expected = {"age": ["3", "4"], "sex": ["f", None], "works": ["true", "false"], "pay": ["1.5", None]}
    arrow = pyarrow.Table.from_pandas(frame)
    pyarrow.parquet.write_table(arrow, tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("age,sex,works,pay\n3,f,true,1.5\n4,,false,\n")
    for given in (frame, arrow, tmp_path / "a.parquet", str(tmp_path / "a.csv"), frame.to_dict("list"), expected):
        assert public_columns(given, "prior") == expected


@pytest.mark.parametrize("text", ["", "a,a\n1,2\n", "a,b\n1\n"])
def test_what_is_no_table_is_refused(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match="a line of different names"):
        public_columns(tmp_path / "a.csv", "prior")


@pytest.mark.parametrize("given", ["a.txt", "nowhere.csv", 7, [1, 2]])
def test_other_things_are_refused(given):
    with pytest.raises(InputError, match="prior"):
        public_columns(given, "prior")


def test_rows_get_the_codes_that_the_engine_gives_them():
    rows = {"age": ["3", "99", "x"], "sex": ["m", "q", "f"], "pay": ["0", None, "5"]}
    read = PublicTable.checked(rows, DOMAIN, SCHEMA).encoded(DOMAIN, SCHEMA)
    assert read.names == ("age", "sex", "pay")
    missing = [DOMAIN.attributes[DOMAIN.place(name)].size - 1 for name in ("sex", "pay")]
    assert read.codes.tolist() == [[3, 1, 0], [99, missing[0], missing[1]]]  # the age of the third is no number


def test_times_and_differences_are_worked_out():
    schema = Schema("t", {name: Timestamp("2020-01-01", "2020-02-01", "UTC") for name in ("left", "back")})
    made = made_columns(schema, None, None)
    domain = Domain.of(schema, [part for one in made for part in one.parts], None, partitions_of(made, schema))
    rows = {"left": ["2020-01-02 10:00:00"], "back": ["2020-01-02 11:00:00"]}
    read = PublicTable.checked(rows, domain, schema).encoded(domain, schema)
    assert read.names == domain.names
    hour = domain.attributes[2].labels[int(read.codes[0, 2])]
    assert hour == 3600 or hour.start <= 3600 < hour.end
    half = PublicTable.checked({"left": rows["left"]}, domain, schema)
    assert half.used(domain, schema) == list(domain.names[:2])


def test_of_a_long_table_some_rows_are_used(monkeypatch):
    monkeypatch.setattr(room, "MOST", 10)
    schema = Schema("t", {"n": Integer(0, 99, nullable=False)})
    domain = Domain.of(schema)
    read = PublicTable({"n": [str(one) for one in range(100)]}).encoded(domain, schema)
    assert read.codes.ravel().tolist() == np.linspace(0, 99, 10).round().tolist()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"zip": ["1"]}, "with columns that are made"),
        ({}, "different lengths"),
        ({"age": ["1", "2"], "sex": ["f"]}, "different lengths"),
        ({"age": ["x"]}, "declared values"),
    ],
)
def test_a_prior_that_says_nothing_is_refused(curator, given, message):
    with pytest.raises(InputError, match=message):
        curator.synthesize(prior=given)


def test_a_release_starts_from_it_and_is_read_again(curator):
    offer = curator.synthesize(prior=table(2000, 5)).plan(rho="0.001")
    assert "Starts from a public table of 2,000 rows, with all columns" in str(offer)
    assert offer.plan.charge == curator.synthesize().plan(rho="0.001").plan.charge
    made = offer.release(release="a")
    plain = curator.synthesize().plan(rho="0.001").release()
    agree = [float(((one.age > 18) & (one.age < 66) == one.works).mean()) for one in map(frame, (made, plain))]
    assert agree[0] > agree[1] + 0.02
    assert curator.release("a").to_csv() == made.to_csv()
    assert any("prior" in note for note in made.remarks)


def frame(release):
    return release.to_pandas()


def test_no_text_that_is_sent_is_taken_for_a_path(curator):
    from discreet.synth.ask import SynthAsk

    with pytest.raises(InputError, match="a table of columns"):
        SynthAsk.from_dict({"prior": "people.csv"}, SCHEMA)


def test_no_text_that_a_page_or_a_program_sends_is_taken_for_a_path(tmp_path):
    path = tmp_path / "private.csv"
    path.write_text("age\n12\n34\n")
    assert PUBLIC_TABLE.load(str(path)) == {"age": ["12", "34"]}  # the command line, on the user's own machine
    assert PUBLIC_TABLE.parse(str(path)) == {str(path): []}  # a page: the text itself is the table
    assert PUBLIC_TABLE.parse("age\n12\n") == {"age": ["12"]}
    for sent in (str(path), {"age": str(path)}, {"age": 3}):
        with pytest.raises(InputError, match="prior"):
            SynthAsk.from_dict({"prior": sent}, SCHEMA)
