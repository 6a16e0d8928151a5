"""Objects of another kind are refused by name; numbers and arrays are left to their readers."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import pandas
import pytest
from numpy.typing import NDArray

from discreet.core.signature import typed
from discreet.errors import InputError

if TYPE_CHECKING:
    from somewhere_else import Stranger


class Named(Protocol):
    name: str

    def read_text(self) -> str: ...


@typed
def public(
    path: str | Path = "x",
    days: Sequence[date] = (),
    table: Mapping[str, date] | None = None,
    how: Literal["up", "down"] = "up",
    amount: int | float | Fraction | str = 1,
    array: NDArray[Any] | None = None,
    words: Iterable[str] = (),
    named: Named | None = None,
    stranger: Stranger | None = None,
    anything: Any = None,
    *,
    flag: bool = False,
) -> str:
    """What it is for."""
    return "done"


@pytest.mark.parametrize(
    "given",
    [
        {"path": Path("x")},
        {"days": [date(2024, 1, 1)]},
        {"days": ()},
        {"days": pandas.Index([date(2024, 1, 1)])},
        {"table": {"a": date(2024, 1, 1)}},
        {"table": None},
        {"how": "down"},
        {"amount": object()},  # which as_written refuses, and says more
        {"array": [1, 2]},
        {"array": np.zeros(3)},
        {"words": iter(["a"])},
        {"named": Path("x")},
        {"stranger": type("Stranger", (), {})()},
        {"stranger": type("Own", (type("Stranger", (), {}),), {})()},
        {"anything": object()},
        {"flag": 3},
    ],
)
def test_what_may_be_meant_passes(given):
    assert public(**given) == "done"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"path": 3}, "`path` must be text or Path; got a whole number"),
        ({"days": "2024"}, "`days` must be a list of date; got text"),
        ({"days": ["2024"]}, "list of str"),
        ({"days": 3}, "whole number"),
        ({"days": pandas.DataFrame({"a": [1]})}, "DataFrame"),
        ({"table": {"a": 1}}, "a dictionary of date"),
        ({"table": [1]}, "a dictionary of date"),
        ({"how": "sideways"}, "'up' or 'down'"),
        ({"how": pandas.DataFrame({"a": [1]})}, "'up' or 'down'"),
        ({"words": 3}, "words"),
        ({"named": "x"}, "Named"),
        ({"stranger": 3}, "Stranger"),
    ],
)
def test_another_kind_is_refused_by_name(given, says):
    with pytest.raises(InputError, match=says):
        public(**given)


def test_no_value_is_shown():
    with pytest.raises(InputError) as caught:
        public(days=["CANARY"])
    assert "CANARY" not in str(caught.value)


def test_an_unknown_argument_is_python_s_own_error():
    with pytest.raises(TypeError, match="colour"):
        public(colour=1)


def test_the_function_keeps_its_name_and_signature():
    assert public.__name__ == "public"
    assert public.__doc__ == "What it is for."


@pytest.mark.parametrize("amount", [Fraction(1), "one"], ids=["raised inside", "refused"])
def test_a_traceback_with_its_variables_shows_no_argument(amount):
    """Rows are among the arguments of what opens them."""

    @typed
    def opened(rows: list[str], amount: Fraction) -> None:
        del rows
        raise InputError("amount", str(amount), "two")

    with pytest.raises(InputError) as caught:
        opened(["canary"], amount)
    told = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    inside = [
        frame for frame in told.stack if frame.filename.endswith("signature.py") and "tests" not in frame.filename
    ]
    assert inside
    assert not any("canary" in str(frame.locals) for frame in inside)


def test_a_misspelt_argument_is_answered_with_the_nearest():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'dayz'\. Did you mean `days`"):
        public(dayz=[])
