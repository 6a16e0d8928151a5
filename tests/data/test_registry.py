"""The table of kinds of sources: what a person types leads to one kind, and kinds keep out of each other's way."""

import pytest

from discreet.data.registry import SOURCES, SourceKind, kind_for, register_source
from discreet.errors import InputError


@pytest.fixture
def table(monkeypatch):
    """The table, as it is again afterwards."""
    before = dict(SOURCES)
    yield SOURCES
    SOURCES.clear()
    SOURCES.update(before)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("visits.csv", "files"),
        ("visits", "files"),
        ("a folder/*.parquet", "files"),
        ("postgresql://host/db", "postgres"),
        ("sc://host:15002", "spark"),
        ("gs://bucket/visits", "objects"),
    ],
)
def test_an_address_leads_to_its_kind(place, name):
    assert kind_for(place).name == name


def test_a_kind_of_one_s_own(table):
    def opened(place, name):
        raise NotImplementedError

    register_source(SourceKind("lines", "a file of JSON lines", opened, schemes=("lines",), endings=(".jsonl",)))
    assert kind_for("Visits.JSONL").name == kind_for("lines://here").name == "lines"
    with pytest.raises(InputError, match="a file of JSON lines"):
        kind_for("ftp://host")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ({"name": "files", "endings": (".x",)}, "no other kind of source has"),
        ({"endings": (".csv",)}, "'files' has it"),
        ({"schemes": ("s3",)}, "'objects' has it"),
        ({"schemes": ("S4",)}, "small letters"),
        ({"schemes": ("a://",)}, "small letters"),
        ({"endings": ("jsonl",)}, "after a point"),
        ({}, "schemes or endings"),
        ({"endings": (".x",), "open": "no function"}, "a function that opens it"),
    ],
)
def test_what_is_no_kind_is_refused(table, kind, words):
    before = dict(table)
    with pytest.raises(InputError, match=words):
        register_source(SourceKind(**{"name": "mine", "words": "mine", "open": lambda place, name: None, **kind}))
    assert table == before
