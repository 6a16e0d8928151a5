"""Code that a person names on their own machine, `module:object`: a model or an optimiser. A server never gets here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from discreet.errors import InputError, kind_of
from discreet.learn.model import Model
from discreet.learn.trainer import check_machinery

__all__ = ["load_model", "load_optimizer"]


def load_model(text: str) -> Model:
    """The `Model` that `module:object` names, or that the function it names makes when it is called."""
    found = _load(text, "model")
    if callable(found) and not isinstance(found, Model):
        found = _called(found, text)
    if not isinstance(found, Model):
        hint = "Such as `net = Model(apply, params)` in mine.py, named mine:net."
        raise InputError(
            "model", kind_of(found), "the name of a discreet.learn.Model, or of a function that makes one", hint
        )
    return found


def load_optimizer(text: str) -> Any:
    """The optimiser of optax that `module:object` names."""
    found = _load(text, "optimizer")
    check_machinery(found, None)
    return found


def _load(text: str, field: str) -> Any:
    """What a name stands for, imported from where Python looks, the folder of now included."""
    module, _, path = text.partition(":")
    allowed = "MODULE:OBJECT, where MODULE can be imported from this folder and has OBJECT"
    try:
        with _here():
            found: Any = import_module(module)
            for part in path.split("."):
                found = getattr(found, part)
    except Exception as problem:  # the code is the caller's own, and so is what it raises
        hint = f"It says: {type(problem).__name__}: {problem}"[:300]
        raise InputError(field, text, allowed, hint) from None
    return found


def _called(make: Any, text: str) -> Any:
    try:
        return make()
    except Exception as problem:
        hint = f"It says: {type(problem).__name__}: {problem}"[:300]
        raise InputError("model", text, "a Model, or a function without arguments that makes one", hint) from None


@contextmanager
def _here() -> Iterator[None]:
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
