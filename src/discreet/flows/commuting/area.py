"""A work area as OnTheMap shows one: where its workers live, on a map, and who they are, all with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.release import Release, percent
from discreet.errors import MISSING, InputError

if TYPE_CHECKING:
    from discreet.flows.commuting.release import CommuteRelease
    from discreet.show.picture import Picture

__all__ = ["WorkArea", "profile_table", "work_area"]

_OUTPUTS = ("count", "share")
_ENDS = ("", "_lower", "_upper")
_SHOWN = 25  # home areas on a page; the others are in its table


@dataclass(frozen=True, eq=False)
class WorkArea:
    """One destination or several of a release. `homes` and `profile` are tables with intervals for the true numbers.

    Guarantee
        An interval of a count holds the true number with at least the stated confidence; that of a share where those of
        the count and of the whole do, each of which misses half as often. Proof: docs/proofs/commute.md.
    """

    release: CommuteRelease
    places: tuple[str, ...]
    homes: Release
    profile: Release | None

    @property
    def name(self) -> str:
        """The places of the area."""
        return ", ".join(self.places)

    def map(self) -> Picture:
        """Where workers live: shades for how many there are around a point, lines from homes to work."""
        from discreet.show import Home, flow_map

        points = self.release.points
        if points is None:
            hint = f'Publish it again for free: curator.publish("{self.release.id}").'
            raise InputError("release", self.release.id, "one whose record holds coordinates: it is older", hint)
        starts, ends = points.flat
        chosen = [self.release.destinations.index(place) for place in self.places]
        counts = [self.homes[f"count{end}"] for end in _ENDS]
        homes = [
            Home(name, float(starts[row, 0]), float(starts[row, 1]), *(float(one[row]) for one in counts))
            for row, name in enumerate(self.release.origins)
        ]
        works = [(self.release.destinations[place], float(ends[place, 0]), float(ends[place, 1])) for place in chosen]
        flows = self.release.flows[:, chosen].tolist()
        return flow_map(f"Where people who work in {self.name} live", homes, works, flows)

    def to_html(self) -> str:
        """One page: the map, home areas from the largest, the profile. It needs nothing else."""
        from discreet.flows.commuting.screen import screen

        note = (
            f"{percent(self.homes.confidence)} confidence intervals (not simultaneous). Release {self.release.id} of "
            f"{self.release.dataset}; cost: {self.release.cost}. Workers are made up from noisy counts."
        )
        order = sorted(range(len(self.homes)), key=lambda row: -self.homes["count"][row])
        drawn = None if self.release.points is None else self.map()
        homes = [self._cells(self.homes, row) for row in order[:_SHOWN]]
        profile = [] if self.profile is None else [self._cells(self.profile, row) for row in range(len(self.profile))]
        notes = [note, *(str(text) for text in self.release.notes)]
        return screen(self.name, drawn, homes, profile, notes, more=len(order) - len(homes))

    def save(self, path: str | Path) -> Path:
        """Write the page to an .html file."""
        place = Path(path)
        if place.suffix.lower() != ".html":
            raise InputError("path", str(path), "a file that ends in .html")
        place.write_text(self.to_html(), encoding="utf-8")
        return place

    @staticmethod
    def _cells(table: Release, row: int) -> list[str]:
        labels = [str(table[key][row]) for key in table.keys if key != "work area"]
        count = [table[f"count{end}"][row] for end in _ENDS]
        share = [table[f"share{end}"][row] for end in _ENDS]
        return [
            *labels,
            f"{count[0]:,}",
            f"{count[1]:,} to {count[2]:,}",
            f"{share[0]:.1%}",
            f"{share[1]:.1%} to {share[2]:.1%}",
        ]


def work_area(release: CommuteRelease, work: Sequence[str]) -> WorkArea:
    """The area of some destinations of a release."""
    if not work:
        raise InputError("work", MISSING, "given: one destination or several")
    if unknown := [place for place in work if place not in release.destinations]:
        raise InputError("work", unknown[0], "a destination of the release", among=release.destinations)
    if len(set(work)) < len(work):
        raise InputError("work", list(work), "a list with each destination once")
    if release.measured is None:
        release.table("flows")  # says why there are no intervals
    chosen = [release.destinations.index(place) for place in work]
    measured = release.measured
    if measured is None:
        raise TypeError("a release without measurements has no tables")
    sure = replace(measured, confidence=(1 + measured.confidence) / 2)  # of a count and a whole at once
    (low, high), _ = measured.area_ends(release.flows, chosen)
    (least, most), (fewest, all_of_them) = sure.area_ends(release.flows, chosen)
    counts = release.flows[:, chosen].sum(axis=1)
    total = max(int(counts.sum()), 1)
    share = counts / total
    columns: dict[str, list[Any]] = {release.names[0]: list(release.origins)}
    columns |= {"count": counts.tolist(), "count_lower": low.tolist(), "count_upper": high.tolist()}
    bottom = np.minimum(least / max(int(all_of_them[0]), 1), share)
    top = np.maximum(np.minimum(most / max(int(fewest[0]), 1), 1.0), share)
    columns |= {"share": share.tolist(), "share_lower": bottom.tolist(), "share_upper": top.tolist()}
    homes = _table(release, columns, (release.names[0],))
    profile = profile_table(release, {", ".join(work): chosen}) if release.profiles else None
    return WorkArea(release, tuple(work), homes, profile)


def profile_table(release: CommuteRelease, areas: Mapping[str, Sequence[int]]) -> Release:
    """Workers by the groups of each characteristic, for every area: counts and shares with intervals."""
    if not release.profiles or release.measured is None:
        hint = "Ask for one: curator.commute(..., profile=['age', 'earnings', 'industry'])."
        raise InputError("profile", MISSING, "part of the release", hint)
    confidence = release.measured.confidence
    heads = ["work area", "characteristic", "group"]
    columns: dict[str, list[Any]] = {name: [] for name in heads}
    columns |= {f"{output}{end}": [] for output in _OUTPUTS for end in _ENDS}
    for area, chosen in areas.items():
        for one in release.profiles:
            low, high = one.ends(chosen, confidence)
            for name, values in zip(heads, ([area], [one.name], one.groups), strict=True):
                columns[name] += list(values) * (len(one.groups) // len(values))
            counts = one.counts[list(chosen)].sum(axis=0)
            for end, ints in zip(_ENDS, (counts, low, high), strict=True):
                columns[f"count{end}"] += ints.tolist()
            for end, shares in zip(_ENDS, one.shares(chosen, confidence), strict=True):
                columns[f"share{end}"] += shares
    return _table(release, columns, tuple(heads))


def _table(release: CommuteRelease, columns: Mapping[str, list[Any]], keys: tuple[str, ...]) -> Release:
    confidence = 0.95 if release.measured is None else release.measured.confidence
    return Release(
        columns=columns,
        keys=keys,
        outputs=_OUTPUTS,
        confidence=confidence,
        notes=release.table_notes(*_OUTPUTS),
        **release.provenance,
    )
