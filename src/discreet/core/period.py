"""Bins of days as people write them: a month is 2023-01, a year is 2023."""

from __future__ import annotations

from datetime import date, timedelta

__all__ = ["period_label"]


def period_label(text: str) -> str:
    """A day, a month or a year in place of its first day and the one after its last; any other text as it is.

    >>> [period_label(text) for text in ("2023-12-01..2024-01-01", "2023-01-01..2024-01-01", "0..10")]
    ['2023-12', '2023', '0..10']
    """
    try:
        first, end = map(date.fromisoformat, text.split(".."))
    except ValueError:  # not two days
        return text
    if (first.day, end.day) == (1, 1):
        months = 12 * (end.year - first.year) + end.month - first.month
        if months == 1:
            return f"{first:%Y-%m}"
        if months == 12 and first.month == 1:
            return f"{first:%Y}"
    return first.isoformat() if end - first == timedelta(days=1) else text
