"""A budget written for a schema is read back as the same budget."""

import tomllib
from fractions import Fraction

import pytest

from discreet.curator.budget_text import amount_of, budget_toml, exact_text, with_budget
from discreet.curator.setup import budget_from
from discreet.errors import InputError
from discreet.ledger.budget import Allotment, Budget

PARTS = [
    Allotment("the team", "pure", epsilon="1/3"),
    Allotment("models", "zcdp", epsilon=1, delta="1e-6", failure_share="0.1"),
    Allotment("plans", "plan", epsilon="0.5", delta="1e-9"),
]


@pytest.mark.parametrize(
    "budget",
    [
        Budget(1),
        Budget("0.1", delta="1e-6"),
        Budget(rho="0.5"),
        Budget(rho="1/7", delta="1e-8"),
        Budget(3, delta="1e-5", allotments=PARTS),
        Budget(rho=1, allotments=[Allotment("a", "zcdp", rho="0.25"), Allotment("b", "zcdp", rho="0.5")]),
    ],
    ids=str,
)
def test_what_is_written_is_read_back_as_the_same(budget):
    assert budget_from(tomllib.loads(budget_toml(budget))["budget"]) == budget


def test_amounts_are_exact():
    assert amount_of(PARTS[0]) == "1/3"
    assert exact_text(Fraction(1, 10**9)) == "1e-9"
    assert Fraction(exact_text(Fraction(123456789, 2**20))) == Fraction(123456789, 2**20)


SCHEMA = """# Visits of a ward.
[dataset]
name = "visits"

# All that may ever be spent.
[budget]
epsilon = 1  # agreed in May

[budget.allotments.team]
kind = "pure"
epsilon = 1

# What columns hold.
[columns.age]
type = "integer"
lower = 0
upper = 100
"""


def test_a_schema_is_given_another_budget_and_keeps_the_rest():
    found = with_budget(SCHEMA, Budget(3))
    old, new = tomllib.loads(SCHEMA), tomllib.loads(found)
    assert new.pop("budget") == {"epsilon": 3}
    assert new == {name: value for name, value in old.items() if name != "budget"}
    for comment in (
        "# Visits of a ward.",
        "# All that may ever be spent.\n\n[budget]",
        "# What columns hold.\n[columns.age]",
    ):
        assert comment in found
    assert with_budget(found, Budget(3)) == found
    assert budget_from(tomllib.loads(with_budget('[dataset]\nname = "a"\n', Budget(2)))["budget"]) == Budget(2)


@pytest.mark.parametrize(
    "text", ["budget = {epsilon = 1}\n", "budget.epsilon = 1\n", "[budget\n", "a = '''\n[budget]\nb\n'''\n"]
)
def test_a_budget_in_another_form_is_not_touched(text):
    with pytest.raises(InputError, match="Nothing was written"):
        with_budget(text, Budget(2))
