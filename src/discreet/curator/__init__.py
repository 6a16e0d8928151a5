"""Where a person starts: one curator over a desk, and the table of every kind of job it knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.curator.curator import Curator, open_curator
from discreet.curator.desk import Desk, LocalDesk
from discreet.curator.draft import Draft
from discreet.curator.kinds import KINDS, Kind, kind_of, read_release
from discreet.curator.offer import Offer
from discreet.curator.question import Question

if TYPE_CHECKING:
    from discreet.curator.loads import hide_loads

__all__ = [
    "KINDS",
    "Curator",
    "Desk",
    "Draft",
    "Kind",
    "LocalDesk",
    "Offer",
    "Question",
    "hide_loads",
    "kind_of",
    "open_curator",
    "read_release",
]


def __getattr__(name: str) -> Any:
    if name == "hide_loads":  # power grids have libraries of their own
        from discreet.curator.loads import hide_loads

        return hide_loads
    raise AttributeError(f"module 'discreet.curator' has no attribute {name!r}")
