"""Rules as people write them: in a file, by code and label, with who declared them."""

import numpy as np
import pytest
from tree_desk import COUNTIES

from discreet import Rules
from discreet.errors import InputError
from discreet.trees.declaration import load_rules, read_rules, resolve_rules
from discreet.trees.rules import NO_BOUND
from discreet.trees.tree import Hierarchy

TREE = Hierarchy.from_prefixes(["a1", "a2", "b1"], {"state": 1, "county": 2})
CELLS = [("sex", ["f", "m"]), ("births", [0, 1, 2])]
FILE = """
by = "Statistics Act, section 3"

[totals]
all = 50
state = { file = "states.csv", by = "Register of residents" }

[upper]
county = { regions = { a2 = 4 } }

[lower]
county = { value = 0 }

[[zeros]]
cells = { sex = "m", births = 1 }
by = "by definition"

[[zeros]]
cells = { sex = "m", births = 2 }
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "states.csv").write_text("state,people\na,40\n")
    path = tmp_path / "rules.toml"
    path.write_text(FILE)
    return path


def test_a_file_becomes_bounds_totals_and_zeros(file):
    rules = resolve_rules(Rules(**load_rules(str(file))), TREE, CELLS)
    bounds = rules.bounds(TREE, 6)
    assert bounds.totals[0].tolist() == [50]
    assert bounds.totals[1].tolist() == [40, -1]
    assert bounds.upper[2].tolist() == [[NO_BOUND] * 4 + [0, 0], [4] * 4 + [0, 0], [NO_BOUND] * 4 + [0, 0]]
    assert resolve_rules(rules, TREE, CELLS).declared == rules.declared


def test_every_rule_says_who_declared_it(file):
    assert resolve_rules(Rules(**load_rules(str(file))), TREE, CELLS).declared == (
        "Lower bounds of county: declared public by Statistics Act, section 3.",
        "Upper bounds of county: declared public by Statistics Act, section 3.",
        "Totals of all: declared public by Statistics Act, section 3.",
        "Totals of state: declared public by Register of residents.",
        "No one in sex m, births 1: declared public by by definition.",
        "No one in sex m, births 2: declared public by Statistics Act, section 3.",
    )
    (line,) = resolve_rules(Rules(upper={"county": 3}), TREE, CELLS).declared
    assert line == "Upper bounds of county: declared public; by whom is not said."


def test_json_is_read_as_before_and_names_no_file():
    assert read_rules('{"upper": {"county": [1, 2, 3]}}') == {"upper": {"county": [1, 2, 3]}}
    with pytest.raises(InputError, match="command line"):
        read_rules('[upper]\ncounty = { file = "/etc/passwd" }')


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("rules", "[upper"),
        ("rules.most", "[most]\ncounty = 1"),
        ("rules.upper", "upper = 3"),
        ("rules.upper.county", "[upper]\ncounty = { value = 1, regions = { a1 = 2 } }"),
        ("rules.zeros", "zeros = 3"),
        ("rules.zeros.0", "[[zeros]]\nby = 'me'\ncells = {}"),
        ("rules.upper.county.zz", "[upper]\ncounty = { regions = { zz = 1 } }"),
        ("rules.upper.county.a1", "[upper]\ncounty = { regions = { a1 = 1.5 } }"),
        ("rules.zeros.0.age", "[[zeros]]\ncells = { age = 3 }"),
        ("rules.zeros.0.sex", "[[zeros]]\ncells = { sex = 'x' }"),
        ("rules.by", "by = 3\n[upper]\ncounty = { value = 1, by = 3 }"),
        ("rules.upper", "[upper]\ntown = { regions = { a1 = 1 } }"),
    ],
)
def test_what_is_wrong_is_named(field, text):
    with pytest.raises(InputError) as caught:
        resolve_rules(Rules(**read_rules(text)), TREE, CELLS)
    assert caught.value.field == field


def test_a_release_keeps_rules_by_code_and_label_and_so_does_another_method(curator):
    rules = Rules(upper={"county": {COUNTIES[0]: 0}}, zeros=[{"sex": "m"}], by={"": "the office"})
    release = curator.tree(["state", "county"], by=["sex"], rules=rules).plan(epsilon=1).release()
    for found in (release, release.again("topdown", rules=rules)):
        counts = found.estimate.counts[2]
        assert counts[0].tolist() == [0, 0]
        assert not counts[:, 1].any()
        assert np.array_equal(found.estimate.counts[0][0], counts.sum(axis=0))


@pytest.mark.parametrize("name", ["total.all", "zeroes", "upper.state", "zeros.1"])
def test_who_declared_a_rule_that_there_is_not_is_refused(curator, name):
    rules = Rules(upper={"county": {COUNTIES[0]: 0}}, zeros=[{"sex": "m"}], by={name: "the office"})
    with pytest.raises(InputError, match=r"rules\.by"):
        curator.tree(["state", "county"], by=["sex"], rules=rules).plan(epsilon=1)


def test_zeros_of_cells_that_are_not_told_apart_are_refused_in_words(curator):
    with pytest.raises(InputError, match="unless `by` names the columns"):
        curator.tree(["state", "county"], rules=Rules(zeros=[{"sex": "m"}])).plan(epsilon=1)
