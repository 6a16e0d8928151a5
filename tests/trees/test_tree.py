"""Trees from prefixes, levels and columns: the same tree each way, and a clear word for each that is none."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.trees.tree import Hierarchy

LEVELS = {
    "state": ["44", "25"],
    "county": ["44001", "44003", "25001"],
    "block": ["440011", "440031", "250012", "250011"],
}


def same(one, two):
    return one.to_dict() == two.to_dict()


def test_levels_prefixes_and_columns_make_the_same_tree():
    by_levels = Hierarchy.from_levels(LEVELS)
    blocks = LEVELS["block"]
    by_prefixes = Hierarchy.from_prefixes(blocks, {"state": 2, "county": 5, "block": 6})
    by_columns = Hierarchy.from_columns(
        {"state": [b[:2] for b in blocks], "county": [b[:5] for b in blocks], "block": blocks}
    )
    assert same(by_levels, by_prefixes)
    assert same(by_levels, by_columns)
    assert by_levels.codes[3] == ("250011", "250012", "440011", "440031")
    assert [level.tolist() for level in by_levels.parents[1:]] == [[0, 0], [0, 1, 1], [0, 0, 1, 2]]


def test_random_trees_agree_however_they_are_given():
    numbers = np.random.default_rng(5)
    for _ in range(100):
        codes = list({"".join(numbers.choice(list("012"), 4)) for _ in range(numbers.integers(1, 15))})
        numbers.shuffle(codes)
        lengths = {"a": 1, "b": 3, "c": 4}
        tree = Hierarchy.from_prefixes(codes, lengths)
        assert same(tree, Hierarchy.from_levels({n: list({c[:k] for c in codes}) for n, k in lengths.items()}))
        assert same(tree, Hierarchy.from_columns({n: [c[:k] for c in codes] for n, k in lengths.items()}))
        values = {code: int(numbers.integers(0, 9)) for code in codes}
        sums = tree.sums([values[code] for code in tree.codes[-1]])
        for level in range(tree.depth):
            for region, code in enumerate(tree.codes[level]):
                assert sums[level][region] == sum(v for leaf, v in values.items() if leaf.startswith(code))


def test_columns_need_no_prefixes():
    tree = Hierarchy.from_columns({"state": ["b", "a", "b"], "county": ["x", "z", "y"]})
    assert tree.codes == (("",), ("a", "b"), ("z", "x", "y"))
    assert tree.parents[2].tolist() == [0, 1, 1]


def test_codes_of_a_level_may_differ_in_length():
    tree = Hierarchy.from_levels({"country": ["FR", "DEU"], "town": ["FR1", "DEU1", "DEU2"]})
    assert tree.parents[2].tolist() == [0, 0, 1]


def test_one_region_will_do():
    tree = Hierarchy.from_levels({"block": ["1"]})
    assert tree.sizes == (1, 1)
    assert tree.name(0, 0) == "all"
    assert tree.name(1, 0) == "block '1'"


def test_a_hundred_thousand_children_under_one_parent():
    codes = [f"x{number:06d}" for number in range(100_000)]
    tree = Hierarchy.from_levels({"state": ["x"], "block": codes})
    assert tree.sizes == (1, 1, 100_000)
    assert tree.sums(np.ones(100_000, np.int64))[0].tolist() == [100_000]


def test_a_million_leaves_are_no_trouble():
    codes = [f"{number:06d}" for number in range(1_000_000)]
    tree = Hierarchy.from_prefixes(codes, {"a": 2, "b": 5, "c": 6})
    assert tree.sizes == (1, 100, 100_000, 1_000_000)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (
            {"state": ["44"], "county": ["44001", "25001"]},
            r"`levels.county` must be .*begin with the code of a state.*; got '25001'",
        ),
        (
            {"state": ["4", "44"], "county": ["44001"]},
            r"`levels.state` must be .*'44001' begins with two; got '4' and '44'",
        ),
        ({"state": ["44", "25"], "county": ["44001"]}, r"`levels.state` must be .*at least one county.*; got '25'"),
        ({"state": ["44", "44"], "county": ["44001"]}, r"`levels.state` must be .*each region once.*; got '44'"),
        ({"state": [], "county": ["44001"]}, r"`levels.state` must be .*; got no codes"),
        ({"state": ["44"], "county": []}, r"`levels.county` must be .*; got no codes"),
        ({"state": ["44"], "county": ["44001", ""]}, r"`levels.county` must be .*none empty.*; got ''"),
        ({"state": [44], "county": ["44001"]}, r"`levels.state` must be .*; got 44.*leading zeros"),
        ({"state": ["44", None], "county": ["44001"]}, r"`levels.state` must be codes as text.*got None"),
        ({"state": "44", "county": ["44001"]}, r"`levels.state` must be .*a list of codes.*; got '44'"),
        ({"state": 44, "county": ["44001"]}, r"`levels.state` must be .*a list of codes.*; got 44"),
        ({"all": ["44"]}, r"`root` must be .*; got 'all'"),
        ({}, r"`levels` must be .*; got \{\}"),
        (["44"], r"`levels` must be .*; got \['44'\]"),
    ],
)
def test_levels_that_do_not_nest_are_refused(levels, message):
    with pytest.raises(InputError, match=message):
        Hierarchy.from_levels(levels)


@pytest.mark.parametrize(
    ("codes", "levels", "message"),
    [
        (["441", "441"], {"a": 2, "b": 3}, "`levels.b` must be .*each region once.*; got '441'"),
        (["441", "44"], {"a": 2, "b": 3}, "`codes` must be .*3 characters.*; got '44'"),
        (["441"], {"a": 3, "b": 3}, "`levels.b` must be .*more characters than those of a.*; got 3"),
        (["441"], {"a": 0}, "`levels.a` must be .*; got 0"),
        (["441"], {"a": True}, "`levels.a` must be .*; got True"),
        (["441"], {"all": 3}, "`root` must be .*; got 'all'"),
        ([], {"a": 3}, "`codes` must be .*; got no codes"),
        ([float("nan")], {"a": 3}, "`codes` must be .*; got nan"),
    ],
)
def test_prefixes_that_make_no_tree_are_refused(codes, levels, message):
    with pytest.raises(InputError, match=message):
        Hierarchy.from_prefixes(codes, levels)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": ["1", "2"], "b": ["x", "x"]}, r"`levels.b` must be .*in '1' and in '2'; got 'x'"),
        ({"a": ["1", "1"], "b": ["x", "x"]}, r"`levels.b` must be .*each region once.*; got 'x'"),
        ({"a": ["1"], "b": ["x", "y"]}, r"`levels.a` must be .*one for each leaf, 2.*; got 1 rows"),
        (
            {"a": ["1", "1", "2"], "b": ["x", "y", "x"], "c": ["p", "q", "r"]},
            r"`levels.b` must be .*in '1' and in '2'; got 'x'",
        ),
    ],
)
def test_columns_that_make_no_tree_are_refused(columns, message):
    with pytest.raises(InputError, match=message):
        Hierarchy.from_columns(columns)


def test_an_unknown_level_is_named_with_those_there_are():
    tree = Hierarchy.from_levels(LEVELS)
    with pytest.raises(InputError, match="one of all, state, county, block"):
        tree.level("tract")
