"""`discreet demo`: the main job on a table that ships with the package."""

from __future__ import annotations


def demo() -> None:
    """Show private answers on an invented table of 5,000 people."""
