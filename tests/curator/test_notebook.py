"""Curators, questions and offers in a notebook: what pages say of them, and nothing that runs."""

import pyarrow as pa
import pytest

import discreet
from discreet import Ledger, bins, count, mean
from discreet.curator.curator import Curator
from small_desk import PERSONS, TABLE, open_desk

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def curator(tmp_path):
    return Curator(open_desk(tmp_path, PERSONS))


def test_a_curator_says_whom_it_protects_what_is_left_and_what_can_be_asked(curator):
    shown = curator._repr_html_()
    assert "Everything of one id is protected" in shown
    assert '<b class="figure">10</b> of 10 epsilon left' in shown
    assert '<th scope="row">pay</th><td>number</td><td>0 to 1,000</td>' in shown
    assert "books.db" in shown
    assert repr(curator).startswith("<Curator of 'people'; protects everything of one id")


def test_a_question_says_what_is_asked_and_reads_nothing(curator):
    question = (
        curator.table().where("age >= 30").group_by("county", bins("age", width=20)).agg(n=count(), m=mean("pay"))
    )
    shown = question._repr_html_()
    assert "n, m by county, age" in shown
    assert "<dd>n = count(), m = mean(pay)</dd>" in shown
    assert "<dd>county, age in bins</dd>" in shown
    assert "<code>age &gt;= 30</code>" in shown
    assert "which groups there are" in curator.table().group_by("county").keys()._repr_html_()
    assert "The 3 most common values of county" in curator.table().top("county", 3)._repr_html_()
    stream = curator.table().agg(n=count()).stream(bins("day", every="month"))
    assert "Period of a stream" in stream._repr_html_()
    assert "Synthetic table" in curator.synthesize(columns=["age", "county"])._repr_html_()
    assert curator.standing()[0].spent.amount == 0


def test_an_offer_says_price_errors_and_odds_before_anything_is_spent(curator):
    offer = curator.table().group_by("county").agg(n=count()).plan(epsilon=4)
    shown = offer._repr_html_()
    assert "<b>40%</b>" in shown
    assert "Left: epsilon = 10 now, epsilon = 6 after." in shown
    assert "whatever the answer is" in shown
    assert "someone at 50:50" in shown
    assert "Whether they are in the table" in shown
    assert "≤\u00a098.3%" in shown  # 1 / (1 + e^-4), rounded up
    assert "spends epsilon = 4 and answers" in shown
    assert "Releases 2 rows" in offer.plan._repr_html_()
    assert curator.standing()[0].spent.amount == 0
    dear = curator.table().agg(n=count()).plan(epsilon=11)
    assert "More than is left" in dear._repr_html_()
    assert "and answers" not in dear._repr_html_()


def test_errors_of_what_is_priced_together_stand_under_the_names_of_its_parts(curator):
    table = curator.table()
    both = curator.batch(first=table.agg(n=count()), second=table.group_by("county").agg(n=count())).plan(epsilon=1)
    shown = both._repr_html_()
    assert "first: n" in shown
    assert "second: n" in shown


def test_names_that_are_markup_stay_text(tmp_path):
    table = pa.table({EVIL: ["a", EVIL]})
    ledger = Ledger.temporary(tmp_path)
    curator = discreet.open(table, name=EVIL, unit="row", columns={EVIL: ["a", EVIL]}, epsilon=9, ledger=ledger)
    question = curator.table().group_by(EVIL).agg(n=count())
    offer = question.plan(epsilon=1)
    answer = offer.release(why=EVIL)
    for one in (curator, question, offer, answer, answer.plot(), curator.ledger, offer.plan):
        assert "<script" not in one._repr_html_()
        assert "&lt;script&gt;" in one._repr_html_()


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars", "parquet", "csv"])
def test_a_table_is_opened_declared_and_asked_in_five_lines(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = TABLE.select(["id", "age", "county"])
    data = _given(kind, table)
    columns = {"age": discreet.Integer(0, 120), "county": ["Ash", "Elm"]}
    curator = discreet.open(data, name="t", unit="id", groups=1, rows=1, columns=columns, epsilon=50, create=True)
    answer = curator.sql("SELECT county, COUNT(*) AS n FROM t GROUP BY county").plan(epsilon=40).release()
    assert sum(answer["n"][:2]) == 3  # with so large an epsilon: off by one with a chance of about e^-40
    assert (tmp_path / ".discreet" / "ledger.db").is_file()


def _given(kind, table):
    match kind:
        case "pandas":
            return table.to_pandas()
        case "polars":
            return pytest.importorskip("polars").from_arrow(table)
        case "parquet" | "csv":
            module = pytest.importorskip(f"pyarrow.{kind}")
            (module.write_table if kind == "parquet" else module.write_csv)(table, f"table.{kind}")
            return f"table.{kind}"
    return table
