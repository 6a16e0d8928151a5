"""Whatever is given to a public name, the answer is a result or a DiscreetError, and it comes soon.

The names are read from `__all__` of each room, so that a new one is tried without being listed here. Each parameter is
replaced in turn by hostile values, the others being sensible; then all at once.
"""

from __future__ import annotations

import contextlib
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
import pandas
import pytest

import discreet
from discreet import Category, Date, Integer, Neighbours, Query, Real, Schema, Unit, bins, local
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
# Rooms whose names take whole objects: tried with a few values that are none of them.
OBJECTS = [
    "discreet",
    "discreet.local.questionnaire",
    "discreet.audit",
    "discreet.trees.bayes",
    "discreet.trees.chain",
    "discreet.trees.detail",
    "discreet.constraints",
    "discreet.trees.exact",
    "discreet.trees.intervals",
    "discreet.show.map",
    "discreet.flows.mobility",
    "discreet.power",
    "discreet.trees.topdown",
    "discreet.synth.report",
]
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
STRANGE: list[Any] = [
    None, 3, -1, "x", b"x", [], {}, ("x",), {"x": "y"}, object(), float("nan"), float("inf"), 10**400,
    pandas.DataFrame({"a": [1]}),
]  # fmt: skip


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


def public(rooms):
    for room in rooms:
        module = importlib.import_module(room)
        names = getattr(module, "__all__", None) or [n for n, v in vars(module).items() if inspect.isclass(v)]
        for name in names:
            made = getattr(module, name)
            protocol = getattr(made, "_is_protocol", False) or getattr(made, "__origin__", None) is not None
            protocol = protocol or inspect.isabstract(made)
            if isinstance(made, type) and issubclass(made, Enum):
                continue  # Python's own errors: text is read by `read_neighbours`
            if callable(made) and not protocol and not inspect.isabstract(made) and takes(made):
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


def complaints(made, hostile=None):
    fields = [
        field
        for field in takes(made).values()
        if field.name not in ("self", "bits") and field.kind in (field.POSITIONAL_OR_KEYWORD, field.KEYWORD_ONLY)
    ]
    needed = [field.name for field in fields if field.default is field.empty]
    sensible = {name: SENSIBLE.get(name, 1) for name in needed}
    for value in hostile or (FEW if made.__name__ in SLOW else HOSTILE):
        for field in fields:
            if said := complaint(made, {**sensible, field.name: value}):
                yield field.name, said
        if said := complaint(made, dict.fromkeys(needed, value)):
            yield "all", said


@pytest.mark.parametrize("made", list(public(ROOMS)))
def test_a_result_or_an_error_of_our_own(made):
    assert list(complaints(made)) == []


@pytest.mark.parametrize("made", list(public([*OBJECTS, "discreet.local"])))
def test_what_takes_whole_objects_refuses_others(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert list(complaints(made, STRANGE)) == []


TABLE = pandas.DataFrame({"a": [1, 2], "day": ["2024-01-01"] * 2, "c": ["x", "y"]})
DECLARED = Schema("t", {"a": Integer(0, 9), "day": Date("2024-01-01", "2024-12-31"), "c": Category(["x", "y"])})
OWN = {"through_the_door", "read"}  # for the rooms, which hand over their own plans and answers


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    ledger = tmp_path_factory.mktemp("books") / "ledger.db"
    return discreet.open(TABLE, DECLARED, ledger=ledger, create=True, budget=discreet.Budget(10**6, delta="1e-6"))


@pytest.mark.parametrize("noun", ["curator", "question", "with outputs", "stream", "offer"])
def test_a_curator_and_its_questions_refuse_what_they_cannot_use(noun, curator, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counted = curator.table().agg(n=count())
    known = {
        "curator": curator,
        "question": curator.table(),
        "with outputs": counted,
        "stream": counted.stream(bins("day", every="month")),
        "offer": counted.plan(epsilon=1),
    }[noun]
    names = [name for name in dir(known) if not name.startswith("_") and name not in OWN]
    methods = [method for name in names if callable(method := getattr(known, name)) and takes(method)]
    assert len(methods) >= 1
    assert {method.__name__: said for method in methods if (said := list(complaints(method, STRANGE)))} == {}


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: type(value).__name__)
def test_no_part_of_a_question_is_taken_for_another(value, curator):
    table = curator.table()
    counted = table.agg(n=count())
    for act in (
        lambda: table.group_by(value).agg(n=count()).plan(epsilon=1),
        lambda: table.group_by(value).plan(epsilon=1),
        lambda: table.agg(n=value).plan(epsilon=1),
        lambda: table.agg(value),
        lambda: table.where(value).agg(n=count()).plan(epsilon=1),
        lambda: counted.stream(value).plan(epsilon=1, periods=3),
        lambda: curator.batch(a=value).plan(epsilon=1),
        lambda: curator.tree(["c"], by=[value]).plan(epsilon=1),
        lambda: discreet.open(TABLE, DECLARED, ledger=value),
    ):
        with contextlib.suppress(DiscreetError):
            act()


def test_a_raw_error_would_be_noticed():
    def raw(epsilon):
        return 1 / float(epsilon)

    assert list(complaints(raw))


def mechanisms():
    """Those that can be made of numbers alone and say what error to expect."""
    module = importlib.import_module("discreet.mechanisms")
    for name in module.__all__:
        made = getattr(module, name)
        if not callable(made):
            continue
        sensible = {
            field.name: SENSIBLE.get(field.name, 1) for field in takes(made).values() if field.default is field.empty
        }
        with contextlib.suppress(DiscreetError):
            mechanism = made(**sensible | ({"epsilon": 1} if {"epsilon", "rho"} <= set(takes(made)) else {}))
            if hasattr(mechanism, "error"):
                yield pytest.param(mechanism, id=name)


MECHANISMS = list(mechanisms())


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_expected_errors_of_mechanisms_take_hostile_values_too(mechanism):
    assert list(complaints(mechanism.error)) == []


def test_what_expects_no_error_of_its_own_is_known():
    named = {name for name in importlib.import_module("discreet.mechanisms").__all__ if name != "sensitivity"}
    sessions = {"ContinualCountSession", "SparseVectorSession"}
    others = {"Quantile", "RandomizedResponse", "RankCurve", "lattice_distance"}
    assert named - {param.id for param in MECHANISMS} == sessions | others


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda: Query().agg(count()), r"agg\(rows=count\(\)\)"),
        (lambda: Query().agg(rows=1).checked(SCHEMA), r"count\(\), people"),
        (lambda: list(Query()), "release it first"),
        (lambda: Query()["rows"], "release it first"),
        (lambda: Query().group_by(None).agg(rows=count()).checked(SCHEMA), "column names"),
        (lambda: Query().group_by(3), "column names"),
        (lambda: discreet.open(TABLE, DECLARED, ledger=5), "ledger"),
        (lambda: local.difference(3, 4), "first.*AnyEstimate"),
        (lambda: local.stratified([1], [1]), "list of AnyEstimate.*list of int"),
        (lambda: local.write(3, 4, "x.csv"), "survey.*Survey"),
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


def test_a_stream_of_a_bare_column_is_shown_how_to_name_periods(curator):
    with pytest.raises(InputError, match='bins\\("day", every="month"\\)'):
        curator.table().agg(n=count()).stream("day")


def test_neighbours_may_be_named_by_a_word():
    assert sensitivity.mean(0, 1, n=10, neighbours="replace") == sensitivity.mean(0, 1, 10, Neighbours.REPLACE)


def test_a_budget_of_one_number_is_an_epsilon():
    from discreet import Budget

    assert Budget(0.5) == Budget(epsilon="0.5")
