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
    "rows": "rows beyond a contribution limit are left out of counts and clipped in sums",
    "weighted": "a unit with more rows than its limit counts with the mean of its values",
    "sampled": "some of a unit's rows were picked at random",
    "joined": "some of a unit's rows in a joined table are left out",
    "searched": "bounds come from a noisy search, and the interval is about clipped values",
    "condition": "no declared value of a column meets the condition",
    "row_count": "the number of rows is the one that is declared",
    "clipped": "what a unit or a row adds is clipped to bounds",
    "bounds": "values outside bounds are clipped to the nearer bound",
    "grid": "a quantile is a bin of a grid, and not interpolated between two values",
    "mode": "the interval of a most frequent value is one in the order of declaration",
    "candidates": "which values may be the most frequent",
    "complete": "missing values of a column declared complete count as the middle of its bounds",
    "outside": "rows with values outside the groups of the question are left out",
    "missing": "values that are not declared count as missing",
    "empty": "published groups without rows count in what is computed over groups",
    "bins": "values inside a bin are drawn evenly",
    "marginals": "some pairs of columns are not preserved",
    "discovered": "values that few units share count as missing",
    "prior": "what noise hides was taken from a public table",
    "rounding": "noisy sums were rounded to a unit far below their noise",
    "sampling": "weights stand for rows that were not sampled, and an interval is about noise alone",
    "repaired": "loads were moved to ones that their grid can feed, or numbers meet only some of the constraints",
    "sums": "numbers of parts need not add up to that of the whole",
    "shortfall": "what was chosen may be behind the best",
    "promise": "the guarantee rests on a declared limit that is not enforced on the data",
    "suggested": "which contribution limit seems to leave out little",
    "householder": "which row of a household stands for it",
    "agreement": "some tables of a census have the same totals, and others do not",
    "intervals": "what an interval is about, and what it leaves out",
    "bias": "numbers that are cut at zero are too large on average",
    "negative": "noise made numbers negative",
    "unknown": "there are too few rows to say anything",
    "data": "the answer was stored before, and the data has no version to compare it with",
}
"""Every kind of note, and what it is about."""
LIMITED: Final = frozenset({"groups", "rows", "weighted", "sampled"})
"""Kinds of notes on what a limit on each unit leaves out: another limit may leave out less."""


@dataclass(frozen=True, slots=True)
class Note:
    """What an interval does not hold, and of which outputs.

    >>> Note("bounds", "Values of pay outside 0..10 are clipped to the nearer bound.", ("mean_pay",)).to_dict()
    {'kind': 'bounds', 'text': 'Values of pay outside 0..10 are clipped to the nearer bound.', 'outputs': ['mean_pay']}
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
