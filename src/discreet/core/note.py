"""A word beside a number: why it may differ from what the table itself would give, by more than its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["LIMITED", "NOTES", "Note"]

NOTES: Final[Mapping[str, str]] = {
    "persons": "units are counted, and not rows",
    "unidentified": "rows without an id of their unit are left out",
    "groups": "a unit counts in some of its groups only",
    "rows": "a count leaves out rows beyond a limit, a sum what is beyond as many rows at their bounds",
    "weighted": "a unit's values weigh as much as a limit on rows allows",
    "sampled": "of a unit's rows some were picked at random",
    "joined": "of a unit's rows in a joined table some are left out",
    "searched": "bounds came of a noisy search, and the interval is of values moved into them",
    "condition": "no declared value of a column meets the condition",
    "row_count": "the number of rows is the one that is declared",
    "clipped": "what a unit or a row adds is cut to bounds",
    "bounds": "values outside bounds count as the nearer end",
    "grid": "a quantile is a bin of a grid, and not interpolated between two values",
    "mode": "the interval of a most frequent value is one in the order of declaration",
    "candidates": "which values may be the most frequent",
    "complete": "missing values of a column declared complete count as the middle of its bounds",
    "outside": "rows with values that no group was asked for are left out",
    "missing": "values that are not declared count as missing",
    "empty": "published groups without rows count in what is computed over groups",
    "bins": "values inside a bin are drawn evenly",
    "marginals": "some columns were not kept together",
    "discovered": "values that few units share count as missing",
    "prior": "what noise hides was taken from a public table",
    "rounding": "noisy sums were rounded to a unit far below their noise",
    "sampling": "weights stand for rows that were not sampled, and an interval is about noise alone",
    "repaired": "loads were moved to ones that their grid can feed, or numbers meet only some of what was asked",
    "sums": "numbers of parts need not add up to that of the whole",
    "promise": "the guarantee rests on a declared limit that the data were not held to",
    "suggested": "which limit seems to cut little",
    "householder": "which row of a household stands for it",
    "agreement": "some tables of a census have the same totals, and others have not",
    "intervals": "what an interval is about, and what it leaves out",
    "bias": "numbers that are cut at zero are too large on average",
    "negative": "noise took numbers below zero",
    "unknown": "there are too few rows to say anything",
    "data": "the answer was stored before, and the data has no version to compare it with",
}
"""Every kind of note, and what it is about."""
LIMITED: Final = frozenset({"groups", "rows", "weighted", "sampled"})
"""Kinds of notes on what a limit on each unit leaves out: another limit may leave out less."""


@dataclass(frozen=True, slots=True)
class Note:
    """What an interval does not hold, and of which outputs.

    >>> Note("bounds", "Values of pay outside 0..10 go to the nearer end.", ("mean_pay",)).to_dict()
    {'kind': 'bounds', 'text': 'Values of pay outside 0..10 go to the nearer end.', 'outputs': ['mean_pay']}
    """

    kind: str
    text: str
    outputs: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"kind": self.kind, "text": self.text, "outputs": list(self.outputs)}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Note:
        """From plain values."""
        return cls(entry["kind"], entry["text"], tuple(entry["outputs"]))

    def __str__(self) -> str:
        return f"{', '.join(self.outputs)}: {self.text}" if self.outputs else self.text
