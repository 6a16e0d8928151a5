"""A published table of population groups in adaptive detail, read from its record, with files that say what it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.note import Note
from discreet.core.release import Release
from discreet.errors import InputError
from discreet.ledger.door import Answer
from discreet.trees.quality import flags
from discreet.trees.rules import Rules

__all__ = ["DetailRelease"]


_ALIKE = ("level", "detail", "cell")
"""The columns that say with which noise a number was measured."""


@dataclass(frozen=True, slots=True, repr=False)
class DetailRelease(Release):
    """A row for each cell that was published of a group of a region: its detail, its number, interval and quality."""

    protects: str = ""

    @property
    def method(self) -> str:
        """How it was made."""
        return "detail by noisy totals"

    @property
    def rules(self) -> Rules:
        """Public facts that were declared: none."""
        return Rules()

    @property
    def magnitude(self) -> None:
        """Numbers are counts, and no sums of a column."""
        return None

    @property
    def quantity(self) -> str:
        """What its numbers are, in words."""
        return "number of records"

    @property
    def rounding(self) -> int:
        """What its numbers are multiples of."""
        return 1

    @classmethod
    def read(cls, answer: Answer, cost: str, remaining: str) -> DetailRelease:
        """From a recorded answer."""
        result: Any = answer.result
        asked: Any = answer.query or {}
        order = [*result["keys"], *(output + end for output in result["outputs"] for end in ("", "_lower", "_upper"))]
        stale = [Note("data", answer.stale, tuple(result["outputs"]))] if answer.stale else []
        columns = {name: result["columns"][name] for name in order}
        (output,) = result["outputs"]
        alike = [(*row, cell == "total") for *row, cell in zip(*(columns[name] for name in _ALIKE), strict=True)]
        columns[f"{output}_quality"] = flags(columns, output, result["confidence"], alike)
        return cls(
            **answer.provenance(cost, remaining),
            columns=columns,
            keys=tuple(result["keys"]),
            outputs=tuple(result["outputs"]),
            confidence=result["confidence"],
            query=asked,
            notes=(*stale, *(Note.from_dict(note) for note in result["notes"])),
            protects=result["protects"],
        )

    @property
    def details(self) -> dict[tuple[str, str, str], str]:
        """The level of detail that was published of each group: by level, region and name of the group."""
        names = ("level", "region", "group", "detail")
        return {row[:3]: row[3] for row in zip(*(self.columns[name] for name in names), strict=True)}

    def pair(self, level: str, region: str, group: str) -> dict[str, tuple[int, int, int]]:
        """The cells of one group of one region, the total among them: number and ends of the interval of each."""
        names = ("cell", "count", "count_lower", "count_upper", "level", "region", "group")
        rows = zip(*(self.columns[name] for name in names), strict=True)
        found = {row[0]: row[1:4] for row in rows if row[4:] == (level, region, group)}
        for name, value in (("level", level), ("region", region), ("group", group)):
            if not found and value not in self.columns[name]:
                raise InputError(name, value, among=list(dict.fromkeys(self.columns[name])))
        if not found:
            raise InputError("region", region, f"a region of {level}")
        return found

    def save(self, folder: str | Path, *, kind: str = "parquet") -> list[Path]:
        """Write the table, a data dictionary, and what the columns mean for programs; the paths written."""
        from discreet.trees.detail.export import save

        return save(self, folder, kind)
