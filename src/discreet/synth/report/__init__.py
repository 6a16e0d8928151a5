"""The quality of synthetic rows: a report for everybody, made from the release alone, and one for the data's owner."""

from __future__ import annotations

from discreet.synth.report.reports import Report, compare, report

__all__ = ["Report", "compare", "report"]
