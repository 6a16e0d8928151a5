"""Replies: what they carry, what is refused, and ids that stay what they were in 0.1."""

import base64
import json

import numpy as np
import pytest

from chance import frequency_fits
from discreet.errors import InputError
from discreet.local import (
    GRR,
    OLH,
    OUE,
    SUE,
    Duchi,
    Hadamard,
    Hybrid,
    Piecewise,
    Subset,
    Survey,
    VectorMean,
    responder_from_dict,
)
from discreet.local.survey import KINDS
from local_cases import MECHANISMS, answers, survey_of

both = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: one.kind)


@both
def test_a_reply_says_what_it_answers(mechanism):
    survey = survey_of(mechanism)
    reply = survey.respond(1)
    entry = json.loads(json.dumps(reply.to_dict()))
    assert survey.read(entry) == reply
    assert len(reply.token) == 32
    assert survey.respond(1).token != reply.token
    for other in (survey_of(mechanism, "shapes"), survey_of(type(mechanism)(mechanism.categories, "1/2"))):
        with pytest.raises(InputError, match="another survey"):
            other.read(entry)
    assert Survey.from_dict(json.loads(json.dumps(survey.to_dict()))) == survey


@both
def test_malformed_replies_are_refused(mechanism):
    survey = survey_of(mechanism)
    entry = survey.respond(0).to_dict()
    reports = [None, "x", True, -1, 2**70, 1.5, "", "====", base64.b64encode(b"\xff" * 40).decode(), [1], {}]
    for wrong in [
        *({**entry, "report": report} for report in reports),
        *({**entry, "token": token} for token in ("", "g" * 32, None, 5, entry["token"] + "0")),
        {**entry, "address": "10.0.0.1"},
        {"survey": survey.id},
        [],
        None,
        "text",
    ]:
        with pytest.raises(InputError):
            survey.read(wrong)


@both
def test_batches_estimate_and_refuse(mechanism):
    survey = survey_of(mechanism)
    batch = survey.collect(answers(mechanism))
    found = survey.estimate(batch)
    assert len(found) == mechanism.categories
    twice = type(batch)(batch.survey, np.concatenate([batch.reports] * 2), np.concatenate([batch.tokens] * 2))
    with pytest.raises(InputError, match="came twice"):
        survey.estimate(twice)
    with pytest.raises(InputError, match="another survey"):
        survey_of(mechanism, "shapes").estimate(batch)
    replies = [survey.respond(0) for _ in range(20)]
    assert survey.tally(replies).n == 20
    with pytest.raises(InputError, match="came twice"):
        survey.tally([*replies, replies[3]])
    with pytest.raises(InputError):
        survey.tally([*replies, survey_of(mechanism, "shapes").respond(0)])


def test_labels_are_answers():
    survey = Survey("flu", GRR(2, 1), labels=["no", "yes"])
    assert survey.collect(["no", "yes", "no"]).reports.shape == (3,)
    seen = survey.collect(["yes"] * 20_000).reports
    assert frequency_fits(int(seen.sum()), 20_000, float(survey.mechanism.hit))
    for wrong in ("maybe", 1, None, ["no"]):
        with pytest.raises(InputError, match="one of no, yes") as caught:
            survey.respond(wrong)
        assert "maybe" not in str(caught.value)
    for wrong in ({"labels": ["no"]}, {"labels": "no"}, {"labels": ["no", "no"]}, {"name": ""}, {"mechanism": 3}):
        with pytest.raises(InputError):
            Survey(**{"name": "flu", "mechanism": GRR(2, 1), "labels": ["no", "yes"], **wrong})
    for wrong in ({}, {"name": "x"}, None, {"name": "x", "labels": None, "mechanism": {}}):
        with pytest.raises(InputError):
            Survey.from_dict(wrong)


# As 0.1 made them: reports on file carry these.
IDS = {
    "1569c86b4b1d036d": GRR(3, 1),
    "e8b9f71023805438": GRR.coin(),
    "90186a7c1a981360": SUE(3, 1),
    "c670b91c179fe960": OLH(10, 1),
    "7126d6a581502b6f": OLH(10, "0.1"),
    "fd3c1496ad0c6b66": Hadamard(10, 1),
    "84e7d8cacc8c31f8": Subset(10, 1),
    "e719b4a5b8dbe679": Duchi(1),
    "9672ab20cf66362b": Piecewise(1, 0, 10, steps=64),
    "fac1099a346573c0": Hybrid(1, 0, 10, steps=64),
    "512f84ecc30e3a7c": VectorMean(2, 5),
}


@pytest.mark.parametrize(("identity", "responder"), IDS.items(), ids=[one.kind for one in IDS.values()])
def test_ids_are_those_of_0_1(identity, responder):
    assert responder.id == identity
    assert responder_from_dict(responder.to_dict()) == responder


def test_every_kind_writes_all_that_decides_its_law():
    assert {one.kind for one in IDS.values()} | {OUE.kind} == set(KINDS)
    assert OUE(4, ratio="3/2").to_dict() == {
        "kind": "oue",
        "categories": 4,
        "epsilon": str(OUE(4, ratio="3/2").epsilon),
        "ratio": "3/2",
    }
