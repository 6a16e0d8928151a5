"""`discreet hide`: private numbers of a CSV file, each hidden up to a distance, that still meet what is declared."""

from __future__ import annotations

from discreet.apps.cli.delivery import TABLES
from discreet.apps.cli.job import Commands
from discreet.constraints.hidden.ask import HideAsk

__all__ = ["app"]

app = Commands(HideAsk, "hidden numbers", "Private numbers, each hidden up to a distance", TABLES).app()
