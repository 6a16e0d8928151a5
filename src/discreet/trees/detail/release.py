"""A published table of population groups in adaptive detail, read from its record, with files that say what it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.note import Note
from discreet.core.release import Release
from discreet.errors import InputError
from discreet.ledger.door import Answer
from discreet.mechanisms.inputs import read_confidence
from discreet.trees.detail.measurement import COUNT, KEYS, GroupMeasurement
from discreet.trees.quality import flags
from discreet.trees.rules import Rules

if TYPE_CHECKING:
    from discreet.show.map import Map
    from discreet.trees.sums import Figure

__all__ = ["DetailRelease"]


_ALIKE = ("level", "detail", "cell")
"""The columns that say with which noise a number was measured."""


@dataclass(frozen=True, slots=True, repr=False)
class DetailRelease(Release):
    """A row for each cell that was published of a group of a region: its detail, its number, interval and quality."""

    protects: str = ""
    measured: GroupMeasurement | None = field(default=None, compare=False)
    """The noisy numbers themselves; None in records of earlier versions."""

    @property
    def known(self) -> GroupMeasurement:
        """The noisy numbers; `InputError` where the record does not hold the laws of their noise."""
        if self.measured is None:
            hint = f'Publish it again for free: curator.publish("{self.id}"), or discreet releases publish {self.id}.'
            raise InputError("release", self.id, "one whose record holds the laws of its noise: it is older", hint)
        return self.measured

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
        stale = [Note("data", answer.stale, tuple(result["outputs"]))] if answer.stale else []
        measured = None
        if "asked" in result and answer.measured is not None:
            drawn: Any = answer.measured
            measured = GroupMeasurement.read(result["asked"], asked["detail"], drawn)
        return cls(
            **answer.provenance(cost, remaining),
            columns=_with_flags(result["columns"], result["keys"], result["outputs"], result["confidence"]),
            keys=tuple(result["keys"]),
            outputs=tuple(result["outputs"]),
            confidence=result["confidence"],
            query=asked,
            notes=(*stale, *(Note.from_dict(note) for note in result["notes"])),
            protects=result["protects"],
            measured=measured,
        )

    @classmethod
    def made(
        cls, measured: GroupMeasurement, confidence: float, notes: tuple[Note, ...], **about: Any
    ) -> DetailRelease:
        """From noisy numbers, with what is known of where they came from."""
        columns = _with_flags(measured.columns(confidence), KEYS, (COUNT,), confidence)
        return cls(
            **about,
            columns=columns,
            keys=KEYS,
            outputs=(COUNT,),
            confidence=confidence,
            notes=notes,
            measured=measured,
        )

    def sum(
        self, regions: Any = None, groups: Any = None, cells: Any = None, *, confidence: float | None = None
    ) -> Figure:
        """The sum over regions of one level, groups and cells, with an interval for it. Costs nothing.

        `regions` are codes by level, {"county": ["Ash", "Elm"]}, the whole unless given; `groups` names of groups, all
        of them unless given: a row counts once in each group that it is in. `cells` are cells that every one of them
        was published in, its total unless given. The value is an unbiased estimate, not the sum of the published
        numbers, which are cut at zero.
        """
        from discreet.trees.detail.sums import sum_groups

        sure = self.confidence if confidence is None else float(read_confidence(confidence))
        return sum_groups(self.known, regions, groups, cells, sure)

    def map(self, *, title: str | None = None, geometry: Any = "auto", code_property: str | None = None) -> Map:
        """The totals of all groups as a choropleth with intervals and drill-down, one page that needs no network."""
        from discreet.trees.detail.atlas import draw_groups

        return draw_groups(self, title=title, geometry=geometry, code_property=code_property)

    def save_measurements(self, folder: str | Path) -> list[Path]:
        """The noisy numbers of both looks, with the laws of their noise and the tree; the paths.

        `discreet.trees.detail.read_groups` makes this release of them, without a ledger.
        """
        from discreet.trees.detail.measurement_file import save_groups

        return save_groups(self, folder)

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

    def save(self, folder: str | Path, *, kind: str = "parquet") -> list[Path]:  # type: ignore[override]  # a folder
        """Write the table, a data dictionary, and what the columns mean for programs; the paths written."""
        from discreet.trees.detail.export import save

        return save(self, folder, kind)


def _with_flags(
    columns: Mapping[str, list[Any]], keys: Sequence[str], outputs: Sequence[str], confidence: float
) -> dict[str, list[Any]]:
    """The columns in their order, and whether to rely on each number."""
    order = [*keys, *(output + end for output in outputs for end in ("", "_lower", "_upper"))]
    found = {name: columns[name] for name in order}
    (output,) = outputs
    alike = [(*row, cell == "total") for *row, cell in zip(*(found[name] for name in _ALIKE), strict=True)]
    found[f"{output}_quality"] = flags(found, output, confidence, alike)
    return found
