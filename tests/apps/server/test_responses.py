"""What the API answers: JSON that every program can read, and refusals in our own words."""

import json
import math

import pytest

pytest.importorskip("fastapi")
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from discreet.apps.server.responses import PROBLEMS, Json, ProblemResponse, answers, malformed


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")

    epsilon: float = Field(gt=0)
    names: list[str] = Field(default_factory=list, max_length=2)


def refused(**sent):
    with pytest.raises(ValidationError) as problem:
        Body.model_validate(sent)
    return malformed(problem.value.errors(), Body.model_fields)[0]


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ({"n": 1.5, "rows": [1, None]}, {"n": 1.5, "rows": [1, None]}),
        (
            {"upper": math.inf, "rows": [{"lower": -math.inf}, (math.nan, 2)]},
            {"upper": None, "rows": [{"lower": None}, [None, 2]]},
        ),
        ({"word": "\ud800", "n": math.nan}, {"word": "\ud800", "n": None}),
    ],
)
def test_numbers_that_are_none_are_null_and_half_a_character_is_its_code(content, read):
    body = Json(content).body
    assert json.loads(body) == read
    assert b"NaN" not in body
    assert b"Infinity" not in body


def test_what_cannot_be_read_is_named_by_its_field_and_what_is_allowed():
    assert (refused().field, refused().allowed) == ("epsilon", "given")
    assert refused(epsilon=0).field == "epsilon"
    assert "greater than 0" in refused(epsilon=0).allowed
    assert refused(epsilon=1, names=["a", 2]).field == "names.1"
    assert "at most 2 items" in refused(epsilon=1, names=["a", "b", "c"]).allowed


def test_a_field_that_does_not_exist_is_refused_with_the_nearest():
    problem = refused(epsilon=1, epsilom=2)
    assert problem.field == "epsilom"
    assert "Did you mean `epsilon`?" in str(problem)


def test_what_was_sent_is_not_repeated():
    assert "Xyzzy" not in str(refused(epsilon="Xyzzy"))


def test_every_refusal_is_described_by_the_same_body():
    assert {one["model"] for one in PROBLEMS.values()} == {ProblemResponse}
    assert answers(Body, "a body", 202) == {202: {"model": Body, "description": "a body"}}


class Several(BaseModel):
    levels: list[str] | dict[str, int]
    price: str | float = 1.0


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"levels": "county"}, "`levels` must be a list or an object."),
        ({"levels": ["a", 1]}, "`levels.1` must be text."),
        ({"levels": {"a": "x"}}, "`levels.a` must be a valid integer, unable to parse string as an integer."),
        ({"levels": ["a"], "price": [1]}, "`price` must be text or a number."),
        ({}, "`levels` must be given."),
    ],
)
def test_what_may_be_of_several_types_is_refused_once_and_in_words(sent, said):
    with pytest.raises(ValidationError) as problem:
        Several.model_validate(sent)
    assert [str(one) for one in malformed(problem.value.errors())] == [said]
