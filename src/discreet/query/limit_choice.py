"""Help in choosing limits on a person: how many rows or groups people have, bought once, and what each limit would cut.

The question counts people by how many rows they have, or in how many groups, in bins that end at powers of two. Each
person is in one bin, so it is cheap. What limits cut and what noise they cost follows from the noisy counts alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.core.note import Note
from discreet.core.release import Release, percent
from discreet.core.unit import MOST
from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.query.aggregate import count
from discreet.query.key import bins
from discreet.query.person_table import Each
from discreet.query.presentation import Presentation
from discreet.query.question import Query

if TYPE_CHECKING:
    from discreet.show.picture import Picture

__all__ = ["USUAL", "LimitTable", "draw_limits", "limit_query", "table_of"]

USUAL = 256
"""How many rows or groups one person is taken to have at most, unless said."""
_CUT = 0.05
_PEOPLE = "people"


def ladder(most: int) -> list[int]:
    """The limits that are compared where nobody has more than `most`.

    >>> ladder(20)
    [1, 2, 4, 8, 16]
    """
    if isinstance(most, bool) or not isinstance(most, int) or not 2 <= most <= MOST:
        raise InputError("most", most, f"a whole number from 2 to {MOST:,}")
    return [2**power for power in range((most - 1).bit_length())]


def limit_query(query: Query, by: str | None = None, most: int = USUAL) -> Query:
    """How many people have how many rows, or, with `by`, rows in how many groups of that column."""
    edges = _edges(most)
    end = Fraction(edges[-1])
    each = Each("count", upper=end) if by is None else Each("distinct", by, upper=end)
    name = _counted(by)
    binned = bins(name, edges)
    return query.per_person(**{name: each}).group_by(binned).agg(**{_PEOPLE: count()})


def _edges(most: int) -> list[int]:
    """Where the bins of people begin, and the last one ends."""
    starts = [1, *(limit + 1 for limit in ladder(most))]
    return [*starts, max(most, starts[-1] + 1)]


def table_of(query: Any) -> LimitTable | None:
    """How the answer to a recorded question is shown where it was asked to choose limits; None where it was not."""
    try:
        ((name, each),) = query["per_person"]["columns"].items()
        (key,) = query["group_by"]
        edges = [int(Fraction(edge)) for edge in key["edges"]]
        by = each["column"] if each["of"] == "distinct" else None
        asked = list(query["outputs"]) == [_PEOPLE] and key["column"] == name == _counted(by)
        most = next((end for end in (edges[-1], edges[-1] - 1) if _edges(end) == edges), None)
        return LimitTable(by=by, most=most) if asked and most is not None else None
    except (KeyError, TypeError, ValueError, AttributeError, InputError):
        return None


def _counted(by: str | None) -> str:
    return "rows" if by is None else "groups"


@dataclass(frozen=True, slots=True, eq=False)
class LimitTable(Presentation):
    """What each limit cuts and what noise it costs, from how many people have how many rows or groups."""

    by: str | None = None
    most: int = USUAL

    def apply(self, release: Release) -> Release:
        """A row for each limit: the share of people it cuts something of, the share of all rows or groups that is cut,
        and the noise of a count at epsilon 1."""
        ends = [release[_PEOPLE + end] for end in ("_lower", "", "_upper")]
        low, middle, high = ([max(0.0, float(value)) for value in column] for column in ends)
        # A bin that may be empty is taken for empty: few people of very many rows would outweigh all others.
        middle = [value if least > 0 else 0.0 for value, least in zip(middle, low, strict=True)]
        limits = ladder(self.most)
        starts, stops = [1, *(limit + 1 for limit in limits)], [*limits, max(self.most, limits[-1] + 2)]
        columns: dict[str, list[Any]] = {"limit": limits}
        names = ("people_cut", f"{_counted(self.by)}_cut", "noise")
        for limit in limits:
            noise = Laplace(limit).error(release.confidence)
            typical = [(start * stop) ** 0.5 for start, stop in zip(starts, stops, strict=True)]
            found = {
                names[0]: _people(limit, starts, low, middle, high),
                names[1]: (
                    _share(limit, starts, stops, low, high, -1),
                    _share(limit, typical, typical, middle, middle, 1),
                    1.0 if middle[-1] > 0 else _share(limit, stops, starts, low, high, 1),  # the last bin has no end
                ),
                names[2]: (noise, noise, noise),
            }
            for name, (least, value, most) in found.items():
                for end, number in (("", min(max(value, least), most)), ("_lower", least), ("_upper", most)):
                    columns.setdefault(name + end, []).append(number)
        notes = [replace(note, outputs=()) for note in release.notes]
        notes.append(Note("suggested", self._suggested(columns[names[1]]), names))
        return replace(release, columns=columns, keys=("limit",), outputs=names, notes=tuple(notes))

    def _suggested(self, cut: Sequence[float]) -> str:
        limits = ladder(self.most)
        limit = next((limit for limit, share in zip(limits, cut, strict=True) if share <= _CUT), None)
        what = "rows_total" if self.by is None else "groups"
        said = (
            f"No limit up to {self.most:,} seems to leave out at most {percent(_CUT)} of the {_counted(self.by)}: ask "
            f"again with most = {16 * self.most:,}."
            if limit is None
            else f"Suggested: {what} = {limit:,}, the smallest limit that seems to leave out at most {percent(_CUT)} "
            f"of the {_counted(self.by)}."
        )
        return (
            f"{said} Noise is the half-width of a count at epsilon = 1, and grows with the limit. "
            "Intervals cover the noise and the uncertainty within a bin. In the shares, anyone with more than "
            f"{self.most:,} counts with {self.most:,}."
        )


def _people(
    limit: int, starts: Sequence[int], low: Sequence[float], middle: Sequence[float], high: Sequence[float]
) -> tuple[float, float, float]:
    """The share of people beyond a limit: at least, about, at most."""
    found = []
    for beyond, within in ((low, high), (middle, middle), (high, low)):
        over = sum(many for start, many in zip(starts, beyond, strict=True) if start > limit)
        under = sum(many for start, many in zip(starts, within, strict=True) if start <= limit)
        found.append(over / (over + under) if over + under > 0 else 0.0)
    return found[0], found[1], found[2]


def _share(
    limit: int,
    over: Sequence[float],
    under: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    sign: int,
) -> float:
    """The least (sign -1) or largest (1) share that a limit cuts, over all numbers of people between `low` and `high`.

    `over` and `under` are how many each person of a bin has, beyond the limit and within it. A share of this form is
    extreme where bins that lose more than some part of what they have are at one end, and all others at the other.
    """
    parts = []
    for place in range(len(low)):
        beyond = min(over[place], under[place]) > limit
        size = over[place] if beyond else min(under[place], limit)
        parts.append((max(size - limit, 0.0) / size, size, low[place], high[place]))
    parts.sort(reverse=True)
    shares = []
    for split in range(len(parts) + 1):
        ends = [(high_ if (place < split) == (sign > 0) else low_) for place, (_, _, low_, high_) in enumerate(parts)]
        whole = sum(many * size for many, (_, size, _, _) in zip(ends, parts, strict=True))
        cut = sum(many * size * part for many, (part, size, _, _) in zip(ends, parts, strict=True))
        shares.append(cut / whole if whole > 0 else 0.0)
    return max(shares) if sign > 0 else min(shares)


def draw_limits(release: Release) -> Picture:
    """The trade-off as a picture: what each limit cuts, and its noise as a share of the largest one's."""
    from discreet.show.lines import Line, lines
    from discreet.show.plot import Axis
    from discreet.show.scale import Scale

    cut = next(name for name in release.outputs if name.endswith("_cut") and name != "people_cut")
    limits, most = release["limit"], max(release["noise"])
    shares = Line(cut.replace("_", " "), tuple(zip(limits, release[cut], strict=True)))
    noise = Line("noise, of the largest", tuple((x, y / most) for x, y in zip(limits, release["noise"], strict=True)))
    across = Axis(Scale(limits[0], max(limits[-1], 2), log=True), "limit")
    return lines("What each limit leaves out, and how much noise it needs", [shares, noise], x=across)
