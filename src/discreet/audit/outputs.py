"""What a mechanism gave, run after run, as an array an attack can read: one row for each run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.layout import attempt, code_of
from discreet.errors import InputError, Phrase, kind_of

__all__ = ["Outputs", "Pair", "Run", "as_outputs", "buffered", "pair_of", "repeated"]

Outputs = NDArray[Any]  # of shape (runs, numbers), int64 or float64
Run = Callable[[int], Any]


@dataclass(frozen=True, slots=True)
class Pair:
    """One mechanism on two neighbours: `inside(runs)` with the person, `outside(runs)` without.

    Each gives one output for each run, all independent: an array of numbers (of one row a run, if an output is
    several), or a list of anything that prints the same whenever it is the same. `reachable` is the most that this
    pair can show, where it is known from the laws of both outputs. `data` are the two datasets, as people read them.
    """

    inside: Run
    outside: Run
    words: str = ""
    reachable: float | None = None
    data: tuple[str, str] | None = None


def pair_of(pair: Pair | tuple[Callable[..., Any], Callable[..., Any]]) -> Pair:
    """Two functions as a pair: each takes a number of runs, or nothing and is called again and again."""
    if isinstance(pair, Pair):
        return pair
    if not isinstance(pair, tuple) or len(pair) != 2 or not all(callable(side) for side in pair):
        raise InputError("pair", kind_of(pair), "a Pair, or two functions (with the person, without)")
    inside, outside = (side if _takes_runs(side) else repeated(side) for side in pair)
    return Pair(inside, outside)


def repeated(call: Callable[[], Any]) -> Run:
    """A function of no arguments, called once for each run. An error that it raises is its output."""
    return lambda runs: [attempt(call) for _ in range(runs)]


def buffered(batch: Callable[[], Any]) -> Run:
    """Runs of something that gives many independent outputs at a time; what is not needed yet is kept."""
    kept: list[Any] = []

    def run(runs: int) -> Any:
        while sum(len(part) for part in kept) < runs:
            kept.append(np.asarray(batch()))
        whole = np.concatenate(kept)
        kept[:] = [whole[runs:]]
        return whole[:runs]

    return run


def _takes_runs(side: Callable[..., Any]) -> bool:
    try:
        return bool(inspect.signature(side).parameters)
    except (TypeError, ValueError):
        return True


def as_outputs(given: Any, runs: int) -> Outputs:
    """The outputs of `runs` runs as numbers.

    Text, keys and lists of changing length become a number that is the same whenever they are the same.
    """
    if not isinstance(given, (np.ndarray, Sequence)):
        raise InputError("pair", kind_of(given), "functions that return an array or a list, one output a run")
    if len(given) != runs:
        raise InputError("pair", Phrase(f"{len(given)} outputs"), f"one output for each of the {runs} runs requested")
    try:
        array = np.asarray(given)
    except ValueError:  # lists of different lengths
        array = np.asarray([code_of(one) for one in given])
    if array.dtype.kind in "OUS":
        array = np.asarray([code_of(one) for one in given])
    if array.dtype.kind in "bui" and array.dtype != np.uint64:
        array = array.astype(np.int64)
    elif array.dtype.kind == "u":
        array = array.view(np.int64) if array.dtype == np.uint64 else array.astype(np.int64)
    elif array.dtype.kind == "f":
        array = array.astype(np.float64)
    else:
        raise InputError(
            "pair", Phrase(f"an array of {array.dtype}"), "outputs that are numbers, text or lists of these"
        )
    return array.reshape(runs, -1)
