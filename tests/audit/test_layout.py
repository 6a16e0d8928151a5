"""Errors, types and text as outputs: a mechanism that differs in these gives a person away."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from discreet.audit import Pair, audit, audit_until_sure, repeated
from discreet.audit.layout import Layout, Raised, attempt, code_of, kind_of_output
from discreet.core import Pure
from discreet.errors import InputError
from discreet.mechanisms import Laplace

SURE = 1 - 1e-9
NOISE = Laplace(scale=1)


def noisy(value, odd=None):
    """Private answers, and something odd where the noisy number is above 1."""

    def run(runs):
        drawn = NOISE.release(np.full(runs, value)).tolist()
        return [attempt(partial(odd, one)) if odd is not None and one > 1 else one for one in drawn]

    return run


def now_and_then(odd):
    """Private answers, and something odd in a tenth of the runs, whatever the noise."""

    def run(runs):
        chosen = np.random.default_rng().random(runs) < 0.1
        drawn = NOISE.release(np.zeros(runs, dtype=np.int64)).tolist()
        return [attempt(partial(odd, one)) if there else one for one, there in zip(drawn, chosen, strict=True)]

    return run


def raising(drawn):
    raise ValueError("no such row")


PLANTED = {
    "an error for one neighbour only": (raising, "an error (ValueError"),
    "a float for one neighbour only": (float, "float"),
    "a text": (str, "str"),
    "two numbers": (lambda drawn: [drawn, drawn], "list of 2 int"),
}


@pytest.mark.parametrize(("odd", "named"), PLANTED.values(), ids=PLANTED)
def test_what_is_no_number_gives_a_person_away_and_is_named(odd, named):
    pair = Pair(now_and_then(odd), noisy(0), data=("[7]", "[]"))
    for found in (
        audit(pair, Pure(1), runs=3_000, confidence=SURE),
        audit_until_sure(pair, Pure(1), most_runs=16_000, confidence=SURE),
    ):
        assert found.violated
        assert named in found.event
        assert "on [7] in" in found.witness()
        assert "on [] in 0 of" in found.witness()


@pytest.mark.parametrize("odd", [raising, float, str], ids=["errors", "floats", "text"])
def test_a_private_mechanism_with_errors_and_types_on_both_sides_is_not_refuted(odd):
    """The odd output depends on the noisy number alone, so the claim is true: 50 audits at 1 in 1,000 each."""

    wrong = sum(audit((noisy(1, odd), noisy(0, odd)), Pure(1), runs=300, confidence=0.999).violated for _ in range(50))
    assert wrong <= 4  # P[binomial(50, 0.001) > 4] < 1e-8


def test_a_layout_is_decided_once_and_holds_for_what_comes_later():
    layout = Layout.of([1, 2, 3, "x"])
    rows = layout.read([4, "y", 5.0, Raised("KeyError", "k")])
    assert rows[:, 0].tolist() == [4, 0, 0, 0]
    assert [layout.names[code] for code in rows[:, layout.type].tolist()] == [
        "int",
        "str",
        "float",
        "an error (KeyError)",
    ]
    assert layout.names[int(rows[1, layout.code])] == "'y'"
    assert len(set(rows[:, layout.code].tolist())) == 4
    assert Layout.of(["a", "b"]).width == 0


def test_kinds_and_codes():
    assert kind_of_output(2**70) == "int of more than 64 bits"
    assert kind_of_output(np.zeros((2, 3))) == "ndarray of (2, 3) float64"
    assert code_of({"a": 1, "b": 2}) == code_of({"b": 2, "a": 1})
    assert code_of(1) != code_of(1.0)


def test_a_mechanism_that_never_runs_is_no_mechanism():
    broken = repeated(lambda: raising(1))
    with pytest.raises(InputError, match="in every run"):
        audit((broken, broken), Pure(1), runs=100)
