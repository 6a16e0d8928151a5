"""At a huge epsilon every kind of job gives what the table itself gives, or its release says why not.

What `test_truth.py` is for the aggregates of a question, this is for jobs that count rows in cells: the most common
values, hierarchies of counts and of sums, flows, synthetic commuters and synthetic rows. The plain numbers come from
the raw rows by the rules of SQL, corrected for the notes that stand beside the numbers, and for nothing else.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import cache
from types import SimpleNamespace

import pyarrow
import pytest

from discreet.core.note import NOTES
from discreet.core.unit import Unit
from discreet.curator import open_curator
from discreet.data.column import Category, Integer
from discreet.data.schema import Schema
from discreet.ledger import door
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.query.key import bins

KINDS = ["top", "tree", "sums", "detail", "flows", "commute", "synth"]
UNITS = {
    "a row": Unit(),
    "a person, limits that cut": Unit("p", groups=40, rows=2),
    "a person, limits that do not": Unit("p", groups=40, rows=50),
    "a person, one cell": Unit("p", groups=1, rows=2),
}
PLACES = ["x", "y", "z"]
COLUMNS = {
    "home": Category(PLACES, nullable=False),
    "work": Category(PLACES, nullable=False),
    "age": Integer(0, 90, nullable=False),
    "pay": Integer(1, 9),
}
EPSILON = 10**6


@cache
def rows() -> tuple[dict, ...]:
    """Persons with one row and with many; rows of nobody; places and ages missing, unknown and far outside."""
    chance, pays = random.Random(5), random.Random(6)
    found = []
    for person in range(40):
        for _ in range(1 if person % 3 else chance.randint(2, 20)):
            row = {"p": None if chance.random() < 0.1 else person}
            row |= {name: chance.choice([*PLACES, None, "elsewhere"]) for name in ("home", "work")}
            row["age"] = chance.choice([None, -5, 20, 50, 80, 200])
            row["pay"] = pays.choice([None, -50, 7, 9, 10**6, 10**6])
            found.append(row)
    return tuple(found)


def release_of(kind, unit, folder):
    """A release of a kind with hardly any noise, read again from its record."""
    table = pyarrow.table({name: [row[name] for row in rows()] for name in ("p", *COLUMNS)})
    ledger = Ledger.open(folder / "books.db", create=True)
    schema = Schema("t", COLUMNS, unit)
    curator = open_curator(table, schema, ledger=ledger, budget=Budget(10**7), create=True, version="1")
    match kind:
        case "top":
            offer = curator.table().top("home", k=3).plan(epsilon=EPSILON)
        case "tree" | "sums":
            geography = {"home": PLACES, "side": ["left", "left", "right"]}
            how = {"geography": pyarrow.table(geography), "measure": "pay" if kind == "sums" else None}
            asked = curator.tree(["side", "home"], by=[bins("age", [0, 40, 90])], **how)
            offer = asked.plan(epsilon=EPSILON)
        case "detail":
            groups = {"some": "work in ('x', 'y', 'z')"}
            asked = curator.detail(["home"], groups=groups, details={"ages": [bins("age", [0, 40, 90])]}, overlap=1)
            offer = asked.plan(epsilon=EPSILON, thresholds={"ages": 0})
        case "flows":
            offer = curator.mobility(origin="home", destination="work").plan(epsilon=EPSILON)
        case "commute":
            where = {place: (number, 0) for number, place in enumerate(PLACES)}
            offer = curator.commute(origin="home", destination="work", coordinates=where).plan(epsilon=EPSILON)
        case _:
            asked = curator.synthesize(columns=["home", "work"], method="mst")
            offer = asked.plan(epsilon=EPSILON)
    offer.release(release="r")
    return curator.release("r")


def _by_age(row):
    return row["home"], "0..40" if 0 <= row["age"] < 40 else "40..90"


CELLS = {
    "top": lambda row: (row["home"],),
    "tree": _by_age,
    "sums": _by_age,
    "detail": lambda row: (row["home"], "some", "age=0..40" if 0 <= row["age"] < 40 else "age=40..90"),
    "flows": lambda row: (row["home"], row["work"]),
    "commute": lambda row: (row["home"], row["work"]),
    "synth": lambda row: (row["home"], row["work"]),
}


def published(kind, made) -> Counter:
    """The number of every cell."""
    if kind in ("commute", "synth"):
        return Counter(zip(*made.tables()["rows"].columns.values(), strict=True))
    if kind == "detail":
        shown = [row for row in made.rows() if row["level"] == "home" and row["cell"] != "total" and row["count"]]
        return Counter({(row["region"], row["group"], row["cell"]): row["count"] for row in shown})
    table = made.tables()[{"top": "", "tree": "home", "sums": "home", "flows": "cells"}[kind]]
    output = "sum_pay" if kind == "sums" else "count"
    return Counter(
        {
            tuple(row[name] for name in ("home", "work", "age") if name in row): row[output]
            for row in table.rows()
            if row[output]
        }
    )


def inside(kind, row) -> bool:
    """Whether a row has a place in a table of this kind."""
    if kind in ("tree", "sums", "detail"):
        aged = row["age"] is not None and 0 <= row["age"] <= 90
        return aged and row["home"] in PLACES and (kind != "detail" or row["work"] in PLACES)
    return row["home"] in PLACES and (kind == "top" or row["work"] in PLACES)


def added(kind, row, said) -> int:
    """What a row adds to its cell."""
    if kind != "sums" or row["pay"] is None:
        return int(kind != "sums")
    return min(max(row["pay"], 1), 9) if "bounds" in said else row["pay"]


def counted(kind, unit, said) -> Counter:
    """The plain counts, corrected for the notes and for nothing else."""
    plain = [row for row in rows() if "unidentified" not in said or row["p"] is not None]
    plain = [row for row in plain if "outside" not in said or inside(kind, row)]
    each: Counter = Counter()
    for place, row in enumerate(plain):
        each[row["p"] if unit.column else place, CELLS[kind](row)] += added(kind, row, said)
    most = 1 if "persons" in said else unit.rows if "rows" in said else max(each.values())
    most *= 9 if kind == "sums" and "rows" in said else 1
    found: Counter = Counter()
    for (_, cell), many in each.items():
        found[cell] += min(many, most)
    return found


def wrong(kind, unit, folder) -> str:
    """What is not so in a release; nothing if all is well."""
    made = release_of(kind, unit, folder)
    notes = {note for table in made.tables().values() for note in table.notes}
    tables = made.tables().values()
    shared = [[(note.kind, note.text) for note in table.notes if note.kind != "intervals"] for table in tables]
    assert all(one == shared[0] for one in shared)  # what an interval is about stands beside intervals alone
    said = {note.kind for note in notes}
    assert said <= set(NOTES)
    if unit.groups == 1 and unit.column is not None:
        return "" if "groups" in said else "cells are cut without a note"
    try:
        expected = counted(kind, unit, said)
    except TypeError:
        return "values are left out without a note"
    return "" if published(kind, made) == expected else f"{published(kind, made)} is not {expected}"


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_counts_are_those_of_the_table_or_the_release_says_why_not(kind, unit, tmp_path):
    assert wrong(kind, UNITS[unit], tmp_path) == ""


@pytest.mark.parametrize("kind", KINDS)
def test_the_notes_of_a_plan_stand_in_every_form_of_the_release(kind, tmp_path):
    made = release_of(kind, UNITS["a person, limits that cut"], tmp_path)
    for name, table in made.tables().items():
        texts = [note.text for note in table.notes]
        assert "Rows without a value of p are left out." in texts
        assert all(text in repr(table) and text.split("..")[0] in table.to_markdown() for text in texts)
        assert [note["text"] for note in json.loads(table.to_json())["notes"]] == texts
        assert [note["text"] for note in json.loads(table.to_arrow().schema.metadata[b"discreet.notes"])] == texts
        assert [note["text"] for note in table.to_pandas().attrs["notes"]] == texts
        table.to_csv(tmp_path / f"{name}.csv")
        beside = json.loads((tmp_path / f"{name}.csv-metadata.json").read_text())
        assert [note["text"] for note in beside["notes"]] == texts
    if kind in ("tree", "sums", "commute", "synth"):
        assert all(text in repr(made) for text in texts)
        assert {text.rstrip(".") for text in texts} <= {note.rstrip(".") for note in made.to_dict()["notes"]}
    if kind in ("commute", "synth"):
        assert b"discreet.notes" in made.to_arrow().schema.metadata
        assert [note["text"] for note in made.to_pandas().attrs["notes"]] == texts
    if kind == "synth":
        assert made.save(tmp_path / "rows.csv").with_name("rows.csv-metadata.json").exists()


def test_a_release_of_the_most_common_values_says_that_persons_are_counted(tmp_path):
    """80 rows of two persons were published as 2 [2, 2], after 3 rows of three, without a word."""
    people = {"p": [1] * 50 + [2] * 30 + [3, 4, 5], "home": ["x"] * 80 + ["y"] * 3}
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    schema = Schema("t", {"home": Category(["x", "y"])}, Unit("p", groups=2, rows=100))
    curator = open_curator(pyarrow.table(people), schema, ledger=ledger, budget=Budget(10**7), create=True)
    offer = curator.table().top("home", k=2).plan(epsilon=EPSILON)
    text = "Each p counts once for a value, however many rows they have with it."
    assert text in str(offer)
    found = offer.release()
    assert (found["home"], found["count"]) == (["y", "x"], [3, 2])
    assert text in [note.text for note in found.notes]
    bare = curator.table().top("home", k=2, counts=False).plan(epsilon=EPSILON).release()
    assert text in [note.text for note in bare.notes]
    assert all(note.outputs == () for note in bare.notes)


# Planted bugs.


def without(kind, entry):
    """A record without its notes of a kind, wherever they stand."""
    if isinstance(entry, dict):
        return {
            name: [note for note in part if note["kind"] != kind]
            if name == "notes" and all(isinstance(note, dict) for note in part)
            else without(kind, part)
            for name, part in entry.items()
        }
    return entry


@pytest.mark.parametrize(
    ("kind", "left_out"),
    [(kind, one) for kind in KINDS for one in ("groups", "rows", "unidentified", "outside")] + [("sums", "bounds")],
)
def test_a_note_that_is_left_out_is_caught(kind, left_out, tmp_path, monkeypatch):
    left_out = "persons" if (kind, left_out) == ("top", "rows") else left_out
    read = SimpleNamespace(loads=lambda text: without(left_out, json.loads(text)), dumps=json.dumps)
    monkeypatch.setattr(door, "json", read)
    unit = UNITS["a person, one cell" if left_out == "groups" else "a person, limits that cut"]
    assert wrong(kind, unit, tmp_path)
