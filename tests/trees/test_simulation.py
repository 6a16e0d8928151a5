"""A plan tried out on a made-up table: more noise misplaces more people, and nothing private is needed."""

import numpy as np
import pytest
from tree_desk import COUNTIES

from discreet.errors import InputError
from discreet.trees.simulation import Simulation, _first_leaves, simulate
from discreet.trees.tree import Hierarchy

GEOGRAPHY = {"part": [f"{one // 25:02}" for one in range(300)], "county": [f"{one:04}" for one in range(300)]}


def offer(curator, epsilon, **terms):
    return curator.tree(["part", "county"], geography=GEOGRAPHY, by=["sex"], column="code", **terms).plan(
        epsilon=epsilon
    )


@pytest.fixture
def coded(tmp_path):
    import pyarrow

    import discreet
    from discreet import Budget, Category, Schema, Text

    schema = Schema("people", {"code": Text(), "sex": Category(["f", "m"], nullable=False)})
    rows = pyarrow.table({"code": ["0000"], "sex": ["f"]})
    return discreet.open(rows, schema, ledger=tmp_path / "books.db", budget=Budget(10), who="ann", create=True)


def test_more_noise_places_more_people_in_empty_regions_and_bends_large_ones(coded):
    rough, fine = (simulate(offer(coded, epsilon, expected=6000).plan, 6000) for epsilon in ("0.05", 5))
    assert 0 <= fine.misplaced < 0.02 < rough.misplaced < 0.6
    (*_, (_, _, _, few)), (*_, (_, _, _, many)) = fine.classes, rough.classes
    assert many < -0.1 < few < 0.1
    assert simulate(offer(coded, 5, expected=6000).plan, 6000) == fine


def test_a_covariate_shapes_the_table_that_is_tried(coded):
    public = dict.fromkeys(GEOGRAPHY["county"], 20)
    found = simulate(offer(coded, "0.05", expected=6000, covariate=public).plan, 6000)
    assert found.misplaced == 0  # no region is taken to be empty


def test_the_plan_says_so_where_a_total_is_public_and_advises_against_levels_of_noise(coded):
    assert "Simulated" not in str(offer(coded, 1))
    text = str(offer(coded, "0.05", expected=6000))
    assert "placed in a county that is empty" in text
    assert "A county has 20 on average" in text
    assert "Errors of totals, relative to the mean region: all " in text
    assert "A part has" not in str(offer(coded, 5, expected=10**6))


def test_a_public_total_of_the_root_is_what_is_expected(curator):
    from discreet import Rules

    plan = curator.tree(["state", "county"], by=["sex"], rules=Rules(totals={"all": 900})).plan(epsilon=1).plan
    assert plan.expected == 900
    assert plan.sparse == ()
    none = curator.tree(["state", "county"], by=["sex"], rules=Rules(totals={"all": [-1]})).plan(epsilon=1).plan
    assert none.expected is None


def test_the_first_leaves_lie_in_the_regions_they_lie_in():
    tree = Hierarchy.from_levels({"state": ["01", "02"], "county": COUNTIES})
    part = _first_leaves(tree, 5)
    assert part.sizes == (1, 2, 5)
    assert [level.tolist() for level in part.sums(np.ones(5, np.int64))] == [[5], [4, 1], [1] * 5]


def test_a_release_is_tried_out_on_a_table_that_might_be_the_true_one(curator):
    sharp = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=8).release()
    blunt = curator.tree(["state", "county"], by=["sex"]).plan(epsilon="0.001").release()
    assert sharp.simulation == curator.release(sharp.id).simulation
    assert 0 <= sharp.simulation.misplaced <= 1
    assert all(abs(off) < 0.5 for low, _, _, off in sharp.simulation.classes if low >= 100)
    assert blunt.simulation != sharp.simulation
    assert 0 <= blunt.again("topdown").simulation.misplaced <= 1
    groups = curator.tree(["state", "county"], sizes="sex", largest=3).plan(epsilon=1).release()
    with pytest.raises(InputError, match="simulation"):
        _ = groups.simulation


def test_a_simulation_is_told_as_text_and_as_plain_values(coded):
    found = offer(coded, "0.05", expected=6000)
    told = found.to_dict()["simulation"]
    tried = simulate(found.plan, 6000)
    assert told == tried.to_dict()
    assert told["leaf"] == "county"
    assert told["misplaced"] == tried.misplaced
    assert [one["from"] for one in told["classes"]] == [low for low, *_ in tried.classes]
    assert str(tried) in str(found)
    assert "simulation" not in offer(coded, 1).to_dict()
    last = Simulation(0.25, ((1, 9, 4, -0.5), (1000, 10**12 - 1, 2, 0.0)), "block")
    assert last.sizes == ("1 to 9", "1,000 and more")
    assert last.to_dict()["classes"][-1]["to"] is None
    assert str(last).startswith(
        "25.0% are placed in a block that is empty; a block is off on average by -50% at 1 to 9"
    )
    assert str(Simulation(0.0, ())) == "nobody is there."
