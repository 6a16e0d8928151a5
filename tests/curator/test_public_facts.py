"""What is public of data that is no table: words for a page, and nothing of what is private."""

from fractions import Fraction

from discreet.constraints.hidden.rules import Rules
from discreet.constraints.hidden.values import ValuesSchema
from discreet.curator.public_facts import numbers


def made(names, rules):
    return ValuesSchema("prices", Fraction(2), tuple(names), "EUR", "price", "region", rules)


def test_constraints_are_told_as_they_are_declared():
    linear = {"weights": {"north": 1, "west": "0.5"}, "least": 3, "most": 60}
    squares = {"weights": [1, 2], "squares": 1, "most": 4000}
    rules = Rules.read({"coast": linear, "peak": squares, "total": {"equal": 100}}, {"name": "losses", "squares": 2})
    shown = numbers(made(("north", "west"), rules))
    assert shown["distance"] == "2 EUR"
    assert shown["many"] == 2
    assert shown["rules"].rows == (
        ("coast", "north 1, west 0.5; of others 0", "0", "at least 3 and at most 60"),
        ("peak", "1, 2", "1", "at most 4000"),
        ("total", "1", "0", "equal to 100"),
        ("losses (objective)", "0", "2", "about as large as of the private numbers"),
    )


def test_many_names_and_weights_are_cut_short():
    names = [f"<{place}>" for place in range(150)]
    rules = Rules.read({"sum": {"weights": [1] * 150, "most": 9}}, {})
    shown = numbers(made(names, rules))
    assert str(shown["names"]).count("chip") == 1 + 100
    assert "and 50 more" in shown["names"]
    assert "&lt;0&gt;" in shown["names"]
    assert shown["rules"].rows[0][1].endswith("1 and 138 more")


def test_without_rules_there_is_no_table():
    assert numbers(made(("a",), Rules()))["rules"] == ""
