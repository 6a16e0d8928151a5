"""The first draft of a schema: of what somebody said, and of names and stored types."""

import pytest

from discreet.core.unit import Unit
from discreet.curator.schema_draft import draft_schema, other_delimiter, unit_of, with_delimiter, with_names
from discreet.data.source import source_of
from discreet.errors import InputError


@pytest.fixture
def source(tmp_path):
    (tmp_path / "visits.csv").write_text("patient;age\nCANARY;42\n")
    return source_of(str(tmp_path / "visits.csv"))


def test_a_delimiter_that_divides_the_first_line_is_suggested_and_used(source):
    assert other_delimiter(source) == ";"
    read = with_names(with_delimiter(source, ";"), header=True)
    assert other_delimiter(read) is None
    draft = draft_schema(read, "visits", Unit())
    assert draft.columns == ("patient", "age")
    assert 'delimiter = ";"' in draft.text
    assert (draft.guessed, draft.warnings) == (None, ())
    assert "CANARY" not in draft.text
    assert draft_schema(read, "visits", Unit(), types=True).guessed == 2


def test_a_unit_is_what_was_said_and_never_assumed():
    assert unit_of(["who"], "who", 2, 3) == Unit("who", groups=2, rows=3)
    assert unit_of(["who"], "row") == Unit()
    for unit, groups, rows, says in (
        ("who", None, 1, "`groups`"),
        ("who", 1, None, "`rows`"),
        ("whom", 1, 1, "Did you mean `who`"),
        ("row", 1, None, "left out unless the unit is a person"),
    ):
        with pytest.raises(InputError, match=says):
            unit_of(["who"], unit, groups, rows)
    with pytest.raises(InputError, match="unambiguous"):
        unit_of(["row"], "row")


def test_names_and_delimiters_are_for_files_of_lines(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    other = source_of(str(tmp_path / "t.parquet"))
    for change in (lambda: with_delimiter(other, ";"), lambda: with_names(other, header=True)):
        with pytest.raises(InputError, match="CSV or TSV"):
            change()
    assert other_delimiter(other) is None
