"""Whatever is given to a public name, the answer is a result or a DiscreetError, and it comes soon.

The names are read from `__all__` of each room, so that a new one is tried without being listed here. Each parameter is
replaced in turn by hostile values, the others being sensible; then all at once.
"""

from __future__ import annotations

import importlib
import inspect
import signal
import warnings
from contextlib import contextmanager
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import Category, Integer, Neighbours, Query, Real, Schema, Unit
from discreet.accounting import delta
from discreet.core.loss import Pure
from discreet.errors import DiscreetError, InputError
from discreet.mechanisms import sensitivity
from discreet.query.aggregate import count

ROOMS = [
    "discreet.noise",
    "discreet.mechanisms",
    "discreet.mechanisms.sensitivity",
    "discreet.accounting",
    "discreet.core.unit",
    "discreet.core.sensitivity",
    "discreet.core.lattice",
    "discreet.core.loss",
    "discreet.local",
]
# What takes whole objects of the room (estimates, surveys, batches of replies) trusts their type.
OBJECTS = {
    "discreet.local": {
        "aggregate",
        "best",
        "difference",
        "half_width",
        "sample_size",
        "stratified",
        "weighted",
        "write",
    }
}
HOSTILE: list[Any] = [
    float("nan"), float("inf"), -float("inf"), -1, 0, -0.0, 10**400, 10**5000, -(10**400), 1e308, 1e-320, 5e-324,
    Decimal("NaN"), Decimal("1e-3000"), Decimal("1e999999"), Fraction(1, 10**400), np.float32("nan"), np.int8(-3),
    np.True_, True, "", "abc", "1e999999999", "1/0", None, [], [[1, 2], [3]], {}, (), object(), b"x", 1j, set(),
    np.array([]), np.array([1.5]), np.array(["a"]), [None],
]  # fmt: skip
SENSIBLE: dict[str, Any] = {
    "epsilon": 1, "delta": 1e-6, "rho": 0.1, "scale": 3, "sigma": 3, "bins": 8, "quantiles": 0.5, "scores": [1, 2, 3],
    "p": 0.5, "prior": 0.1, "if_true": 0.7, "if_false": 0.3, "categories": 4, "n": 100, "counts": [1, 2], "points": 3,
    "upper": 10, "lower": 0, "within": 5, "loss": Pure(1), "losses": [Pure(1)], "probability": "0.01", "steps": 3,
}  # fmt: skip
SECONDS = 30
SCHEMA = Schema("t", {"a": Integer(0, 1, nullable=False)})
# A second each where numbers are allowed: these are tried with what is not.
SLOW = {"noise_multiplier", "sampling_probability", "training_steps"}
FEW: list[Any] = [float("nan"), -1, "abc", None, [], object(), np.array([])]


class TooSlow(BaseException):
    """Not an Exception, so that nothing on the way takes it for an error of its own."""


@contextmanager
def soon():
    def stop(*_):
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def public():
    for room in ROOMS:
        module = importlib.import_module(room)
        names = getattr(module, "__all__", None) or [n for n, v in vars(module).items() if inspect.isclass(v)]
        for name in names:
            made = getattr(module, name)
            protocol = getattr(made, "_is_protocol", False) or getattr(made, "__origin__", None) is not None
            protocol = protocol or inspect.isabstract(made)
            if isinstance(made, type) and issubclass(made, Enum):
                continue  # Python's own errors: text is read by `read_neighbours`
            if callable(made) and not protocol and name not in OBJECTS.get(room, ()) and takes(made):
                yield pytest.param(made, id=f"{room.removeprefix('discreet.')}.{name}")


def takes(made):
    try:
        return inspect.signature(made).parameters
    except (ValueError, TypeError):
        return {}


def complaint(made, given):
    """What came out of a call that was neither a result nor a DiscreetError."""
    try:
        with soon(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made(**given)
    except DiscreetError:
        return None
    except Exception as error:
        return f"{sorted(given)}: {type(error).__name__}"
    return None


def complaints(made):
    fields = [
        field
        for field in takes(made).values()
        if field.name not in ("self", "bits") and field.kind in (field.POSITIONAL_OR_KEYWORD, field.KEYWORD_ONLY)
    ]
    needed = [field.name for field in fields if field.default is field.empty]
    sensible = {name: SENSIBLE.get(name, 1) for name in needed}
    for value in FEW if made.__name__ in SLOW else HOSTILE:
        for field in fields:
            if said := complaint(made, {**sensible, field.name: value}):
                yield field.name, said
        if said := complaint(made, dict.fromkeys(needed, value)):
            yield "all", said


@pytest.mark.parametrize("made", list(public()))
def test_a_result_or_an_error_of_our_own(made):
    assert list(complaints(made)) == []


def test_a_raw_error_would_be_noticed():
    def raw(epsilon):
        return 1 / float(epsilon)

    assert list(complaints(raw))


ERRORS = list(importlib.import_module("discreet.mechanisms").__all__)


@pytest.mark.parametrize("name", ERRORS)
def test_expected_errors_of_mechanisms_take_hostile_values_too(name):
    made = getattr(importlib.import_module("discreet.mechanisms"), name)
    if not callable(made):
        pytest.skip("a module of functions")
    needed = [f.name for f in takes(made).values() if f.default is f.empty]
    sensible = {field: SENSIBLE.get(field, 1) for field in needed}
    if {"epsilon", "rho"} <= set(takes(made)):
        sensible["epsilon"] = 1
    try:
        mechanism = made(**sensible)
    except DiscreetError:
        pytest.skip("a session, or a value that is not made alone")
    if not hasattr(mechanism, "error"):
        pytest.skip("nothing to expect")
    assert list(complaints(mechanism.error)) == []


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda: Query().agg(count()), r"agg\(rows=count\(\)\)"),
        (lambda: Query().agg(rows=1).checked(SCHEMA), r"count\(\), people"),
        (lambda: list(Query()), "release it first"),
        (lambda: Query()["rows"], "release it first"),
        (lambda: Query().group_by(None).agg(rows=count()).checked(SCHEMA), "column names"),
        (lambda: delta(1, 0), "a privacy loss"),
        (lambda: delta("pure", 0), "a privacy loss"),
        (lambda: Unit(neighbours="sideways"), "neighbours"),
        (lambda: Unit(neighbours=[]), "neighbours"),
        (lambda: sensitivity.mean(0, 1, n=10, neighbours="sideways"), "neighbours"),
        (lambda: Schema("t", 5), "columns by name"),
        (lambda: Schema("t", {"a": Integer(0, 1, nullable=False)}, 5), "a Unit"),
        (lambda: Real(0, 10**400, nullable=False), "upper|bound"),
        (lambda: Category(5, nullable=False), "values"),
    ],
)
def test_slips_of_the_pen_are_told_what_to_do(act, says):
    with pytest.raises(InputError, match=says):
        act()


def test_neighbours_may_be_named_by_a_word():
    assert sensitivity.mean(0, 1, n=10, neighbours="replace") == sensitivity.mean(0, 1, 10, Neighbours.REPLACE)


def test_a_budget_of_one_number_is_an_epsilon():
    from discreet import Budget

    assert Budget(0.5) == Budget(epsilon="0.5")
