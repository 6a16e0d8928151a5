"""A schema to fill in: names and types are all it tells of the data, and filled in it is a schema."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pyarrow
import pytest

from discreet.core.unit import Unit
from discreet.data.schema import Schema
from discreet.data.skeleton import skeleton
from discreet.data.source import source_of
from discreet.errors import InputError

ODD = 'pay, in "€"\x7f'
TABLE = pyarrow.table(
    {
        "id": ["canary-jane"],
        "age": [41],
        ODD: [1234.5],
        "works": [True],
        "day": pyarrow.array([19000], pyarrow.date32()),
        "town": ["canary-town"],
    }
)
PERSON = Unit("id", groups=2, rows=3)


def test_names_and_types_are_all_that_is_told():
    text = skeleton(source_of(TABLE), "visits", PERSON)
    for value in ("canary", "41", "1234", "2022"):
        assert value not in text
    entry = tomllib.loads(text)
    assert entry["dataset"] == {"name": "visits"}
    assert entry["unit"] == {"column": "id", "groups": 2, "rows": 3, "neighbours": "add-remove"}
    kinds = {name: column["type"] for name, column in entry["columns"].items()}
    assert kinds == {"id": "text", "age": "integer", ODD: "real", "works": "boolean", "day": "date", "town": "?"}


def test_it_is_no_schema_before_it_is_filled_in_and_one_after():
    text = skeleton(source_of(TABLE), "visits", PERSON)
    with pytest.raises(InputError):
        Schema.from_dict(tomllib.loads(text))
    entry = tomllib.loads(text)
    entry["columns"]["age"] |= {"lower": 0, "upper": 120}
    entry["columns"][ODD] |= {"lower": 0, "upper": 1000}
    entry["columns"]["day"] |= {"lower": "2020-01-01", "upper": "2029-12-31"}
    entry["columns"]["town"] |= {"type": "category", "values": ["a", "b"]}
    schema = Schema.from_dict(entry)
    assert schema.unit == PERSON
    assert set(schema.columns) == set(TABLE.column_names)


def test_a_row_is_the_unit_where_nobody_is_told_apart_and_names_are_kept(tmp_path):
    (tmp_path / "t.csv").write_text("1,2\n")
    source = replace(source_of(tmp_path / "t.csv"), names=("a", "b"))
    entry = tomllib.loads(skeleton(source, "visits", Unit()))
    assert entry["unit"] == {"neighbours": "add-remove"}
    assert entry["dataset"]["names"] == ["a", "b"]
    assert entry["columns"]["a"]["type"] == "?"  # what a CSV file holds is text: nothing is guessed from it
