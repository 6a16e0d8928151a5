"""What notes say of a question, in its plan and its release."""

import pyarrow
import pytest

from discreet.core.note import NOTES
from discreet.core.unit import Unit
from discreet.curator import open_curator
from discreet.data.column import Category, Integer, Real
from discreet.data.join import Join
from discreet.data.schema import Schema
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.query.aggregate import Count, Mean, count, mean, share, total
from discreet.query.notes import cell_notes, declared_notes, published_notes
from discreet.query.question import Query

ONE = Unit("id", groups=1, rows=1)


def told(question, schema) -> dict[str, str]:
    """The texts by kind."""
    notes = declared_notes(question.checked(schema), schema)
    assert {note.kind for note in notes} <= set(NOTES)
    return {note.kind: note.text for note in notes}


def test_texts_read_well_whatever_a_unit_is_called_and_however_many_there_are():
    schema = Schema("t", {"g": Category(["a", "b"], nullable=False), "x": Real(0, 1)}, ONE)
    texts = told(Query().group_by("g").agg(n=count(), s=total("x"), m=mean("x")), schema)
    assert texts["groups"].startswith("Each id counts in at most 1 group, ")
    assert not any(" a id" in text or "A id" in text or "1 rows" in text for text in texts.values())
    two = Schema("t", dict(schema.columns), Unit("id", groups=1, rows=2))
    assert "at most 2 rows in" in told(Query().agg(n=count()), two)["rows"]


def test_rows_without_an_id_are_spoken_of_where_the_unit_has_one():
    columns = {"x": Integer(0, 9)}
    assert told(Query().agg(n=count()), Schema("t", columns, ONE))["unidentified"] == (
        "Rows without a value of id are left out."
    )
    assert "unidentified" not in told(Query().agg(n=count()), Schema("t", columns))


def test_bounds_are_said_as_they_were_declared():
    schema = Schema("t", {"x": Real(1_000_000, 1_000_001), "y": Real("0.1", 150_000)})
    texts = declared_notes(Query().agg(a=mean("x"), b=mean("y")).checked(schema), schema)
    said = [note.text for note in texts if note.kind == "bounds"]
    assert [text.split(" are clipped ")[0] for text in said] == [
        "Values of x outside 1000000..1000001",
        "Values of y outside 0.1..150000",
    ]


def test_what_the_limit_of_a_joined_table_leaves_out_is_said_where_it_is_read():
    schema = Schema("t", {"x": Integer(0, 9)}, ONE, joins={"p": Join({"sex": Category(["f", "m"])}, rows=1)})
    text = "Each id counts with at most 1 row of p, the first in the order of their values; the others are left out."
    assert told(Query().group_by("sex").agg(n=count()), schema)["joined"] == text
    assert told(Query().where("sex = 'f'").agg(n=count()), schema)["joined"] == text
    assert "joined" not in told(Query().agg(n=count(), s=total("x")), schema)
    keys = Query().group_by("sex").agg(n=count()).checked(schema).keys
    assert text in [note.text for note in cell_notes(schema, keys, cells=2)]


def test_an_unknown_number_says_that_noise_decides_which_are_shown():
    columns = {"m": [None, 3.0], "n": [2, 1]}
    (note,) = published_notes([("m", Mean("x")), ("n", Count())], columns, 0.95)
    assert note.outputs == ("m",)
    assert "contain the true value less often than 95%" in note.text


@pytest.mark.parametrize("where", ["plan", "release"])
def test_bounds_that_were_searched_for_say_what_their_interval_is_of(tmp_path, where):
    table = pyarrow.table({"pay": [float(1000 + 10 * i) for i in range(2000)]})
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    schema = Schema("t", {"pay": Real(0, 10**6)})
    curator = open_curator(table, schema, ledger=ledger, budget=Budget(100), create=True)
    offer = curator.table().agg(m=mean("pay", bounds="private")).plan(epsilon=10)
    text = "The bounds come from a noisy search."
    if where == "plan":
        assert text in str(offer)
    else:
        (note,) = [note for note in offer.release().notes if note.kind == "searched"]
        assert text in note.text
        assert note.outputs == ("m", "pay_low", "pay_high")


def test_a_share_is_spoken_of_as_the_condition_that_was_asked_for():
    schema = Schema("t", {"x": Real(0, 10), "y": Real(0, 10, nullable=False)})
    assert told(Query().agg(s=share("x > 4")), schema) == {
        "bounds": "In x > 4, values of x outside 0..10 are clipped to the nearer bound.",
        "complete": "Rows for which it is unknown whether x > 4 count as rows that do not meet it.",
    }
    mixed = told(Query().agg(s=mean("CASE WHEN y > 4 THEN 1 ELSE 2 END")), schema)
    assert mixed["bounds"].startswith("In CASE WHEN y > 4 THEN 1 ELSE 2 END, ")
