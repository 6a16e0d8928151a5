"""Tables fit the terminal: columns are left out in a stated order, which is said."""

import os
import subprocess
import sys

import pytest
from shell import folder_fixture, run

from discreet.apps.cli import output
from discreet.apps.cli.table_width import fitting_columns, terminal_width, wrapped

__all__ = ["folder_fixture"]

ORDER = ("allotment", "who", "dataset", "time", "why", "outcome")  # of charges, the first to go first


def test_columns_go_in_the_stated_order_and_only_as_many_as_must():
    widths = [10, 10, 10, 10]
    full = 4 * 13 + 1
    assert fitting_columns(widths, full, [2, 1]) == [0, 1, 2, 3]
    assert fitting_columns(widths, full - 1, [2, 1]) == [0, 1, 3]
    assert fitting_columns(widths, full - 14, [2, 1]) == [0, 3]
    assert fitting_columns(widths, 5, [2, 1]) == [0, 3]
    assert fitting_columns(widths, None, [2, 1]) == [0, 1, 2, 3]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_ledgers_lists_and_releases_fit(folder, monkeypatch, width):
    question = ("ask", "people.csv", "count", "mean(pay)", "sum(hours)", "--by", "sex", "--epsilon", "0.1")
    run(*question, "--id", "hours-and-pay", "--why", "the yearly report of the office", "--yes", cwd=folder)
    monkeypatch.setenv("COLUMNS", str(width))
    for words in (("ledger", "show"), ("releases", "list"), ("releases", "show", "hours")):
        said = run(*words, cwd=folder).stdout
        assert max(len(line) for line in said.splitlines()) <= width
        assert ("Columns not shown" in said) is (width < 200)


def test_what_is_not_shown_is_named_in_the_order_of_the_table(folder, monkeypatch):
    run("ask", "people.csv", "count", "--epsilon", "0.1", "--yes", cwd=folder)
    monkeypatch.setenv("COLUMNS", "70")
    said = run("ledger", "show", cwd=folder).stdout.partition("Charges")[2]
    shown = said.splitlines()[2]
    gone = [name for name in ORDER if f" {name} " not in shown]
    assert gone == list(ORDER[: len(gone)])
    assert gone
    assert all(name in said.rpartition("70 characters: ")[2] for name in gone)


def test_in_a_file_nothing_is_left_out(folder, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    run("ask", "people.csv", "count", "--epsilon", "0.1", "--yes", cwd=folder)
    said = run("ledger", "show", cwd=folder).stdout
    assert "not shown" not in said
    assert all(name in said for name in ORDER)


def test_the_width_is_that_of_columns_else_none_in_a_file(monkeypatch):
    monkeypatch.setenv("COLUMNS", "72")
    assert terminal_width() == 72
    monkeypatch.setenv("COLUMNS", "wide")
    assert terminal_width() is None


def test_lines_are_broken_between_words_and_set_in(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    text = "  Note: each person counts in at most one group\nshort"
    assert wrapped(text) == "  Note: each person counts in\n    at most one group\nshort"
    monkeypatch.delenv("COLUMNS")
    assert wrapped(text) == text


def test_unless_stated_columns_go_from_the_right_and_two_stay(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "30")
    output.show_table("", ["a", "b", "c", "d"], [["x" * 10] * 4])
    said = capsys.readouterr().out
    assert "to fit 30 characters: c, d." in " ".join(said.split())
    assert said.count("x" * 10) == 2


def test_a_table_of_one_wide_column_is_shown_all_the_same(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    output.show_table("", ["name", "text"], [["a", "word " * 30]], drop=())
    said = capsys.readouterr().out
    assert said.count("word") == 30
    assert "not shown" not in said


def test_neither_a_test_nor_what_it_starts_is_told_the_size_of_a_terminal():
    """pytest loads readline, which sets it behind Python's back; conftest.py takes it away again."""
    shown = "import os; print(os.environ.get('COLUMNS'))"
    started = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert (os.environ.get("COLUMNS"), started.stdout) == (None, "None\n")
