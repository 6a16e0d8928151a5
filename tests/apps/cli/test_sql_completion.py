"""TAB at the prompt: words of SQL, functions, tables, columns and declared values."""

import pytest
from shell import folder_fixture

from discreet.apps.cli.sql_completion import SqlCompletion
from discreet.curator import open_curator

__all__ = ["folder_fixture"]


@pytest.fixture(name="completion")
def completion_fixture(folder):
    place = folder / ".discreet" / "ledger.db"
    return SqlCompletion({"people": open_curator(folder / "people.csv", folder / "discreet.toml", ledger=place)})


def test_it_offers_tables_columns_functions_keywords_and_declared_values(completion):
    assert completion.words("peo") == ["people"]
    assert {"county", "COUNT("} <= set(completion.words("CO"))
    assert {"county", "COUNT("} <= set(completion.words("cou"))
    assert completion.words("gro") == ["GROUP BY"]
    assert completion.words("'fem") == ["'female'"]
    assert completion.words(".b") == [".budget"]


def test_before_a_letter_is_typed_nothing_is_offered(completion):
    assert completion.words("") == []


def test_readline_gets_one_word_after_the_other_and_then_none(completion):
    assert [completion.complete("sec", number) for number in range(2)] == ["sector ", None]
    several = [completion.complete("s", number) for number in range(200)]
    assert {"sex", "sector", "schooling", "SELECT"} <= set(several)
    assert several[-1] is None
