"""A budget as a custodian decides on it in a shell: opened, raised, lowered, closed."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from custodian import (
    books,
    folder_fixture,  # noqa: F401
    run,
    spend,
)

from discreet.errors import BudgetError
from discreet.ledger.budget import Allotment, Budget

SHIPPED = Path(str(files("discreet.apps.demo")))


# raise


def test_a_budget_is_raised_and_that_is_on_record(folder):
    told = run("raise", "people", "--epsilon", "2", "--who", "rosa", "--why", "the board", "--yes")
    assert "questions: epsilon = 1 -> epsilon = 2. Left: epsilon = 1.6." in told
    assert "[budget] of the schema" in told
    assert books().remaining("people").amount * 10 == 16
    last = list(books().records())[-1]
    assert (last.kind, last.who, last.why) == ("open", "rosa", "the board")
    assert books().account("people").unit == "everything of one person, added or removed"
    assert books().account("people").budget == Budget(epsilon=2)


def test_a_raise_as_json_has_exact_numbers(folder):
    told = json.loads(run("raise", "people", "--epsilon", "2", "--why", "w", "--yes", "--json"))
    assert told["budgets"][0]["left"]["amount"] == "8/5"
    assert told["head"] == {"sequence": books().head().sequence, "hash": books().head().hash}


def test_the_schema_says_how_large(folder):
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(SHIPPED / name, name)
    text = Path("discreet.toml").read_text()
    Path("discreet.toml").write_text(text.replace("epsilon = 1.0", "epsilon = 1.5"))
    told = run("raise", "people", "--why", "w", "--yes")
    assert "epsilon = 1 -> epsilon = 1.5" in told
    assert "Write the same" not in told


def test_a_divided_budget_is_raised_by_its_schema(folder):
    parts = [Allotment("research", "pure", epsilon="0.7"), Allotment("press", "pure", epsilon="0.3")]
    books().create("visits", Budget(epsilon=1, allotments=parts), who="ann")
    assert "divided" in run("raise", "visits", "--epsilon", "2", "--why", "w", "--yes", code=2)
    schema = """
[dataset]
name = "visits"
[unit]
column = "person"
groups = 1
rows = 1
[budget]
epsilon = 2
[budget.allotments.research]
kind = "pure"
epsilon = 0.7
[budget.allotments.press]
kind = "pure"
epsilon = 0.5
[budget.allotments.city]
kind = "pure"
epsilon = 0.8
[columns.age]
type = "integer"
lower = 0
upper = 100
"""
    Path("visits.toml").write_text(schema)
    told = run("raise", "visits", "--schema", "visits.toml", "--why", "w", "--yes")
    assert "press: epsilon = 0.3 -> epsilon = 0.5. Left: epsilon = 0.5." in told
    assert "city: new: epsilon = 0.8." in told
    Path("visits.toml").write_text(schema.replace("epsilon = 0.7", "epsilon = 0.6"))
    assert "ledger lower" in run("raise", "visits", "--schema", "visits.toml", "--why", "w", "--yes", code=2)
    assert "the schema of 'people'" in run("raise", "people", "--schema", "visits.toml", "--why", "w", code=2)


def test_a_delta_stays_unless_another_is_named(folder):
    books().create("visits", Budget(epsilon=1, delta=1e-6), who="ann")
    run("raise", "visits", "--epsilon", "2", "--why", "w", "--yes")
    assert books().account("visits").budget == Budget(epsilon=2, delta=1e-6)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["people", "--epsilon", "0.5"], "ledger lower"),
        (["people", "--epsilon", "1"], "larger than 'people' has"),
        (["people", "--rho", "2"], "allotment.rho"),
        (["people", "--delta", "1e-6"], "left out unless --epsilon or --rho"),
        (["people", "--epsilon", "two"], "two"),
        (["nobody", "--epsilon", "2"], "a dataset with a budget on this ledger: people"),
        (["people"], "a schema with the new [budget]"),
        (["people", "--epsilon", "2", "--schema", "x.toml"], "left out where options name the budget"),
        (["people", "--epsilon", "2", "--ledger", "gone.db"], "There is no ledger at gone.db"),
    ],
)
def test_a_raise_that_is_none_changes_nothing(folder, words, says):
    before = books().head()
    assert says in run("raise", *words, "--why", "w", "--yes", code=2)
    assert books().head() == before
    assert not Path("gone.db").exists()


def test_a_budget_is_opened_by_a_command_and_a_new_name_is_asked_about(folder):
    schema = SHIPPED.joinpath("discreet.toml").read_text().replace('name = "people"', 'name = "peple"')
    Path("discreet.toml").write_text(schema)
    assert "--yes" in run("open", code=2)
    run("open", typed="n\n", code=1)
    assert books().datasets() == ("people",)
    run("open", typed="y\n")
    assert books().datasets() == ("people", "peple")


def test_a_budget_is_lowered_to_what_is_spent_on_record(folder):
    assert "at least what is spent" in run("lower", "people", "--epsilon", "0.3", "--why", "w", "--yes", code=2)
    assert "at most" in run("lower", "people", "--epsilon", "3", "--why", "w", "--yes", code=2)
    told = run("lower", "people", "--epsilon", "0.4", "--who", "rosa", "--why", "enough", "--yes")
    assert "questions: epsilon = 1 -> epsilon = 0.4. Left: epsilon = 0." in told
    assert (list(books().records())[-1].who, books().verify().ok) == ("rosa", True)


def test_a_budget_is_closed_for_good(folder):
    told = run("close", "people", "--why", "the study is over", "--yes")
    assert "Left: epsilon = 0." in told
    with pytest.raises(BudgetError, match="closed"):
        spend(books(), "second", "0.1")
    assert "closed" in run("raise", "people", "--epsilon", "2", "--why", "w", "--yes", code=2)
    assert books().verify().ok


# divide


def test_a_budget_is_divided_by_its_schema(folder):
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(SHIPPED / name, name)
    whole = Path("discreet.toml").read_text()
    parts = "".join(f"[budget.allotments.{name}]\nkind = 'pure'\nepsilon = 0.5\n" for name in ("questions", "models"))
    Path("discreet.toml").write_text(whole.replace("[columns.age]", parts + "[columns.age]", 1))
    told = run("divide", "people", "--why", "a part for models", "--yes")
    assert "questions: epsilon = 1 -> epsilon = 0.5. Left: epsilon = 0.1." in told
    assert "models: new: epsilon = 0.5. Left: epsilon = 0.5." in told
    assert "divided otherwise than" in run("divide", "people", "--why", "w", "--yes", code=2)
    Path("discreet.toml").write_text(whole)
    told = run("divide", "people", "--why", "w", "--yes")
    assert "models: epsilon = 0.5 -> none." in told
    assert [one.allotment.name for one in books().standing("people")] == ["questions"]
