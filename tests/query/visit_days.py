"""A column of days, and the bin that a day falls into."""

from __future__ import annotations

from datetime import date

from discreet.data.column import Category, Date
from discreet.data.schema import Schema

LOW, HIGH = date(1960, 2, 28), date(2024, 12, 31)
DAY = Date(LOW, HIGH, nullable=True)
SCHEMA = Schema("visits", {"day": DAY, "g": Category(["a", "b"], nullable=False)})


def place(day, grid):
    return (min(max(day, LOW), HIGH) - LOW).days // grid.width
