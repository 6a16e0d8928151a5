"""The private half of a synthetic table: what came out of the meter, on record before rows are made of it.

A method asks the meter, fits, asks again, and makes rows at the end. What it does follows from the answers alone, so it
is run twice: up to its last answer with the meter, and from the first one to the rows with the answers on record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.packing import pack, unpack
from discreet.errors import InputError
from discreet.marginals.counts import ArrayCounts, Bins, Columns, Counts
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Meter, Noisy
from discreet.mechanisms.record import noise_from, noise_to
from discreet.synth.methods import Method
from discreet.synth.rescue import rescuable
from discreet.synth.workload import Workload

__all__ = ["Measurement", "RecordedMeter", "measured", "no_counts"]


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """Noisy marginals in the order they were measured, each with the bins of its codes, and what was chosen."""

    answers: tuple[tuple[Bins | None, Noisy], ...]
    choices: tuple[list[int], ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values for the record."""
        merged: list[Bins] = []
        for bins, _ in self.answers:
            if bins is not None and not any(bins is one for one in merged):
                merged.append(bins)
        places = {id(bins): place for place, bins in enumerate(merged)}
        return {
            "answers": [
                {
                    "columns": list(noisy.columns),
                    "values": pack(noisy.values),
                    "noise": noise_to(noisy.noise),
                    "bins": places.get(id(bins)),
                }
                for bins, noisy in self.answers
            ],
            "bins": [[pack(one) for one in bins] for bins in merged],
            "choices": list(self.choices),
        }

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Measurement:
        """What `to_json` made."""
        merged: list[Bins] = [[unpack(one) for one in bins] for bins in entry["bins"]]
        answers = [
            (
                None if one["bins"] is None else merged[one["bins"]],
                Noisy(tuple(one["columns"]), unpack(one["values"]), noise_from(one["noise"])),
            )
            for one in entry["answers"]
        ]
        return cls(tuple(answers), tuple(entry["choices"]))


def no_counts(domain: Domain) -> Counts:
    """Counts of a table without rows."""
    return ArrayCounts(domain, np.zeros((0, len(domain)), dtype=np.int64))


class _AllMeasuredError(Exception):
    """The price is used up: a method would ask for nothing more."""


class _Sounding(Meter):
    """A meter that ends a method with its last answer."""

    def measure(self, columns: Columns, amount: Fraction) -> Noisy:
        found = super().measure(columns, amount)
        if self.left == 0:
            raise _AllMeasuredError
        return found


class RecordedMeter(Meter):
    """Gives a method the answers that are on record, at the price they had. `blank` is a meter of no data."""

    def __init__(self, blank: Meter, record: Measurement) -> None:
        super().__init__(no_counts(blank.domain), blank.moved, blank.currency, blank.price)
        self._record = record
        self._next, self._chosen = iter(record.answers), iter(record.choices)

    @property
    def answers(self) -> tuple[tuple[Bins | None, Noisy], ...]:
        """All of them, also those that were not asked for yet."""
        return self._record.answers

    def measure(self, columns: Columns, amount: Fraction) -> Noisy:
        """The next marginal on record, if it is the one asked for."""
        noise = self.noise(amount)
        self._spend(amount)
        _, found = next(self._next, (None, None))
        shape = tuple(self.domain.sizes[column] for column in columns)
        if found is None or (found.columns, found.values.shape, found.noise) != (columns, shape, noise):
            raise InputError("measurement", columns, "the marginals that the method measured")
        return found

    def choose(
        self,
        candidates: Sequence[Columns],
        guess: Callable[[Columns], Any],
        amount: Fraction,
        *,
        k: int = 1,
        weights: Sequence[float] | None = None,
        penalties: Sequence[float] | None = None,
    ) -> list[int]:
        """The next choice on record."""
        self._spend(amount)
        chosen = next(self._chosen, None)
        if chosen is None or len(chosen) != min(k, len(candidates)) or max(chosen) >= len(candidates):
            raise InputError("measurement", chosen, "what the method chose from when it was measured")
        return chosen

    def measure_rest(self) -> None:
        """Nothing: all that was measured is on record."""


def measured(method: Method, counts: Counts, blank: Meter, bits: Any, workload: Workload) -> Measurement:
    """Everything that a method asks about private counts, at the price of the `blank` meter.

    If it stops on its way, what is left of the price goes to single columns. Whatever goes wrong where exact counts are
    looked at is passed on, as is an error before any column was measured.
    """
    meter = _Sounding(counts, blank.moved, blank.currency, blank.price, bits)
    try:
        method(meter, workload, 0)
    except _AllMeasuredError:
        pass
    except Exception:
        if not rescuable(meter):
            raise
        with suppress(_AllMeasuredError):
            meter.measure_rest()
    return Measurement(meter.answers, meter.choices)
