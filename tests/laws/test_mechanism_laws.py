"""The laws every mechanism obeys. A new mechanism joins by one entry in `CASES`."""

import copy
import hashlib
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from attrs import fields
from attrs.exceptions import FrozenInstanceError

import discreet.mechanisms as room
from discreet.accounting import pure
from discreet.core import loss as losses
from discreet.core.mechanism import Additive, Selection
from discreet.errors import InputError

PROOFS = Path(__file__).parents[2] / "docs" / "proofs"
NOT_MECHANISMS = {
    "ContinualCountSession",
    "Quantile",
    "RankCurve",
    "SparseVectorSession",
    "lattice_distance",
    "sensitivity",
}


class Case(NamedTuple):
    """A mechanism, parameters it accepts, and what to give it."""

    kind: type
    parameters: dict[str, Any]
    data: Any
    run: Callable[..., Any]
    size: int | None = None  # of the answer; None where it varies

    def build(self, **changed):
        return self.kind(**{**self.parameters, **changed})


def release(mechanism, data, **options):
    return mechanism.release(data, **options)


def session(mechanism, data, bits=None):
    running, answers = mechanism.start(bits=bits), []
    for value in data:
        answers.append(running.ask(value))
        if running.remaining == 0:
            break
    return answers


def select(mechanism, data, bits=None):
    return mechanism.select(data, bits=bits).tolist()


def total(mechanism, data, bits=None):
    running = mechanism.start(bits=bits)
    for value in data:
        running.add(value)
    return running.counts


def search(mechanism, data, bits=None):
    asked = {"quantiles": [0.1, 0.5, 0.9]} if isinstance(mechanism, room.QuantileTree) else {}
    return [answer.at for answer in mechanism.release(data, **asked, bits=bits)]


def place(mechanism, data, bits=None):
    return mechanism.release(np.reshape(data, (-1, 2)), bits=bits).ravel()


SELECTION = {"epsilon": Fraction(1, 10), "sensitivity": 2, "monotone": False}
SCORES = list(range(40))
CASES = [
    Case(room.Laplace, {"scale": 50}, list(range(20)), release, 20),
    Case(room.Gaussian, {"sigma": 50}, list(range(20)), release, 20),
    Case(room.PlanarLaplace, {"scale": 50}, list(range(20)), place, 20),
    Case(room.Exponential, SELECTION, SCORES, release),
    Case(room.PermuteAndFlip, SELECTION, SCORES, release),
    Case(room.NoisyMax, SELECTION, SCORES, release),
    Case(room.TopK, {"k": 20, **SELECTION}, SCORES, release, 20),
    Case(room.SparseVector, {"threshold": 20, "count": 40, **SELECTION}, SCORES, session, 40),
    Case(room.StabilityThreshold, {"epsilon": 1, "delta": 0.01, "keys": 3}, dict.fromkeys(range(40), 20), release),
    Case(room.PartitionSelection, {"epsilon": 1, "delta": 0.01, "keys": 3}, [12] * 40, select, 40),
    Case(room.ContinualCount, {"periods": 40, "epsilon": 0.1, "limit": 2, "each": 3}, list(range(40)), total, 40),
    Case(room.QuantileTree, {"bins": 40, "epsilon": 0.1, "branching": 4, "rows": 2}, [5] * 40, search, 3),
    Case(room.QuantileExponential, {"quantiles": (Fraction(1, 2),), "epsilon": 0.1, "bins": 40}, [5] * 40, search, 1),
    Case(room.QuantileFlip, {"quantiles": (Fraction(1, 2),), "epsilon": 0.1, "bins": 40}, [5] * 40, search, 1),
    Case(room.RandomizedResponse, {"categories": 9, "epsilon": 0.1}, [3] * 40, release, 40),
]
NUMBERS = {"scale", "sigma", "epsilon", "sensitivity", "k", "count", "delta", "keys", "categories", "periods", "limit"}
NUMBERS |= {"each", "bins", "branching", "rows"}
WRONG = [0, -1, float("nan"), float("inf"), "nonsense", True, None, [1], 1j]


def named(case):
    return case.kind.__name__


every = pytest.mark.parametrize("case", CASES, ids=named)


def test_every_mechanism_is_here():
    assert {named(case) for case in CASES} == set(room.__all__) - NOT_MECHANISMS


@every
def test_it_is_a_frozen_value(case):
    one, same = case.build(), case.build()
    assert one == same
    assert hash(one) == hash(same)
    field = next(iter(case.parameters))
    with pytest.raises(FrozenInstanceError):
        setattr(one, field, 1)
    assert not hasattr(one, "__dict__")


@every
def test_it_survives_a_round_trip(case):
    one = case.build()
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one) == one
    values = {field.name: getattr(one, field.name) for field in fields(type(one))}
    assert case.kind(**values) == one


@every
def test_numbers_are_exact(case):
    one = case.build()
    for field in fields(type(one)):
        value = getattr(one, field.name)
        for number in value if isinstance(value, tuple) else [value]:
            assert isinstance(number, (int, Fraction, type(None)))


def test_epsilon_is_read_as_written():
    for case in CASES:
        if "epsilon" in case.parameters:
            assert case.build(epsilon=0.3).epsilon == Fraction(3, 10)


@every
def test_loss_is_a_loss(case):
    loss = case.build().loss()
    assert isinstance(loss, losses.Loss)
    assert loss == case.build().loss()
    if isinstance(loss, losses.Repeated) and "epsilon" in case.parameters:
        assert pure(loss).epsilon == case.build().epsilon
    elif "epsilon" in case.parameters:
        assert loss.epsilon == case.build().epsilon


@every
def test_loss_follows_the_noise(case):
    field = "epsilon" if "epsilon" in case.parameters else next(iter(case.parameters))
    other = case.build(**{field: case.parameters[field] / Fraction(2)})
    assert other.loss() != case.build().loss()


PAIRS = [(case, field) for case in CASES for field in case.parameters if field in NUMBERS]


@pytest.mark.parametrize(("case", "field"), PAIRS, ids=[f"{named(case)}-{field}" for case, field in PAIRS])
@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_bad_parameters_are_named(case, field, value):
    with pytest.raises(InputError) as caught:
        case.build(**{field: value})
    assert caught.value.field == field
    assert field in str(caught.value)


@pytest.mark.parametrize("value", [0, 1, "yes", None], ids=repr)
@every
def test_flags_are_flags(case, value):
    if "monotone" in case.parameters:
        with pytest.raises(InputError, match="monotone"):
            case.build(monotone=value)


@every
@pytest.mark.parametrize("confidence", [0, 1, -1, 2, float("nan"), "much", True], ids=repr)
def test_confidence_is_checked(case, confidence):
    options = {"n": 100} if case.kind is room.RandomizedResponse else {}
    with pytest.raises(InputError, match="confidence"):
        case.build().error(confidence, 2, **options)
    with pytest.raises(InputError, match="k"):
        case.build().error(0.9, 0, **options)


@every
def test_error_grows_with_confidence_and_company(case):
    options = {"n": 100} if case.kind is room.RandomizedResponse else {}
    error = case.build().error
    assert 0 <= error(0.5, 2, **options) <= error(0.9, 2, **options) <= error(0.9, 50, **options)


@every
def test_release_has_the_right_shape(case):
    answer = case.run(case.build(), case.data)
    if case.size is not None:
        assert len(answer) == case.size
    match answer:
        case np.ndarray():
            assert answer.dtype == np.int64
            assert answer.ndim == 1
        case bool():
            pytest.fail("an index is an int")
        case int():
            assert 0 <= answer < len(case.data)
        case dict():
            assert set(answer) <= set(case.data)
            assert all(type(value) is int for value in answer.values())
        case list():
            assert all(type(value) in (int, bool) for value in answer)
        case _:
            pytest.fail(f"{type(answer)} is no answer")


@every
def test_the_input_is_left_alone(case):
    if isinstance(case.data, dict):
        data = dict(case.data)
        case.run(case.build(), data)
        assert data == case.data
    else:
        data = np.array(case.data)
        case.run(case.build(), data)
        assert data.tolist() == list(case.data)


@every
def test_empty_input(case):
    empty = {} if isinstance(case.data, dict) else []
    if named(case) in {"Laplace", "Gaussian", "RandomizedResponse", "StabilityThreshold"}:
        assert len(case.run(case.build(), empty)) == 0
    elif case.run is select:
        assert case.run(case.build(), empty) == []
    elif case.run is search:  # a histogram of no bins is not the one declared
        with pytest.raises(InputError, match="counts"):
            case.run(case.build(), empty)
    elif case.run is release:  # there is nothing to select
        with pytest.raises(InputError, match="scores"):
            case.run(case.build(), empty)


@every
@pytest.mark.parametrize("bad", [[0.5, 1.5], [True, False], ["a"], [None], 3, None, [[1, 2]], [2**63]], ids=repr)
def test_private_values_are_integers(case, bad):
    if case.run in (release, select, search) and not isinstance(case.data, dict):
        with pytest.raises(InputError):
            case.run(case.build(), bad)


def plain(answer):
    return answer.tolist() if isinstance(answer, np.ndarray) else answer


class Tape:
    """Bytes that can be played again: SHAKE of a name, so tests of determinism need no generator."""

    def __init__(self, name: str) -> None:
        self._shake, self._at, self.used = hashlib.shake_256(name.encode()), 0, 0

    def read(self, count):
        self.used += count
        self._at += count
        return np.frombuffer(bytearray(self._shake.digest(self._at)[self._at - count :]), dtype=np.uint8)


@every
def test_injected_bits_are_the_only_randomness(case):
    mechanism, tape = case.build(), Tape("a")
    first = plain(case.run(mechanism, case.data, bits=tape))
    assert tape.used > 0
    assert plain(case.run(mechanism, case.data, bits=Tape("a"))) == first
    others = [plain(case.run(mechanism, case.data, bits=Tape(f"other {i}"))) for i in range(40)]
    assert any(other != first for other in others)


@every
def test_randomness_is_fresh_each_time(case):
    # Forty equal answers in a row: each kind here repeats an answer with probability at most 1/2.
    mechanism = case.build()
    answers = [plain(case.run(mechanism, case.data)) for _ in range(41)]
    assert any(answer != answers[0] for answer in answers)


@every
def test_it_answers_to_its_protocol(case):
    one = case.build()
    if named(case) in {"Laplace", "Gaussian"}:
        assert isinstance(one, Additive)
        assert one.variance > 0
        assert type(one.error(0.95, 3)) is int
    elif named(case) in {"Exponential", "PermuteAndFlip", "NoisyMax"}:
        assert isinstance(one, Selection)
        assert type(one.error(0.95, 3)) is Fraction


@every
def test_it_states_its_guarantee_and_has_a_proof(case):
    words = case.kind.__doc__
    assert "Guarantee" in words
    kebab = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in named(case)).strip("-")
    assert f"docs/proofs/{kebab}.md" in words
    proof = PROOFS / f"{kebab}.md"
    assert proof.is_file()
    assert "## Claim" in proof.read_text()
    assert "## Proof" in proof.read_text()
