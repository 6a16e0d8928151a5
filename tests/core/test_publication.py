"""What every release says of itself: where it came from, what it cost, and what to know of its numbers."""

from dataclasses import dataclass, replace

from discreet.core.note import Note
from discreet.core.publication import Publication, rows_table

NOTE = Note("bins", "Values inside a bin are drawn evenly.", ())
ROWS = Publication(
    id="r1",
    dataset="visits",
    cost="rho = 0.1",
    remaining="rho = 0.4",
    mechanism="discrete Gaussian",
    digest="0123456789abcdef",
    data="2024-02",
    caveats=(NOTE,),
)


def test_provenance_is_what_tables_of_it_say_too():
    table = rows_table({"age": [1, 2], "sex": ["f", "m"]}, ROWS)
    assert {name: getattr(table, name) for name in ROWS.provenance} == ROWS.provenance
    assert (table.keys, table.outputs, len(table)) == (("age", "sex"), (), 2)
    assert ROWS.about == "cost rho = 0.1; left: rho = 0.4; release r1; data 2024-02; 0123456789ab"


def test_a_stale_answer_says_so_first_and_in_every_table():
    stale = replace(ROWS, stale="It may describe earlier data.")
    assert stale.notes == ("It may describe earlier data.", NOTE.text)
    assert ROWS.notes == (NOTE.text,)
    notes = rows_table({"age": [1]}, stale).notes
    assert [note.kind for note in notes] == ["data", "bins"]
    assert [note.outputs for note in stale.table_notes("mean")] == [("mean",), ("mean",)]


def test_whether_it_was_replayed_or_is_stale_is_no_part_of_what_it_is():
    assert replace(ROWS, replayed=True, stale="old") == ROWS
    assert "replayed" not in ROWS.to_dict()
    assert ROWS.tables() == {}


def test_a_kind_adds_its_own_fields_after_those_every_release_has():
    @dataclass(frozen=True, kw_only=True)
    class Model(Publication):
        steps: int

    assert Model(**ROWS.provenance, steps=3).to_dict() == ROWS.to_dict()
