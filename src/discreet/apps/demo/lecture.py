"""A lecture that runs: numbers beside those of a course on differential privacy, and a picture at the end.

All people are invented, and the same each time: their numbers follow from a public key. The noise is fresh.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.apps.demo import LECTURES
from discreet.curator import Curator, open_curator
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.noise.replay import Replay, uniforms
from discreet.show import Picture

__all__ = ["Beside", "Lecture", "draw_choices", "invented_curator", "run_lecture"]


@dataclass(frozen=True)
class Beside:
    """A number of a lecture, and ours."""

    what: str
    there: str
    here: str

    def __str__(self) -> str:
        return f"{self.what}: {self.there} in the lecture, {self.here} here"


@dataclass(frozen=True)
class Lecture:
    """What a lecture shows: numbers beside ours, words, a picture, and the page that explains them."""

    title: str
    numbers: tuple[Beside, ...]
    words: str
    picture: Picture
    page: str


def run_lecture(name: str) -> Lecture:
    """Run one of `LECTURES`; under a minute each, on invented data, without a network."""
    if name not in LECTURES:
        raise InputError("lecture", name, among=tuple(LECTURES))
    found: Lecture = import_module(f"discreet.apps.demo.{name}_lecture").show()
    return found


@contextmanager
def invented_curator(
    columns: dict[str, Any], schema: Schema, epsilon: float, delta: float | None = None
) -> Iterator[Curator]:
    """A curator of invented rows, whose ledger is gone afterwards."""
    import pyarrow

    with TemporaryDirectory() as folder:
        budget = Budget(epsilon=epsilon) if delta is None else Budget(epsilon=epsilon, delta=delta)
        yield open_curator(pyarrow.table(columns), schema, ledger=Ledger.temporary(folder), budget=budget, who="demo")


def draw_choices(bits: Replay, count: int, shares: list[float]) -> NDArray[np.int64]:
    """Invented codes, each as common as its share."""
    ends = np.cumsum(np.array(shares) / sum(shares))
    return np.minimum(np.searchsorted(ends, uniforms(bits, count), side="right"), len(shares) - 1)
