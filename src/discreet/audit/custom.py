"""A mechanism of someone's own, in a module of theirs, as something to audit.

The module defines
    claim         what it promises: a loss such as Pure(1), or a pair (epsilon, delta)
    neighbours    pairs of datasets that differ by one person: [(with, without), ...], or a function that gives them;
                  or "rows" (one row more) or "replaced" (another row): then pairs are searched for, starting from
                  `data`, a list or array of rows, and from `values` that a row may have besides
    mechanism     mechanism(data) for one run, or mechanism(data, runs) for many outputs at once
and may define `name`.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from discreet.audit.claim import Claim, read_claim
from discreet.audit.finding import Finding
from discreet.audit.layout import Raised, attempt
from discreet.audit.many_runs import audit, read_confidence
from discreet.audit.neighbours import pairs_of, worst
from discreet.audit.outputs import Pair
from discreet.audit.proposals import Neighbouring, propose, seek
from discreet.audit.timing import audit_time
from discreet.core.signature import typed
from discreet.errors import MISSING, DiscreetError, InputError, Phrase, kind_of

__all__ = ["CustomMechanism", "load_module", "read_mechanism"]

_HINT = "See the guide on auditing for a module to begin with."


@dataclass(frozen=True, slots=True)
class CustomMechanism:
    """A mechanism, its claim and its neighbours, read from a module."""

    name: str
    claim: Claim
    pairs: Sequence[Pair]
    release: Callable[[Any, int], Any]
    searched: tuple[Neighbouring, Any, Sequence[Any]] | None = None
    """What to search for neighbours from, where none are given: how they differ, rows, and further values."""

    def attack(self, *, runs: int = 200_000, confidence: float = 0.999, timed: int = 0) -> list[Finding]:
        """Attack the neighbours given, or search for some; with `timed` runs also the time, on the same neighbours.

        The chance of being wrong is divided among both.
        """
        each = confidence if not timed else 1 - (1 - read_confidence(confidence)) / 2
        if self.searched is None:
            found = worst(self.pairs, self.claim, runs=runs, confidence=each, name=self.name)
            pair = next(pair for pair in self.pairs if pair.data == found.data)
        else:
            how, rows, values = self.searched
            read_confidence(each)
            pair = seek(self.release, rows, self.claim, values=values, how=how, runs=runs)
            found = audit(pair, self.claim, runs=runs, confidence=each, name=self.name)
        if not timed:
            return [found]
        return [found, audit_time(pair, self.claim, runs=timed, confidence=each, name=self.name)]


@typed
def read_mechanism(module: str | ModuleType) -> CustomMechanism:
    """Read a module, given by its dotted name, by the path of its file, or as it is."""
    loaded = module if isinstance(module, ModuleType) else load_module(module)
    found: dict[str, Any] = {name: getattr(loaded, name, None) for name in ("claim", "neighbours", "mechanism")}
    for name, value in found.items():
        if value is None:
            raise InputError(
                f"module.{name}", MISSING, "defined in the module, beside claim, neighbours and mechanism", _HINT
            )
    mechanism, neighbours = found["mechanism"], found["neighbours"]
    if not callable(mechanism):
        raise InputError("module.mechanism", kind_of(mechanism), "a function of data, or of data and runs")
    release = _many(mechanism)
    name = str(getattr(loaded, "name", loaded.__name__.rpartition(".")[2]))
    claim = read_claim(found["claim"])
    if neighbours in ("rows", "replaced"):
        rows, values = getattr(loaded, "data", None), getattr(loaded, "values", ())
        if rows is None:
            raise InputError("module.data", MISSING, "rows to start from, where neighbours are searched for", _HINT)
        propose(rows if isinstance(rows, (list, tuple)) else list(rows), values, neighbours)
        return CustomMechanism(name, claim, (), release, (neighbours, rows, values))
    listed = list(neighbours() if callable(neighbours) else neighbours)
    if not listed or not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in listed):
        raise InputError(
            "module.neighbours", kind_of(neighbours), 'a list of pairs (with, without), "rows" or "replaced"', _HINT
        )
    return CustomMechanism(name, claim, pairs_of(release, [(inside, outside) for inside, outside in listed]), release)


def _many(mechanism: Callable[..., Any]) -> Callable[[Any, int], Any]:
    """Any mechanism as a function of data and runs."""
    places = [
        one
        for one in inspect.signature(mechanism).parameters.values()
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.default is one.empty
    ]
    if len(places) == 2:
        return lambda data, runs: _batch(mechanism, data, runs)
    if len(places) == 1:
        return lambda data, runs: [attempt(lambda: mechanism(data)) for _ in range(runs)]
    raise InputError(
        "module.mechanism", Phrase(f"{len(places)} arguments"), "a function of data, or of data and runs", _HINT
    )


def _batch(mechanism: Callable[[Any, int], Any], data: Any, runs: int) -> Any:
    """Many outputs at once. Where that raises an error, one by one: the error is the output of its own run only."""
    many = attempt(lambda: mechanism(data, runs))
    if not isinstance(many, Raised):
        return many
    return [attempt(lambda: _only(mechanism(data, 1))) for _ in range(runs)]


def _only(outputs: Any) -> Any:
    return next(iter(outputs))


def load_module(name: str) -> ModuleType:
    """A module by its dotted name, or by the path of its file."""
    path = Path(name)
    if path.suffix == ".py":
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if not path.is_file() or spec is None or spec.loader is None:
            raise InputError("module", name, "a Python file that is there")
        loaded = importlib.util.module_from_spec(spec)
        with _own_code(name):
            spec.loader.exec_module(loaded)
        return loaded
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # as `python -m` does
    try:
        with _own_code(name):
            return importlib.import_module(name)
    except ModuleNotFoundError:
        raise InputError("module", name, "a module that can be imported, or the path of a .py file") from None


@contextlib.contextmanager
def _own_code(name: str) -> Iterator[None]:
    """What a module of the user's raises while it is loaded is said in a line, with its place."""
    try:
        yield
    except DiscreetError:
        raise
    except Exception as problem:
        missing = problem.name if isinstance(problem, ModuleNotFoundError) else None
        if missing is not None and (name == missing or name.startswith(f"{missing}.")):
            raise
        where = problem if isinstance(problem, SyntaxError) else traceback.extract_tb(problem.__traceback__)[-1]
        place = f"Line {where.lineno} of {where.filename} raised it."
        raise InputError(
            "module", name, f"a module that loads ({type(problem).__name__}: {problem})", place
        ) from problem
