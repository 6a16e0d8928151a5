"""Ids of releases as people type them: in full, or the beginning of one, if no other stored release begins like it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from discreet.errors import InputError, nearest

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger

__all__ = ["SHORTEST", "full_id", "short_ids"]

SHORTEST = 4
"""So many characters of an id must be typed at least."""
_SHOWN = 8  # characters of a drawn id that lists show, or more where others begin alike
_DRAWN = re.compile(r"[0-9a-f]{32}")


def full_id(ledger: Ledger, typed: str, *, dataset: str | None = None, answered: bool = True) -> str:
    """The id of the stored release that is meant. Ids of other datasets, where one is named, are as if not there.

    Only releases with an answer are meant unless `answered` is false.
    """
    known = ledger.find(typed)
    if known is not None and (known.answer is not None or not answered) and dataset in (None, known.charged.dataset):
        return typed
    outcomes = ledger.releases(dataset)
    ids = [one.charged.release for one in outcomes if one.answer is not None or not answered]
    # A stream's periods are ids of their own: its name stands for none of them.
    meant = [one for one in ids if one.startswith(typed) and one[len(typed) : len(typed) + 1] != "/"]
    if len(typed) >= SHORTEST and len(meant) == 1:
        return meant[0]
    if len(typed) >= SHORTEST and meant:
        short = short_ids(ids)
        hint = f"It begins {len(meant)} of them: {', '.join(short[one] for one in meant[:5])}. Type more of it."
        raise InputError("release", typed, "the id of one stored release, or the beginning of it", hint)
    close = nearest(typed, ids)
    hint = "List them: discreet releases list." if close is None else f"Did you mean `{close}`?"
    if periods := [one for one in ids if one.rpartition("/")[0] == typed]:
        hint = f"Periods of a stream have ids of their own: {', '.join(periods[-5:])}."
    raise InputError("release", typed, "the id of a stored release", hint)


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """What lists show for each id: the first characters of one that was drawn at random, as many as tell it apart.

    >>> short_ids(["counties", "3f2a" * 8, "9b01" * 8])["3f2a" * 8]
    '3f2a3f2a'
    """
    listed = sorted(set(ids))
    shown = {}
    for index, one in enumerate(listed):
        beside = [other for other in listed[max(index - 1, 0) : index + 2] if other != one]
        length = max([_SHOWN, *(_common(one, other) + 1 for other in beside)])
        shown[one] = one[:length] if _DRAWN.fullmatch(one) else one
    return shown


def _common(one: str, other: str) -> int:
    """How many characters two ids begin with alike."""
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
