"""Where a person starts: one curator over a ledger, and the table of every kind of job it knows."""

from __future__ import annotations

from discreet.curator.curator import Curator, open_curator
from discreet.curator.kinds import KINDS, Kind, kind_of, read_release

__all__ = ["KINDS", "Curator", "Kind", "kind_of", "open_curator", "read_release"]
