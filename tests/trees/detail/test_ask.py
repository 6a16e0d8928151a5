"""Asking for groups in adaptive detail: every error before anything is spent, the same words on every surface."""

import pytest
from group_desk import DETAILS, GROUPS, LEVELS, ask, curator

from discreet.errors import InputError
from discreet.trees.detail.ask import DetailAsk
from discreet.trees.detail.groups import GROUPS as FORM


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    return curator(tmp_path_factory.mktemp("asks"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"groups": {}}, "from 1 to 500 groups"),
        ({"groups": {"a": ""}}, r"`groups\.a` must be a condition"),
        ({"groups": {"a": "age + 1"}}, "true or false"),
        ({"groups": {"a": "rase = 'a'"}}, "Did you mean `race`"),
        ({"groups": {" ": "race = 'a'"}}, "printable text"),
        ({"overlap": 0}, "from 1 to 3"),
        ({"overlap": 4}, "from 1 to 3"),
        ({"details": {"tracts": ["tract"]}}, "`details` must be"),
        ({"geography": ["99"]}, "declared value"),
    ],
)
def test_what_cannot_be_asked_is_refused(desk, changes, words):
    with pytest.raises(InputError, match=words):
        ask(desk, **changes)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"first": 0}, "strictly between 0 and 1"),
        ({"first": "1"}, "strictly between 0 and 1"),
        ({"shares": {"state": 1}}, "`shares` must be"),
        ({"shares": {"tract": 0}}, "more than zero"),
        ({"thresholds": {"sex": 5}}, "every level of detail"),
        ({"thresholds": {"sex": 5, "sex by age": 4}}, "at least 5"),
        ({"thresholds": {"sex": 5, "sex by age": 6.5}}, "whole number"),
        ({"thresholds": {"seks": 5}}, "sex"),
        ({"thresholds": {"sex": -1, "sex by age": 4}}, "zero or more"),
    ],
)
def test_what_cannot_be_priced_is_refused(desk, how, words):
    with pytest.raises(InputError, match=words):
        ask(desk).plan(epsilon=1, **how)
    assert desk.standing()[0].spent.amount == 0


def test_an_ask_comes_back_from_json(desk):
    asked = DetailAsk(LEVELS, GROUPS, DETAILS, 2, thresholds={"sex": 5, "sex by age": 50}, first="0.2")
    again = DetailAsk.from_dict(asked.to_dict(), desk.schema)
    assert again.to_dict() == DetailAsk.from_dict(again.to_dict(), desk.schema).to_dict()
    assert desk.ask(again).plan(epsilon=1).plan.digest == desk.ask(asked).plan(epsilon=1).plan.digest


def test_the_words_of_a_shell():
    assert FORM.parse(["a alone: race = 'a'", "late: time >= '12:00'"]) == {
        "a alone": "race = 'a'",
        "late": "time >= '12:00'",
    }
    for wrong in ("race = 'a'", ": race"):
        with pytest.raises(InputError, match="NAME: and what it is"):
            FORM.parse([wrong])
    with pytest.raises(InputError, match="each name once"):
        FORM.parse(["a: age > 1", "a: age > 2"])
