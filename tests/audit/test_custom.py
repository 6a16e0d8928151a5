"""Mechanisms in modules of their own: what is missing is said."""

from __future__ import annotations

from types import ModuleType

import pytest

from discreet.audit import worst
from discreet.audit.custom import load_module, read_mechanism
from discreet.errors import InputError


def module(**names):
    made = ModuleType("made")
    for name, value in names.items():
        setattr(made, name, value)
    return made


FULL = {"claim": (1, 0), "neighbours": [(1, 0)], "mechanism": lambda data: data}


@pytest.mark.parametrize(
    ("field", "changed"),
    [
        ("module.claim", {"claim": None}),
        ("module.neighbours", {"neighbours": None}),
        ("module.neighbours", {"neighbours": []}),
        ("module.neighbours", {"neighbours": [1, 2]}),
        ("module.mechanism", {"mechanism": 3}),
        ("module.mechanism", {"mechanism": lambda: 1}),
        ("claim", {"claim": "private"}),
    ],
)
def test_a_module_that_lacks_something_is_told_what(field, changed):
    with pytest.raises(InputError) as caught:
        read_mechanism(module(**{**FULL, **changed}))
    assert caught.value.field == field


def test_neighbours_may_be_a_function():
    own = read_mechanism(module(**{**FULL, "neighbours": lambda: iter([(1, 0)])}))
    assert own.name == "made"
    assert worst(own.pairs, own.claim, runs=100).violated


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\nraise ValueError('not today')", "(ValueError: not today)"),
        ("def (", "(SyntaxError: "),
        ("import a_module_that_nobody_has", "(ModuleNotFoundError: "),
    ],
)
def test_a_module_that_does_not_load_is_answered_with_the_place(tmp_path, monkeypatch, text, says):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "unloadable.py").write_text(text)
    for name in ("unloadable.py", "unloadable"):
        with pytest.raises(InputError, match="a module that loads") as refused:
            load_module(name)
        assert says in str(refused.value)
        assert f"Line {text.count(chr(10)) + 1} of " in str(refused.value)
        assert "unloadable.py raised it." in str(refused.value)
