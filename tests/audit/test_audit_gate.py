"""The house attacks itself: nothing is left out, planted bugs are caught, and a violation is one."""

from __future__ import annotations

import dataclasses
import pickle
from importlib.util import find_spec

import pytest

import discreet.mechanisms as room
from discreet.apps.audits import MODULES
from discreet.apps.audits import local as responders
from discreet.audit import gate as gates
from discreet.audit.gate import ALARM, _attack, _of, gate, listed
from discreet.audit.subject import Subject, buffered
from discreet.audit.subjects import mechanisms, planted
from discreet.core.loss import Pure
from discreet.errors import InputError, MissingExtraError
from discreet.local.survey import KINDS
from discreet.mechanisms import Laplace

pytestmark = pytest.mark.statistical
NOT_MECHANISMS = {"ContinualCountSession", "Quantile", "RankCurve", "SparseVectorSession", "sensitivity"}
BUGS = {
    "half noise",
    "wrong sensitivity",
    "-10% noise",
    "reused seed",
    "cut tail",
    "skipped fallback",
    "key leak",
    "unbounded user",
    "not remembered",
}


def test_every_mechanism_is_attacked():
    assert {subject.name.split(",")[0].split(" ")[0] for subject in mechanisms.subjects()} == (
        set(room.__all__) - NOT_MECHANISMS
    )


def test_every_responder_is_attacked():
    wanted = {kind.__name__ for kind in KINDS.values()} | {"Rappor", "HeavyHitters", "Longitudinal"}
    assert wanted <= {subject.name for subject in responders.subjects()}


def known():
    """All subjects of the rooms whose libraries are installed."""
    return [_of(module)[place] for module, place in listed(MODULES, tier=3)[0]]


def test_every_kind_of_bug_is_planted():
    assert {subject.planted for subject in known() if subject.planted} == BUGS


def test_every_kind_of_job_is_attacked():
    kinds = {subject.kind for subject in known()}
    assert kinds - {"trainer"} == {"mechanism", "question", "hierarchy", "synthesiser", "responder"}
    assert ("trainer" in kinds) == (find_spec("jax") is not None)


PLACES = [(module, place) for module, place in listed(MODULES)[0] if _of(module)[place].planted]


@pytest.mark.parametrize(("module", "place"), PLACES, ids=[f"{m.rpartition('.')[2]}-{p}" for m, p in PLACES])
def test_planted_bugs_are_caught(module, place):
    # The weakest has 300 runs: at 1 - 1e-11 it was four deviations from being missed, here it is about eight.
    found = _attack((module, place, 1, 0.999))
    assert found.violated
    assert found.planted


@pytest.mark.parametrize("only", ["RandomizedResponse", "StabilityThreshold", "SparseVector"])
def test_honest_mechanisms_stand(only):
    places, _ = listed([mechanisms.__name__], only=only)
    for module, place in places:
        found = _attack((module, place, 1, 1 - ALARM / 100))
        assert not found.violated
        assert found.kind == "mechanism"
        assert pickle.loads(pickle.dumps(found)).sentence() == found.sentence()


def test_a_question_through_the_door_stands():
    places, _ = listed(["discreet.apps.audits.questions"], only="people")
    assert not _attack((*places[0], 1, 1 - ALARM / 100)).violated


def test_the_gate_adds_up():
    told = []
    found = gate([planted.__name__, mechanisms.__name__], only="Laplace on 3", workers=1, told=told.append)
    assert found.passed
    assert len(told) == len(found.findings) + len(found.planted)
    assert {one.name for one in found.planted} == {"Laplace on 3"}
    assert "no violation" in found.sentence()
    assert "planted bugs were caught" in found.sentence()
    assert found.to_dict()["passed"] is True
    weak = dataclasses.replace(found, planted=tuple(dataclasses.replace(one, violated=False) for one in found.planted))
    assert not weak.passed
    assert "too weak" in weak.sentence()
    broken = dataclasses.replace(
        found, findings=tuple(dataclasses.replace(one, violated=True) for one in found.findings)
    )
    assert not broken.passed
    assert "refuted: Laplace on 3" in broken.sentence()


class Missing:
    """A room whose libraries are not installed."""

    @staticmethod
    def subjects():
        raise MissingExtraError("learn", "jax")


class Broken:
    """A room with a bug that nobody planted."""

    @staticmethod
    def subjects():
        return [Subject("half", "mechanism", lambda: (Pure(1), [mechanisms.added_to(Laplace(1), 2)]), 5_000)]


def test_a_room_that_is_not_installed_is_named_and_a_real_bug_is_a_violation(monkeypatch):
    rooms = {"here.missing": Missing, "here.broken": Broken}
    monkeypatch.setattr(gates, "import_module", rooms.__getitem__)
    found = gate(list(rooms), workers=1)
    assert len(found.violations) == 1
    assert not found.passed
    assert found.skipped[0].startswith("missing:")
    assert "pip install" in found.skipped[0]


def test_runs_that_come_in_batches_are_kept():
    made = []

    def batch():
        made.append(1)
        return [len(made) * 10 + i for i in range(4)]

    run = buffered(batch)
    assert run(3).tolist() == [10, 11, 12]
    assert run(3).tolist() == [13, 20, 21]
    assert len(made) == 2


@pytest.mark.parametrize(
    ("field", "options"), [("tier", {"tier": 4}), ("only", {"only": "nonsense"}), ("alarm", {"alarm": 1e-20})]
)
def test_bad_input_is_named(field, options):
    with pytest.raises(InputError, match=field):
        gate([planted.__name__], **options)
