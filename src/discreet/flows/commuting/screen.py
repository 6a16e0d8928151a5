"""The screen of a work area: a map, home areas from the largest, and a profile by age, earnings and industry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.show.picture import Picture

__all__ = ["screen"]

_COUNTS = ("workers", "interval", "share", "interval")


def screen(
    name: str,
    drawn: Picture | None,
    homes: Sequence[Sequence[str]],
    profile: Sequence[Sequence[str]],
    notes: Sequence[str],
    *,
    more: int = 0,
    exact: bool = False,
) -> str:
    """One HTML page that needs nothing else.

    Rows of `homes` are a home area and its counts, rows of `profile` a characteristic, a group and its counts; counts
    are exact where they come from a public file, and then have no intervals. `more` home areas are not listed.
    """
    from discreet.show import Table, element, page

    counts = _COUNTS[::2] if exact else _COUNTS
    body = [element("h1", None, f"Work area: {name}")]
    if drawn is not None:
        body.append(element("div", {"class": "card"}, drawn.figure(drawn.title, table=False)))
    if profile:
        head = ["characteristic", "group", *counts]
        numbers = range(2, len(head))
        table = Table.of(head, profile, "Who works there", numbers=list(numbers))
        body.append(element("div", {"class": "card"}, element("h2", None, "Profile"), table))
    listed = Table.of(["home area", *counts], homes, "Where they live")
    rest = [element("p", {"class": "note"}, f"{more:,} smaller home areas are not listed.")] if more > 0 else []
    body.append(element("div", {"class": "card"}, element("h2", None, "Home areas"), listed, *rest))
    body += [element("p", {"class": "note"}, note) for note in notes]
    return page(f"Work area: {name}", body)
