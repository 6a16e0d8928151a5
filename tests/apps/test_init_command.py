"""`discreet init` and the unit: options, answers typed at a terminal, and what is refused without either."""

import contextlib
import io
import sys
import tomllib

import pytest

from discreet.apps.cli import main

PERSON = ("--unit", "patient", "--groups", "3", "--rows", "10")


class Terminal(io.StringIO):
    """Someone who is there and types."""

    def isatty(self):
        return True


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.csv").write_text("patient,age\nCANARY,42\n")
    return tmp_path


def run(*words, code=0, typed=None):
    """What `discreet init visits.csv --header` says; `typed` by someone at a terminal, or nobody is there."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        patch.setattr(sys, "stdin", io.StringIO() if typed is None else Terminal(typed))
        with pytest.raises(SystemExit) as ended:
            main(["init", "visits.csv", "--header", *words])
    assert (ended.value.code or 0) == code, out.getvalue()
    return out.getvalue()


def unit_in(folder):
    return tomllib.loads((folder / "discreet.toml").read_text())["unit"]


def test_the_unit_and_its_limits_are_written_as_the_options_say(folder):
    run(*PERSON)
    assert unit_in(folder) == {"column": "patient", "groups": 3, "rows": 10, "neighbours": "add-remove"}
    columns = tomllib.loads((folder / "discreet.toml").read_text())["columns"]
    assert columns["patient"] == {"type": "text"}
    assert columns["age"]["type"] == "?"


def test_a_row_is_the_unit_where_that_was_said(folder):
    run("--unit", "row")
    assert unit_in(folder) == {"neighbours": "add-remove"}


@pytest.mark.parametrize(
    ("words", "typed"),
    [((), "patient\n3\n10\n"), (PERSON[:2], "3\n10\n"), (PERSON[:4], "many\n10\n"), (PERSON[2:], "patient\n")],
)
def test_what_no_option_says_is_asked_on_a_terminal(folder, words, typed):
    run(*words, typed=typed)
    assert unit_in(folder) == {"column": "patient", "groups": 3, "rows": 10, "neighbours": "add-remove"}


def test_a_row_can_be_typed_and_is_asked_for_no_limits(folder):
    run(typed="row\n")
    assert unit_in(folder) == {"neighbours": "add-remove"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "`--unit` must be given: it says who is protected"),
        (PERSON[:2], "`--groups` must be given where the unit is a person"),
        (PERSON[:4], "`--rows` must be given where the unit is a person"),
        (("--unit", "pateint"), "Did you mean `patient`?"),
        (("--unit", "row", "--rows", "3"), "`--rows` must be left out unless the unit is a person"),
        ((*PERSON[:4], "--rows", "0"), "`unit.rows` must be a whole number from 1"),
    ],
)
def test_nothing_is_assumed_or_written_where_nobody_is_there_to_say(folder, words, says):
    said = run(*words, code=2)
    assert says in said
    assert "CANARY" not in said
    assert not (folder / "discreet.toml").exists()


def test_a_column_called_row_is_not_mistaken_for_a_row(folder):
    (folder / "visits.csv").write_text("row,age\n1,42\n")
    assert "it is also the name of a column" in run("--unit", "row", code=2)
