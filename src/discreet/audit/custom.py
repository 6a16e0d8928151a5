"""A mechanism of someone's own, in a module of theirs, as something to audit.

The module defines
    claim         what it promises: a loss such as Pure(1), or a pair (epsilon, delta)
    neighbours    pairs of datasets that differ by one person: [(with, without), ...], or a function that gives them
    mechanism     mechanism(data) for one run, or mechanism(data, runs) for many outputs at once
and may define `name`.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from discreet.audit.claim import Claim, read_claim
from discreet.audit.neighbours import pairs_of
from discreet.audit.outputs import Pair
from discreet.core.signature import typed
from discreet.errors import MISSING, InputError, Phrase, kind_of

__all__ = ["CustomMechanism", "read_mechanism"]

_HINT = "See the guide on auditing for a module to begin with."


@dataclass(frozen=True, slots=True)
class CustomMechanism:
    """A mechanism, its claim and its neighbours, read from a module."""

    name: str
    claim: Claim
    pairs: Sequence[Pair]


@typed
def read_mechanism(module: str | ModuleType) -> CustomMechanism:
    """Read a module, given by its dotted name, by the path of its file, or as it is."""
    loaded = module if isinstance(module, ModuleType) else _load(module)
    found: dict[str, Any] = {name: getattr(loaded, name, None) for name in ("claim", "neighbours", "mechanism")}
    for name, value in found.items():
        if value is None:
            raise InputError(
                f"module.{name}", MISSING, "defined in the module, beside claim, neighbours and mechanism", _HINT
            )
    mechanism, neighbours = found["mechanism"], found["neighbours"]
    if not callable(mechanism):
        raise InputError("module.mechanism", kind_of(mechanism), "a function of data, or of data and runs")
    listed = list(neighbours() if callable(neighbours) else neighbours)
    if not listed or not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in listed):
        raise InputError("module.neighbours", kind_of(neighbours), "a list of pairs (with, without)", _HINT)
    claim = read_claim(found["claim"])
    name = str(getattr(loaded, "name", loaded.__name__.rpartition(".")[2]))
    return CustomMechanism(name, claim, pairs_of(_many(mechanism), [(inside, outside) for inside, outside in listed]))


def _many(mechanism: Callable[..., Any]) -> Callable[[Any, int], Any]:
    """Any mechanism as a function of data and runs."""
    places = [
        one
        for one in inspect.signature(mechanism).parameters.values()
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.default is one.empty
    ]
    if len(places) == 2:
        return mechanism
    if len(places) == 1:
        return lambda data, runs: [mechanism(data) for _ in range(runs)]
    raise InputError(
        "module.mechanism", Phrase(f"{len(places)} arguments"), "a function of data, or of data and runs", _HINT
    )


def _load(name: str) -> ModuleType:
    path = Path(name)
    if path.suffix == ".py":
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if not path.is_file() or spec is None or spec.loader is None:
            raise InputError("module", name, "a Python file that is there")
        loaded = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        return loaded
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # as `python -m` does
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        if problem.name is not None and (name == problem.name or name.startswith(f"{problem.name}.")):
            raise InputError("module", name, "a module that can be imported, or the path of a .py file") from None
        raise
