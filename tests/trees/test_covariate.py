"""Public covariates: read from tables by region and cell, used where they say something, refused where wrong."""

import numpy as np
import pytest
from sparse_trees import asked
from tree_desk import COUNTIES

from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.noise.replay import Replay
from discreet.trees.bayes import bayes
from discreet.trees.covariate import covariate_table, read_covariate
from discreet.trees.intervals.typical import remeasure, with_typical
from discreet.trees.rules import Rules
from discreet.trees.tree import Hierarchy

TREE = Hierarchy.from_prefixes(["a1", "a2", "b1"], {"state": 1, "county": 2})
SEX = [("sex", ["f", "m"])]


def test_a_number_for_each_region_comes_by_code_or_as_a_table(tmp_path):
    by_code = {"a1": 3, "a2": 0, "b1": 2.5, "z9": 7}
    table = {"state": ["a", "a", "b"], "county": ["a2", "a1", "b1"], "units": ["0", "3", "2.5"]}
    file = tmp_path / "units.csv"
    file.write_text("county,units\na1,3\nb1,2.5\na2,0\n")
    for given in (by_code, table, str(file)):
        assert read_covariate(covariate_table(given), TREE, "county", SEX).tolist() == [[3], [0], [2.5]]


def test_a_table_with_the_columns_of_cells_has_one_for_each_cell():
    table = {"county": ["a1", "a1", "a2", "b1"], "sex": ["m", "f", "f", "m"], "last": [1, 2, 3, 4]}
    assert read_covariate(table, TREE, "county", SEX).tolist() == [[2, 1], [3, 0], [0, 4]]


@pytest.mark.parametrize(
    ("field", "table"),
    [
        ("covariate", {"a1": 3, "a2": 0}),
        ("covariate.a2", {"a1": 3, "a2": -1, "b1": 1}),
        ("covariate.a1", {"county": ["a1"], "units": ["many"]}),
        ("covariate", {"county": ["a1", "a1"], "units": [1, 2]}),
        ("covariate", {"county": ["a1"], "units": [1], "homes": [2]}),
        ("covariate", {"town": ["a1"], "units": [1]}),
        ("covariate", {"county": "a1", "units": [1]}),
        ("covariate.sex", {"county": ["a1"], "sex": ["x"], "units": [1]}),
    ],
)
def test_what_is_wrong_with_a_table_is_named(field, table):
    with pytest.raises(InputError) as caught:
        read_covariate(table, TREE, "county", SEX)
    assert caught.value.field == field


def world(seed):
    """Many small regions, and a covariate that goes with them."""
    random = np.random.default_rng(seed)
    columns = {"region": [f"{one // 30:03}" for one in range(1500)], "part": [f"{one:05}" for one in range(1500)]}
    size = random.gamma(0.8, 50, 1500) * (random.random(1500) > 0.2)
    leaves = random.poisson(size[:, None] * np.array([0.6, 0.3, 0.1])).astype(np.int64)
    return Hierarchy.from_columns(columns), leaves, np.round(leaves.sum(axis=1) * random.lognormal(0, 0.4, 1500))


def error(estimate, leaves):
    return np.abs(estimate.totals[-1] - leaves.sum(axis=1)).mean()


def test_a_covariate_makes_totals_better_and_a_useless_one_no_worse():
    tree, leaves, public = world(3)
    measured = remeasure(asked(tree, 3, Laplace(30), Laplace(60)), leaves, Replay(b"covariate"))
    plain = error(bayes(measured), leaves)
    assert error(bayes(measured, Rules(covariate=public)), leaves) < 0.75 * plain
    useless = np.random.default_rng(1).permutation(public)
    assert error(bayes(measured, Rules(covariate=useless)), leaves) < 1.05 * plain
    by_cell = Rules(covariate=leaves + 1.0)
    cells = [np.abs(bayes(measured, rules).counts[-1] - leaves).mean() for rules in (Rules(), by_cell)]
    assert cells[1] < 0.7 * cells[0]


@pytest.mark.statistical
def test_intervals_hold_with_a_covariate_and_with_a_useless_one():
    tree, leaves, public = world(4)
    measured = remeasure(asked(tree, 3, Laplace(10), Laplace(20)), leaves, Replay(b"held"))
    for covariate in (public, np.random.default_rng(2).permutation(public)):
        rules = Rules(covariate=covariate)
        found = with_typical(bayes(measured, rules), measured, rules, bayes, 0.95).typical
        inside = (found.total_lower[-1] <= leaves.sum(axis=1)) & (leaves.sum(axis=1) <= found.total_upper[-1])
        assert 0.91 < inside.mean() < 0.999


def test_it_is_asked_for_with_the_rest_and_its_use_is_in_the_plan(curator):
    public = {code: 10 + place for place, code in enumerate(COUNTIES)}
    offer = curator.tree(["state", "county"], by=["sex"], covariate=public).plan(epsilon=1)
    assert "Covariate of the leaf regions" in str(offer)
    release = offer.release()
    assert sum(release["county"]["count"]) == sum(release["all"]["count"])
    again = curator.release(release.id)
    assert again.rules.covariate.ravel().tolist() == list(public.values())
    assert again.again("bayes").estimate.totals[2].tolist() == release.estimate.totals[2].tolist()
    assert offer.plan.digest != curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1).plan.digest
    with pytest.raises(InputError, match="covariate"):
        curator.tree(["state", "county"], covariate=public).plan(epsilon=1, method="topdown")
    with pytest.raises(InputError, match=COUNTIES[0]):
        curator.tree(["state", "county"], covariate={COUNTIES[1]: 1}).plan(epsilon=1)
