"""Asking for parents and child rows: what is wrong is said before anything is spent, also on a command line."""

from __future__ import annotations

import json

import pyarrow.csv
import pytest
from clinic_desk import SCHEMA, clinic, visits

import discreet
from discreet import Category, Integer, Real, Schema, Text, Unit
from discreet.apps.cli import main
from discreet.errors import InputError
from discreet.synth.relations import RelationsAsk


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"parent": []}, "at least one column"),
        ({"parent": ["agee"]}, "agee"),
        ({"parent": ["age", "age"]}, "each column once"),
        ({"parent": ["patient"]}, "keys are made anew"),
        ({"parent": ["age"], "child": ["age"]}, "not one of the parent's"),
        ({"parent": ["age"], "child": []}, "at least one column"),
        ({"parent": ["age"], "order": "age"}, "a column of the child rows"),
        ({"parent": ["age"], "order": "ward"}, "days, times or whole numbers"),
        ({"parent": ["age"], "order": "cost"}, "days, times or whole numbers"),
        ({"parent": ["age"], "limit": 0}, "from 1 to 1,000"),
        ({"parent": ["age"], "limit": 1001}, "from 1 to 1,000"),
        ({"parent": ["age"], "limit": True}, "limit"),
        ({"parent": ["age"], "rows": 0}, "rows"),
        ({"parent": ["age"], "key": "P"}, "a place for a number"),
        ({"parent": ["age"], "parent_share": 1}, "strictly between 0 and 1"),
        ({"parent": ["age"], "parent_share": 0}, "strictly between 0 and 1"),
        ({"parent": ["age"], "where": "agee > 3"}, "agee"),
        ({"parent": ["age"], "differences": {"ward": "day"}}, "ward"),
        ({"parent": ["age", "sex", "ward", "day", "cost"]}, "not the parent's"),
    ],
)
def test_what_is_wrong_is_said(fields, message):
    with pytest.raises(InputError, match=message):
        RelationsAsk.of(**fields).checked(SCHEMA)


def test_without_a_person_there_are_no_parents():
    schema = Schema("t", {"age": Integer(0, 9), "ward": Category(["a"])})
    with pytest.raises(InputError, match="Declare whose rows they are"):
        RelationsAsk.of(["age"]).checked(schema)


def test_text_is_refused_with_advice():
    schema = Schema("t", {"age": Integer(0, 9), "note": Text()}, Unit("who", groups=1, rows=1))
    with pytest.raises(InputError, match="Declare its values"):
        RelationsAsk.of(["age"]).checked(schema)
    with pytest.raises(InputError, match="Declare its values"):
        RelationsAsk.of(["note"], ["age"]).checked(schema)


def test_prices_that_buy_nothing_are_refused(curator):
    asked = curator.relate(["age"], order="day")
    left = curator.standing()[0].left
    for price, message in (({"epsilon": "1/10000000000"}, "says nothing"), ({"epsilon": 2_000_000}, "protects nobody")):
        with pytest.raises(InputError, match=message):
            asked.plan(**price)
    assert curator.standing()[0].left == left


def test_an_accuracy_is_a_price_and_fields_go_to_json_and_back(curator):
    offer = curator.relate(["age"], ["ward"], limit=2).plan(within=50)
    assert max(error.half_width for error in offer.expected) <= 50
    ask = RelationsAsk.of(["age"], order="day", limit=3, key=7, parent_share="1/2")
    assert RelationsAsk.from_dict(json.loads(json.dumps(ask.to_dict())), SCHEMA).to_dict() == ask.to_dict()
    ready = ask.checked(SCHEMA)
    assert (ready.key, ready.levels.limit, float(ready.parent_share)) == (7, 3, 0.5)
    assert RelationsAsk.of(["age"]).checked(SCHEMA).levels.limit == SCHEMA.unit.most_total == 6


def test_keys_are_numbers_where_persons_are(tmp_path):
    schema = Schema(
        "t", {"who": Integer(100, 999), "x": Real(0, 1), "g": Category(["a"])}, Unit("who", groups=1, rows=2)
    )
    assert RelationsAsk.of(["g"], ["x"]).checked(schema).key == 100


def test_the_command_line_has_it(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(visits(300), "visits.csv")
    columns = {"sex": 'type = "category"\nvalues = ["f", "m"]', "age": 'type = "integer"\nlower = 0\nupper = 99'}
    columns |= {"ward": 'type = "category"\nvalues = ["day", "surgery", "care"]'}
    columns |= {"day": 'type = "date"\nlower = 2024-01-01\nupper = 2025-12-31'}
    unit = '[dataset]\nname = "clinic"\n[unit]\ncolumn = "patient"\ngroups = 6\nrows = 1\n[budget]\nepsilon = 100\n'
    text = unit + "".join(f"[columns.{name}]\n{entry}\n" for name, entry in columns.items())
    (tmp_path / "discreet.toml").write_text(text)

    def run(*words: str) -> str:
        with pytest.raises(SystemExit) as end:
            main(["relations", *words])
        assert not end.value.code
        return capsys.readouterr().out

    asked = ["visits.csv", "--parent", "age,sex", "--order", "day", "--limit", "3", "--epsilon", "20"]
    discreet.Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True)
    assert "each with 0 to 3 child rows in 2 columns" in " ".join(run("plan", *asked).split())
    run("release", *asked, "--id", "clinic", "--out", "made", "-y")
    parents, children = (pyarrow.csv.read_csv(f"made/{name}.csv") for name in ("parents", "children"))
    assert set(children["patient"].to_pylist()) <= set(parents["patient"].to_pylist())
    assert "ward" in run("show", "clinic", "--part", "children")


def test_a_clinic_of_few_says_so_before_it_is_paid(tmp_path):
    assert "0 to 2 child rows" in str(clinic(tmp_path, 5).relate(["age"], ["ward"], limit=2).plan(epsilon=1))
