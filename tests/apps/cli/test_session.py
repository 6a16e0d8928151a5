"""A session at the prompt: its price, its commands, and what a statement costs."""

import io
import sys

import pytest
from shell import folder_fixture

from discreet.apps.cli.session import Session
from discreet.curator import open_curator
from discreet.errors import InputError

__all__ = ["folder_fixture"]

SQL = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex;"


@pytest.fixture(name="curator")
def curator_fixture(folder, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return open_curator(folder / "people.csv", folder / "discreet.toml", ledger=folder / ".discreet" / "ledger.db")


def charges(curator):
    return [str(one.charged.charge.amount) for one in curator.ledger.releases("people")]


def test_several_statements_of_a_line_are_asked_one_after_the_other(curator, capsys):
    session = Session({"people": curator}, {"epsilon": "0.1"}, yes=True)
    session.run(
        "SELECT COUNT(*) AS n FROM people WHERE CAST(sex AS TEXT) LIKE 'f%;%'; SELECT COUNT(*) AS n FROM people; "
        "-- no more;"
    )
    assert charges(curator) == ["1/10", "1/10"]
    with pytest.raises(InputError, match="sexx"):
        session.run("SELECT sexx FROM people; SELECT COUNT(*) AS n FROM people;")
    assert len(charges(curator)) == 2


def test_a_statement_is_paid_for_at_the_price_that_was_set(curator, capsys):
    session = Session({"people": curator}, {"epsilon": "0.1"}, yes=True)
    session.run(SQL)
    session.run(".epsilon 0.02")
    session.run(SQL)
    session.run("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.03) COUNT(*) AS n FROM people;")
    assert charges(curator) == ["1/10", "1/50", "3/100"]
    assert capsys.readouterr().out.count("Plan for 'people'") == 3


def test_without_a_yes_it_is_planned_only(curator, capsys):
    session = Session({"people": curator})
    session.run(SQL)
    said = capsys.readouterr().out
    assert "Cost: epsilon = 0.05" in said
    assert "Planned only" in said
    assert charges(curator) == []


def test_commands_show_budget_tables_columns_and_releases(curator, capsys):
    session = Session({"people": curator}, {"epsilon": "0.1"}, yes=True)
    session.run(SQL)
    capsys.readouterr()
    session.run(".budget")
    assert "epsilon = 0.9" in capsys.readouterr().out
    session.run(".tables")
    assert "people" in capsys.readouterr().out
    session.run(".columns people")
    said = capsys.readouterr().out
    assert "female, male" in said
    assert "0 to 100" in said
    session.run(".releases")
    assert "at the prompt" in capsys.readouterr().out
    session.run(f".show {curator.releases()[0][:6]}")
    assert "nothing was spent now" in capsys.readouterr().out
    session.run(".within 40")
    assert "half-widths of 40" in capsys.readouterr().out
    session.run(".help")
    assert ".quit" in capsys.readouterr().out


def test_the_help_fits_its_terminal(curator, monkeypatch, capsys):
    session = Session({"people": curator})
    for width in (60, 80, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        session.run(".help")
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= min(width, 100)
        assert sum(not line.startswith(" ") for line in lines) == 8  # one beginning for each thing to type


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (".bugdet", "`.bugdet` is not known here. Did you mean `.budget`?"),
        (".epsilon none", "`.epsilon` must be given a number above zero"),
        (".epsilon -1", "`.epsilon` must be given a number above zero"),
        (".columns peeple", "Did you mean `people`?"),
        (".allotment other", "`.allotment` must be questions"),
        (".show", "`.show` must be given"),
        (".show nothing", "the id of a stored release"),
        ("SELECT sexx, COUNT(*) FROM people GROUP BY sexx;", "Did you mean `sex`?"),
        ("SELECT COUNT(*) AS n FROM peple;", "people"),
    ],
)
def test_mistakes_are_said_and_cost_nothing(curator, line, said):
    session = Session({"people": curator}, yes=True)
    with pytest.raises(InputError) as problem:
        session.run(line)
    assert said in str(problem.value)
    assert charges(curator) == []


def test_a_statement_ends_with_a_semicolon_and_a_command_with_its_line(curator):
    session = Session({"people": curator})
    assert [session.whole(text) for text in ("SELECT 1", "SELECT 1;", ".budget", "quit", "exit")] == [False] + [
        True
    ] * 4
    assert not session.ended
    session.run("quit")
    assert session.ended


def test_one_price_at_a_time(curator):
    with pytest.raises(InputError, match="`price` must be one of epsilon, rho, share and within"):
        Session({"people": curator}, {"epsilon": "1", "rho": "1"})
