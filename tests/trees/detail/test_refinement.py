"""Levels of detail: one list of finest cells in which each of them can be told."""

import numpy as np
import pytest
from group_desk import COLUMNS

from discreet import Schema, bins, key
from discreet.errors import InputError
from discreet.trees.detail.refinement import DETAILS, refine

SCHEMA = Schema("people", COLUMNS)


def read(**details):
    return refine({name: DETAILS.settle({name: keys})[name] for name, keys in details.items()}, SCHEMA)


def test_bins_of_all_levels_of_detail_are_told_apart():
    found = read(few=[bins("age", [0, 40, 80])], many=["sex", bins("age", [0, 25, 60, 80])])
    ages = next(one for one in found.keys if one.column == "age")
    assert [int(edge) for edge in ages.edges] == [0, 25, 40, 60, 80]
    assert found.sizes == (2, 6)
    assert found.labels[1][:2] == ("sex=f, age=0..25", "sex=f, age=25..60")
    finest = np.arange(8).reshape(4, 2)  # ages first, as they were named first
    assert found.add(0, finest.ravel()).tolist() == [finest[:2].sum(), finest[2:].sum()]
    assert found.add(1, finest.ravel()).tolist() == [0, 2 + 4, 6, 1, 3 + 5, 7]


def test_a_level_of_detail_may_be_an_expression():
    found = read(kind=["race = 'a'"], race=["race"])
    assert found.sizes == (2, 4)
    assert found.add(0, np.arange(8)).sum() == 28


@pytest.mark.parametrize(
    ("details", "words"),
    [
        ({}, "from 1 to 20"),
        ({"sex": []}, "at least one column"),
        ({"total": ["sex"]}, "another name"),
        ({"\n": ["sex"]}, "printable text"),
        ({"sex": ["sexx"]}, "Did you mean `sex`"),
        ({"sex": ["sex", "sex"]}, "each column once"),
        ({"fine": ["sex", "race"], "sex": ["sex"]}, "coarsest first"),
        ({"a": [bins("age", [0, 40, 80])], "b": [bins("age", [0, 20, 60])]}, "begin and end alike"),
        ({"a": [bins("age", [0, 40, 80])], "b": ["age"]}, "same values"),
        ({"a": [key("race", ["a", "b"])], "b": ["race"]}, "same values"),
    ],
)
def test_what_is_no_list_of_details_is_refused(details, words):
    with pytest.raises(InputError, match=words):
        read(**details)


def test_the_words_of_a_shell():
    assert DETAILS.parse(["sex: sex", "sex by age: sex, age/0,40,80"]) == {
        "sex": ["sex"],
        "sex by age": ["sex", "age/0,40,80"],
    }
    with pytest.raises(InputError, match="NAME: and what it is"):
        DETAILS.parse(["sex"])
