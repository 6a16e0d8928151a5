"""A published hierarchy: a table for each level, all of which add up. Reading it again is free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.publication import Publication
from discreet.core.release import Release, plural
from discreet.errors import InputError
from discreet.ledger.door import Answer
from discreet.mechanisms.inputs import read_confidence
from discreet.trees.components import margin_of
from discreet.trees.count import asked_from
from discreet.trees.decision import Deciding
from discreet.trees.declaration import resolve_rules
from discreet.trees.estimate import Ends, Estimate
from discreet.trees.grain import rules_in_steps
from discreet.trees.intervals.each import margin_ends, size_ends
from discreet.trees.magnitude import Magnitude
from discreet.trees.measurement import Measurement
from discreet.trees.methods import check_rules, method_named, publish_counts
from discreet.trees.queries import margin_axes, margin_name
from discreet.trees.record import measured_from, published_from, rules_from
from discreet.trees.rules import Rules
from discreet.trees.targets import Family, target_ends
from discreet.trees.tree import Hierarchy

if TYPE_CHECKING:
    from discreet.show.map import Map
    from discreet.trees.covariance import Covariance
    from discreet.trees.replicates import Replicates
    from discreet.trees.simulation import Simulation
    from discreet.trees.sums import Sum

__all__ = ["TreeRelease"]


@dataclass(frozen=True)
class TreeRelease(Deciding, Publication):
    """Counts of every region of every level: whole numbers, none negative, every parent the sum of its children.

    `release["county"]` is the table of a level; `release.totals("county")` that of its totals over all cells.
    `measured` are the noisy counts themselves, which `again` makes something else of, for free.
    """

    confidence: float
    by: tuple[tuple[str, tuple[Any, ...]], ...]
    cumulative: bool
    method: str
    measured: Measurement
    _published: Estimate | None
    rules: Rules = field(default_factory=Rules)
    """The public facts that the numbers keep."""
    protects: str = ""
    """What is protected, in words; empty in records of earlier versions."""
    counted: str = "records"
    """What is counted: records, or groups of them."""
    largest: int | None = None
    """Of groups by size, the last size: it stands for all that are larger, too."""
    where: str = ""
    """Which rows are counted, where not all are."""
    magnitude: Magnitude | None = None
    """What is summed, where rows are not counted."""
    step: Fraction = Fraction(1)
    """What one of the numbers of `measured` and `estimate` stands for."""
    rounding: Fraction = Fraction(1)
    """What the numbers of its tables are multiples of, as far as public rules allow."""
    targets: tuple[Family, ...] = ()
    """Regions that are none of the tree's: places, or levels that were split."""

    @classmethod
    def read(cls, answer: Answer, cost: str, remaining: str) -> TreeRelease:
        """From an answer on the ledger."""
        result: Any = answer.result
        entry = result["tree"]
        drawn: Any = entry["measured"] if answer.measured is None else answer.measured  # one record before 0.2
        measured = measured_from(drawn)
        found = entry["published"]
        return cls(
            **answer.provenance(cost, remaining),
            confidence=entry["confidence"],
            by=tuple((name, tuple(labels)) for name, labels in entry["by"]),
            cumulative=entry["cumulative"],
            method="none" if found is None else found["method"],
            measured=measured,
            _published=None if found is None else published_from(found, measured, entry["confidence"]),
            rules=rules_from(entry.get("rules")),
            protects=entry.get("protects", ""),
            **asked_from(answer.query),
            step=Fraction(entry.get("step", 1)),
            rounding=Fraction(entry.get("rounding", 1)),
            targets=tuple(Family.from_dict(one) for one in entry.get("targets", ())),
            stale=answer.stale,
            caveats=answer.caveats,
        )

    @property
    def tree(self) -> Hierarchy:
        """The regions."""
        return self.measured.tree

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of the levels, the root first."""
        return self.tree.names

    @property
    def estimate(self) -> Estimate:
        """The numbers as arrays of multiples of `step`, one row a region and one column a cell."""
        if self._published is None:
            raise InputError(
                "method",
                self.method,
                "another one: this one failed on the noisy counts, which are stored",
                f'Nothing more has to be spent: release("{self.id}").again("topdown"), or '
                f"discreet tree show {self.id} --method topdown.",
            )
        return self._published

    @property
    def notes(self) -> tuple[str, ...]:
        """Whether it may be of earlier data, what is left out, and what the method has to say about its result."""
        return (*super().notes, *self.estimate.notes)

    def again(self, method: str, *, rules: Rules | None = None, confidence: float | None = None) -> TreeRelease:
        """The same noisy counts through another method, under the same rules or others (`Rules()` for none).

        Costs nothing: no private value is seen.
        """
        method_named(method, chain=self.measured.chain, sums=self.magnitude is not None)
        sure = self.confidence if confidence is None else float(read_confidence(confidence))
        kept = self.rules if rules is None else self.rules_of(rules)
        check_rules(self.tree, self.measured.cells, kept, chain=self.measured.chain)
        found = publish_counts(method, self.measured, kept, sure, self.grain)
        return replace(self, method=method, confidence=sure, rules=kept, _published=found)

    def rules_of(self, rules: Rules) -> Rules:
        """Rules about the published numbers as arrays: of multiples of `step`."""
        return rules_in_steps(resolve_rules(rules, self.tree, self.by), self.step)

    @property
    def grain(self) -> int:
        """How many steps published numbers are multiples of."""
        return int(self.rounding / self.step)

    def __getitem__(self, level: str) -> Release:
        """The table of a level: its regions and those they lie in, the cells, and counts with intervals."""
        return self.table(level)

    def table(self, level: str, *, intervals: str = "each") -> Release:
        """The table of a level, with confidence intervals for each region (not simultaneous), or `typical` ones.

        The typical ones are shorter: the stated share of the counts of about one size lies in theirs. They are not for
        a region singled out.
        The output of groups counted cumulatively is `at_least`: how many there are of that size or larger.
        """
        place, ends = self.tree.level(level), self._ends(intervals)
        columns = {**self._regions(place, self._cells), **self._labels(self.tree.sizes[place])}
        pair = None if ends is None else (ends.lower[place], ends.upper[place])
        return self._table(self.output, columns, self.estimate.counts[place], pair)

    def totals(self, level: str, *, intervals: str = "each") -> Release:
        """The table of a level's totals over all cells."""
        if self.cumulative:
            raise InputError.refused(
                "totals", level, "are only of plain counts: the count of size 1 says how many groups there are"
            )
        place, ends = self.tree.level(level), self._ends(intervals)
        columns = self._regions(place, 1)
        pair = None if ends is None else (ends.total_lower[place], ends.total_upper[place])
        return self._table(self.output, columns, self.estimate.totals[place], pair)

    def margin(self, level: str, by: str) -> Release:
        """The table of a level by some of its columns, `sex` or `age x sex`, with confidence intervals for each number.

        They are shorter where the margin was a query of its own. Numbers are sums of the published cells.
        """
        if self.cumulative:
            raise InputError.refused("by", by, "is only of plain counts")
        place, shape = self.tree.level(level), tuple(len(labels) for _, labels in self.by)
        axes = margin_axes(by, tuple(name for name, _ in self.by), "by")
        counts = margin_of(self.estimate.counts[place], shape, axes)
        columns, repeat = self._regions(place, counts.shape[1]), counts.shape[1]
        for name, labels in (self.by[axis] for axis in axes):
            repeat //= len(labels)
            once = [label for label in labels for _ in range(repeat)]
            columns[name] = once * (counts.size // len(once))
        ends = margin_ends(counts, self.measured, place, axes, shape, self.confidence)
        return self._table(self.output, columns, counts, ends)

    def target(self, name: str, *, totals: bool = False) -> Release:
        """The table of targets of a kind, such as places, by cell or (`totals`) over all cells; intervals for each."""
        family = next((one for one in self.targets if one.name == name), None)
        if family is None:
            raise InputError("target", name, among=[one.name for one in self.targets])
        counts = family.sums(self.estimate.counts[-1])
        counts = counts.sum(axis=1)[:, None] if totals else counts
        columns = {name: np.repeat(np.array(family.codes, dtype=object), counts.shape[1]).tolist()}
        if not totals:
            columns |= self._labels(len(family.codes))
        return self._table(self.output, columns, counts, target_ends(self, family, counts, totals=totals))

    @property
    def output(self) -> str:
        """The column of its tables that holds the numbers: `count`, `at_least` of groups by size, or `sum_income`."""
        counts = "at_least" if self.cumulative else "count"
        return counts if self.magnitude is None else self.magnitude.output

    @property
    def quantity(self) -> str:
        """What its numbers are, in words: the number of records, or the sum of a column."""
        return f"number of {self.counted}" if self.magnitude is None else self.magnitude.words

    def valued(self, numbers: Any) -> Any:
        """Multiples of `step` as the numbers that they stand for: whole ones where it is."""
        if self.step == 1:
            return numbers
        return numbers * (int(self.step) if self.step.denominator == 1 else float(self.step))

    @property
    def queries(self) -> tuple[str, ...]:
        """The margins that were asked as questions of their own, by name."""
        names = tuple(name for name, _ in self.by)
        asked = dict.fromkeys(one.axes for level in self.measured.levels for one in level.margins)
        return tuple(margin_name(names, axes) for axes in asked)

    def sizes(self, level: str) -> Release:
        """Of groups counted by size, how many there are of exactly each size, with confidence intervals."""
        if not self.cumulative and self.largest is not None:
            return self.table(level)
        if not self.cumulative:
            raise InputError.refused("sizes", level, "are only of groups that were counted by size")
        whole, place = self.table(level), self.tree.level(level)
        counts = self.estimate.counts[place]
        exactly = counts - np.pad(counts[:, 1:], ((0, 0), (0, 1)))
        columns = {name: whole.columns[name] for name in whole.keys}
        return self._table("count", columns, exactly, size_ends(exactly, self.measured, place, self.confidence))

    def tables(self) -> Mapping[str, Release]:
        """Every table that `save` writes, by the name of its file: cells, totals and margins of each level; of groups
        by size those of exactly each size, and `LEVEL-at-least`. Both kinds of intervals and quality flags are in them.
        """
        from discreet.trees.export import Tables

        return Tables(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values that say what it is, without its numbers."""
        levels = dict(zip(self.levels, self.tree.sizes, strict=True))
        found = {**super().to_dict(), "method": self.method, "levels": levels, "notes": list(self.notes)}
        if self.magnitude is not None:
            found |= {"numbers": self.quantity, "rounding": float(self.rounding)}
        return found

    def sum(self, regions: Any = None, cells: Any = None, *, confidence: float | None = None) -> Sum:
        """The sum over regions and cells that the reader picks, with an interval for it. Costs nothing.

        `regions` are codes by level, of several levels if need be, and with weights for places that cut through
        regions: {"county": ["Ash", "Elm"]}, {"block": {"1001": 0.5}}. `cells` are labels by column: {"sex": "female"}.
        Sums can be subtracted, and divided by each other: what they have in common is taken into account.
        """
        from discreet.trees.sums import sum_of

        return sum_of(
            self, regions, cells, self.confidence if confidence is None else float(read_confidence(confidence))
        )

    def replicates(self, many: int = 80, *, rules: Rules | None = None) -> Replicates:
        """Tables as they might have come out with other noise, for errors of one's own statistics. Costs nothing.

        `rules` are those that it was published under, unless others are given.
        """
        from discreet.trees.replicates import replicate

        return replicate(self, many, rules)

    @cached_property
    def covariance(self) -> Covariance:
        """How the best linear estimates behind the numbers vary together."""
        from discreet.trees.covariance import Covariance

        return Covariance(self.measured)

    @cached_property
    def simulation(self) -> Simulation:
        """The method tried out on a plausible table: people placed in empty leaf regions, and bias by size. Free."""
        from discreet.trees.simulation import simulate_release

        return simulate_release(self)

    def save(self, folder: str | Path, kind: str = "parquet") -> list[Path]:
        """Files of every level and of its totals, Parquet or CSV, and one that says what they hold; the paths."""
        from discreet.trees.export import save_release

        return save_release(self, folder, kind)

    def save_measurements(self, folder: str | Path) -> list[Path]:
        """The noisy counts that all else is made of, with the tree and the law of the noise; the paths.

        `discreet.trees.read_measurements` makes this release of them, or another one, without a ledger.
        """
        from discreet.trees.measurement_file import save_measurements

        return save_measurements(self, folder)

    def map(
        self,
        *,
        title: str | None = None,
        geometry: Any = "auto",
        code_property: str | None = None,
        intervals: str = "each",
        label: str = "",
        compare: Mapping[str, TreeRelease] | None = None,
    ) -> Map:
        """A choropleth with intervals and drill-down, as one page that needs no network.

        `geometry` is a GeoJSON or TopoJSON file (or its content) whose features' ids, or `code_property`, are codes of
        regions. `intervals` (`each` or `typical`) are shown first; readers may change them. `compare` puts other
        releases of the same levels, regions and cells on the page, by name: other years, or `again` by another method;
        `label` is what this one is called beside them.
        """
        from discreet.trees.atlas import draw_map

        self._ends(intervals)
        how = {"geometry": geometry, "code_property": code_property, "intervals": intervals}
        return draw_map(self, title=title, label=label, compare=compare, **how)

    @property
    def heading(self) -> str:
        """What it is, in a few words."""
        return f"Hierarchy of {', '.join(self.levels[1:]) or self.levels[0]}, by {self.method}"

    def shown(self) -> tuple[Any, ...]:
        """The levels, and the numbers of one of them; nothing where no method could publish any."""
        from discreet.trees.level_view import level_parts

        return () if self._published is None else level_parts(self)

    def __repr__(self) -> str:
        what = "" if self.magnitude is None else f": {self.quantity}"
        lines = [f"<Hierarchy of {self.dataset!r}{what}, by {self.method}>"]
        for name, size in zip(self.levels, self.tree.sizes, strict=True):
            lines.append(f"  {name}: {plural(size, 'region')} x {plural(self._cells, 'cell')}")
        lines += [f"Note: {note.text}" for note in self.table_notes()]
        lines.append(f"[{self.about}]")
        return "\n".join(lines)

    @cached_property
    def _cells(self) -> int:
        return self.measured.cells

    def _labels(self, regions: int) -> dict[str, list[Any]]:
        """The labels of the cells of so many regions."""
        found, repeat = {}, self._cells
        for name, labels in self.by:
            repeat //= len(labels)
            once = [label for label in labels for _ in range(repeat)]
            found[name] = once * (regions * self._cells // len(once))
        return found

    def _regions(self, place: int, cells: int) -> dict[str, list[Any]]:
        """The codes of the regions of a level, and of all they lie in, each repeated for every cell."""
        found: dict[str, list[Any]] = {}
        at = np.arange(self.tree.sizes[place])
        for level in range(place, 0, -1):
            codes = np.array(self.tree.codes[level], dtype=object)[at]
            found[self.tree.names[level]] = np.repeat(codes, cells).tolist()
            at = self.tree.parents[level][at]
        return dict(reversed(found.items()))

    def _ends(self, intervals: str) -> Ends | None:
        """The ends of the intervals of that name."""
        if intervals not in ("each", "typical"):
            renamed = {"region": "each", "average": "typical"}.get(intervals if isinstance(intervals, str) else "")
            hint = f"Did you mean `{renamed}`? It was called `{intervals}` before." if renamed else ""
            raise InputError("intervals", intervals, among=("each", "typical"), hint=hint)
        return self.estimate.each if intervals == "each" else self.estimate.typical

    def _table(self, output: str, columns: dict[str, list[Any]], counts: Any, ends: tuple[Any, Any] | None) -> Release:
        keys = tuple(columns)
        counts = self.valued(counts)
        low, high = (None, None) if ends is None else (self.valued(end) for end in ends)
        columns[output] = counts.ravel().tolist()
        columns[f"{output}_lower"] = [None] * counts.size if low is None else low.ravel().tolist()
        columns[f"{output}_upper"] = [None] * counts.size if high is None else high.ravel().tolist()
        return Release(
            **self.provenance,
            columns=columns,
            keys=keys,
            outputs=(output,),
            confidence=self.confidence,
            notes=self.table_notes(output),
        )
