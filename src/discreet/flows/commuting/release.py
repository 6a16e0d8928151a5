"""Synthetic commuters that were published: rows, flows, distances, a picture. Reading them again is free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.note import Note
from discreet.core.packing import unpack
from discreet.core.publication import Publication, rows_table
from discreet.core.release import Release
from discreet.errors import InputError
from discreet.flows.commuting.land import Points
from discreet.flows.commuting.measurement import COUNTED, Measured
from discreet.flows.commuting.profile import Profile, read_profiles
from discreet.ledger.door import Answer

if TYPE_CHECKING:
    from discreet.flows.commuting.area import WorkArea
    from discreet.show.picture import Picture

__all__ = ["CommuteRelease", "distances_chart", "mean_distances"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Rows = Sequence[dict[str, Any]]
_TITLE = "Mean distance by destination"
_NAMES = ("mean distance, true", "released")


@dataclass(frozen=True, eq=False)
class CommuteRelease(Publication):
    """Made-up rows of origin and destination. `flows[o, d]` is how many there are of each pair.

    `distances[o, d]` is public; `refused` names the destinations that an accepted prior refused: their rows come from
    all possible origins alike and say nothing about who works there.
    """

    method: str
    names: tuple[str, str]
    origins: tuple[str, ...]
    destinations: tuple[str, ...]
    flows: Whole
    distances: Floats
    refused: tuple[str, ...]
    measured: Measured | None = None
    """What was measured, with its law; None in records of earlier versions, which have no intervals."""
    profiles: tuple[Profile, ...] = ()
    """Workers of every destination by age, earnings and so on, as far as they were asked for."""
    points: Points | None = None
    """Where places are, which is public; None in records of earlier versions."""

    @classmethod
    def read(cls, answer: Answer, cost: str, remaining: str) -> CommuteRelease:
        """From an answer on the ledger."""
        result: Any = answer.result
        entry = result["commute"]
        drawn: Any = answer.measured if entry["flows"] is None else entry  # rows that were drawn are not recorded twice
        origins, destinations = (tuple(places) for places in entry["places"])
        return cls(
            **answer.provenance(cost, remaining),
            method=entry["method"],
            names=(entry["names"][0], entry["names"][1]),
            origins=origins,
            destinations=destinations,
            flows=unpack(drawn["flows"]),
            distances=unpack(entry["metres"]) / 1000,
            refused=tuple(destinations[place] for place in entry["refused"]),
            measured=Measured.read(entry, answer.measured),
            profiles=read_profiles(entry, answer.measured),
            points=None if "points" not in entry else Points.from_dict(entry["points"]),
            stale=answer.stale,
            caveats=answer.caveats,
        )

    def __len__(self) -> int:
        return int(self.flows.sum())

    def columns(self) -> dict[str, list[str]]:
        """One entry a made-up row: its origin and its destination."""
        rows, columns = np.nonzero(self.flows)
        many = self.flows[rows, columns]
        places = (np.array(self.origins, dtype=object)[rows], np.array(self.destinations, dtype=object)[columns])
        return {name: np.repeat(labels, many).tolist() for name, labels in zip(self.names, places, strict=True)}

    def tables(self) -> dict[str, Release]:
        """The rows; how many there truly are of each pair, from each origin and to each destination, with intervals."""
        counted = {} if self.measured is None else {name: self.table(name) for name in COUNTED}
        profile = {"profile": self.profile()} if self.profiles else {}
        return {"rows": rows_table(self.columns(), self), **counted, **profile}

    def profile(self) -> Release:
        """Workers of every destination by the groups of each characteristic: counts and shares with intervals."""
        from discreet.flows.commuting.area import profile_table

        return profile_table(self, {name: [place] for place, name in enumerate(self.destinations)})

    def area(self, *work: str) -> WorkArea:
        """A work area of one destination or several: where its workers live, and who they are, with intervals."""
        from discreet.flows.commuting.area import work_area

        return work_area(self, work)

    def table(self, name: str) -> Release:
        """Made-up commuters counted by `flows`, `origins` or `destinations`, with intervals for the true numbers.

        Each interval holds the number of commuters in the data, as it is limited, with the stated confidence.
        """
        if name not in COUNTED:
            raise InputError("table", name, among=COUNTED)
        if self.measured is None:
            # Earlier versions kept the rows that were dealt, not the draws: nothing brings those back.
            drawn = self.method == "classic"
            hint = (
                "Its draws were not stored." if drawn else f'Publish it again for free: curator.publish("{self.id}").'
            )
            raise InputError("table", name, "of a release whose record holds the laws of its noise: it is older", hint)
        many = self.flows if name == "flows" else self.flows.sum(axis=1 if name == "origins" else 0)
        lower, upper = self.measured.ends(name, self.flows)
        places: dict[str, list[str]] = {self.names[name == "destinations"]: list(getattr(self, name, ()))}
        if name == "flows":
            starts = np.repeat(np.array(self.origins, object), len(self.destinations)).tolist()
            places = {self.names[0]: starts, self.names[1]: list(self.destinations) * len(self.origins)}
        columns = {**places, "count": many.ravel().tolist()}
        columns |= {"count_lower": lower.ravel().tolist(), "count_upper": upper.ravel().tolist()}
        notes = (*self.table_notes("count"), *(Note("intervals", one, ("count",)) for one in self.measured.notes))
        return Release(
            columns=columns,
            keys=tuple(places),
            outputs=("count",),
            confidence=self.measured.confidence,
            notes=notes,
            **self.provenance,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values that say what it is, without its rows."""
        summary = {**super().to_dict(), "method": self.method, "rows": len(self)}
        return {**summary, "columns": list(self.names), "refused": list(self.refused), "notes": list(self.notes)}

    def to_arrow(self) -> Any:
        """The rows as a pyarrow table, with its notes."""
        return rows_table(self.columns(), self).to_arrow()

    def to_pandas(self) -> Any:
        """The rows as a pandas frame, with its notes."""
        return rows_table(self.columns(), self).to_pandas()

    def mean_distances(self) -> dict[str, float | None]:
        """How far made-up people come to each destination, on average; None where nobody does."""
        return dict(zip(self.destinations, mean_distances(self.flows, self.distances), strict=True))

    def plot(self, true: Mapping[str, float | None] | None = None) -> Picture:
        """Mean distance by destination.

        `true` is for whoever owns the data: the true means, to see how far released ones are off. Such a picture is
        not to be published.
        """
        if true is not None and (missing := set(self.destinations) - set(true)):
            raise InputError("true", min(missing), "a mean distance for every destination")
        released, people = self.mean_distances(), self.flows.sum(axis=0).tolist()
        rows = [
            {
                "destination": name,
                "released": released[name],
                "rows": many,
                "true": None if true is None else true[name],
            }
            for name, many in zip(self.destinations, people, strict=True)
        ]
        return distances_chart([row for row in rows if row["released"] is not None])

    @property
    def heading(self) -> str:
        """What it is, in a few words."""
        return f"{len(self):,} synthetic commuters, {self.method}"

    def __repr__(self) -> str:
        places = f"{len(self.origins):,} origins, {len(self.destinations):,} destinations"
        lines = [f"<Commuters of {self.dataset!r}, {self.method}: {len(self):,} made-up rows, {places}>"]
        if self.refused:
            lines.append(f"  refused: {', '.join(self.refused)}")
        lines += [f"Note: {note}" for note in self.notes]
        lines.append(f"[{self.about}]")
        return "\n".join(lines)


def mean_distances(flows: Whole, distances: Floats) -> list[float | None]:
    """The mean distance to every destination, None where nobody goes."""
    people = flows.sum(axis=0)
    sums = (flows * distances).sum(axis=0)
    return [float(far / many) if many else None for far, many in zip(sums, people, strict=True)]


def distances_chart(rows: Rows, side: int = 380, title: str = _TITLE) -> Picture:
    """Points of (true, released) means on a diagonal, as large as their destinations; without true ones, bars in order.

    Each row has destination, released, rows and true, which is None if it is not known.
    """
    from discreet.show import Bar, Point, bars, scatter

    if any(row["true"] is None for row in rows):
        order = sorted(rows, key=lambda row: -row["released"])
        return bars(f"{title}, released", [Bar(row["destination"], row["released"]) for row in order])
    data = [Point(row["destination"], row["true"], row["released"], row["rows"]) for row in rows]
    return scatter(title, data, names=_NAMES, side=side)
