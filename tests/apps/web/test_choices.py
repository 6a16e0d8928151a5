"""What the form of a question offers: declared names and values, and nothing from the data."""

from discreet.apps.web.choices import conditions, groupable, measures, summable, words
from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Text
from discreet.data.schema import Schema

SCHEMA = Schema(
    "people",
    {
        "age": Integer(0, 120),
        "home town": Category(["Ash", "O'Brien"]),
        "works": Boolean(),
        "day": Date("2024-01-01", "2024-12-31"),
        "remark": Text(),
    },
    unit=Unit("person", groups=1, rows=1),
)


def test_measures_say_which_fields_they_need():
    found = {name: (one.column, one.argument, one.sized) for name, one in measures().items()}
    assert found["count"] == (False, "", False)
    assert found["mean"] == (True, "", True)
    assert found["quantile"] == (True, "share", False)
    assert found["correlation"] == (True, "column", True)


def test_columns_are_offered_but_for_the_person():
    assert "age" in summable(SCHEMA)
    assert {name for name, how in groupable(SCHEMA) if not how} == {"home town", "works"}
    assert dict(groupable(SCHEMA))["remark"].startswith("?")
    assert "person" not in dict(groupable(SCHEMA))


def test_words_complete_columns_functions_and_declared_values():
    offered = {word: (about, of) for word, about, of in words(SCHEMA)}
    assert offered['"home town"'] == ("category", "")
    assert offered["'O''Brien'"] == ("home town", '"home town"')
    assert offered["AVG("] == ("mean", "()")
    assert offered["COUNT(DISTINCT person)"] == ("how many people", "()")
    assert "person" not in offered
    assert "\"home town\" = 'Ash'" in list(conditions(SCHEMA))
    assert "age <= 120" in list(conditions(SCHEMA))
