"""Notes: known kinds, to and from plain values, and in words."""

import re
from pathlib import Path

import pytest

import discreet
from discreet.core.note import NOTES, Note


@pytest.mark.parametrize("kind", NOTES)
def test_a_note_comes_back_from_plain_values(kind):
    note = Note(kind, "Values outside 0..10 are clipped to the nearer bound.", ("mean_pay", "sum_pay"))
    assert Note.from_dict(note.to_dict()) == note


def test_a_note_names_its_outputs_and_one_about_everything_names_none():
    assert str(Note("bounds", "Clipped.", ("a", "b"))) == "a, b: Clipped."
    assert str(Note("data", "Stored before.", ())) == "Stored before."


def test_every_note_that_is_written_is_of_a_known_kind():
    sources = (path.read_text() for path in Path(discreet.__file__).parent.rglob("*.py"))
    written = {kind for source in sources for kind in re.findall(r'\bNote\(\s*"([a-z]+)"', source)}
    assert len(written) > 20
    assert written <= set(NOTES)


def test_every_kind_of_note_is_written_somewhere():
    source = "\n".join(path.read_text() for path in Path(discreet.__file__).parent.rglob("*.py"))
    unused = [kind for kind in NOTES if source.count(f'"{kind}"') < 2]
    assert unused == []
