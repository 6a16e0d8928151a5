"""What may be asked of a hierarchy, and what is refused by name."""

from __future__ import annotations

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from tree_desk import COUNTIES, add_up

import discreet
from discreet import Budget, Category, Hierarchy, Integer, Schema, Text, col
from discreet.errors import InputError


def test_groups_by_size(tmp_path):
    rng = np.random.default_rng(5)
    houses = rng.integers(0, 1500, 4000)
    where = rng.choice(COUNTIES, 1500)
    rows = pyarrow.table({"county": where[houses].tolist(), "house": houses.astype(str).tolist()})
    schema = Schema("people", {"county": Category(COUNTIES, nullable=False), "house": Text()})
    curator = discreet.open(rows, schema, ledger=tmp_path / "books.db", budget=Budget(50), who="ann", create=True)
    question = curator.tree({"state": 2, "county": 5}, sizes="house", largest=8)
    for method in ("exact", "topdown"):
        release = question.plan(epsilon=2, method=method).release()
        add_up(release)
        for level in release.estimate.counts:
            assert (np.diff(level, axis=1) <= 0).all()
        exactly = release.sizes("county")
        assert min(exactly["count"]) >= 0
        assert sum(exactly["count"]) == release["all"]["at_least"][0]
        ends = zip(exactly["count_lower"], exactly["count"], exactly["count_upper"], strict=True)
        assert all(0 <= low <= count <= high for low, count, high in ends)
        true = len(set(houses.tolist()))
        assert abs(release["all"]["at_least"][0] - true) < 60
        with pytest.raises(InputError, match="plain counts"):
            release.totals("county")
    plain = curator.tree({"state": 2, "county": 5}, sizes="house", largest=8, cumulative=False)
    exact = plain.plan(epsilon=2).release()
    add_up(exact)
    assert exact.sizes("county")["count"] == exact["county"]["count"]


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"levels": []}, "levels"),
        ({"levels": "state"}, "levels"),
        ({"levels": ["county", "county"]}, "levels"),
        ({"levels": ["nation", "county"]}, "levels"),
        ({"levels": ["state", "sex"]}, "levels.sex"),
        ({"levels": ["state", "age"]}, "levels"),
        ({"levels": {"state": 3, "county": 5}, "geography": [1001]}, "geography.county"),
        ({"levels": {"state": 5, "county": 5}}, "levels.county"),
        ({"levels": ["state", "county"], "geography": "nowhere.csv"}, "geography"),
        ({"levels": ["state", "county"], "geography": {"county": COUNTIES}}, "geography"),
        ({"levels": ["state", "county"], "geography": 5}, "geography"),
        ({"levels": ["state", "county"], "by": ["nowhere"]}, "by"),
        ({"levels": ["state", "county"], "by": ["county"]}, "by"),
        ({"levels": ["state", "county"], "where": "nowhere = 3"}, "where"),
        ({"levels": ["state", "county"], "sizes": "sex"}, "largest"),
        ({"levels": ["state", "county"], "largest": 4}, "largest"),
    ],
)
def test_wrong_questions_are_refused(curator, asked, field):
    with pytest.raises(InputError) as problem:
        curator.tree(**asked)
    assert problem.value.field == field


def test_cells_and_the_leaf_column_may_be_expressions(tmp_path):
    rows = pyarrow.table({"code": [f"x{county}" for county in COUNTIES] * 3, "age": list(range(3 * len(COUNTIES)))})
    columns = {"code": Category([f"x{county}" for county in COUNTIES], nullable=False), "age": Integer(0, 99)}
    desk = discreet.open(rows, Schema("p", columns), ledger=tmp_path / "l.db", budget=Budget(10**7), create=True)
    draft = desk.tree({"state": 2, "county": 5}, column=col("code").str.slice(1), by=[col("age") >= 3])
    release = draft.plan(epsilon=10**6).release()
    add_up(release)
    assert release["all"]["count"] == [3, 3 * len(COUNTIES) - 3, 0]


def test_a_hierarchy_is_public_by_name():
    assert Hierarchy.from_prefixes(["a"], {"x": 1}).sizes == (1, 1)


def test_rules_may_be_a_dictionary_a_file_or_its_text(curator, tmp_path):
    from discreet import Rules

    text = 'by = "the office"\n[totals]\nall = 900\n'
    path = tmp_path / "rules.toml"
    path.write_text(text)
    for rules in (
        Rules(totals={"all": 900}),
        {"totals": {"all": 900}},
        text,
        path,
        str(path),
        '{"totals": {"all": 900}}',
    ):
        plan = curator.tree(["state", "county"], rules=rules).plan(epsilon=1).plan
        assert plan.expected == 900
    assert any("the office" in one for one in curator.tree(["county"], rules=text).plan(epsilon=1).plan.rules.declared)
    for wrong, said in (
        ("nowhere.toml", "a TOML or JSON file that exists"),
        ("totals = [", "TOML or JSON"),
        ({"totals": 5}, "level: numbers"),
        ({"total": {"all": 5}}, "an object with lower, upper, totals and weights"),
    ):
        with pytest.raises(InputError, match=said) as problem:
            curator.tree(["state", "county"], rules=wrong)
        assert problem.value.field == "rules"
