"""What `discreet` alone says: what it is for, the way from a table to an answer, and what is in this folder."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

from discreet.apps.cli.table_width import terminal_width

__all__ = ["welcome"]

_FOR = (
    "discreet answers questions about private data with differential privacy. You see the price and the expected error "
    "before anything is spent; a ledger keeps the budget."
)
_WAY = (
    ("See it", "discreet demo --serve"),
    ("Describe your data", "discreet init people.csv"),
    ("Check the description", "discreet check people.csv"),
    ("Create a ledger, once", "discreet ledger create"),
    ("What would it cost?", "discreet plan people.csv count --by sex --epsilon 0.1"),
    ("Ask", "discreet ask people.csv count --by sex --epsilon 0.1"),
    ("Ask in SQL", "discreet shell people.csv"),
    ("What is left?", "discreet ledger show"),
)
_MORE = "All commands: discreet --help. Options and examples: discreet ask --help."
_WIDE = 78  # where nobody says how wide it may be


def welcome() -> str:
    """The text. Nothing is opened for it: it says what would be used here, and by which rule."""
    width = max(20, min(terminal_width() or _WIDE, _WIDE))
    lines = [f"  {step:<22} {command}" for step, command in _WAY]
    if max(map(len, lines)) > width:
        lines = [line for step, command in _WAY for line in (f"  {step}", f"    {command}")]
    texts = (textwrap.fill(text, width, break_on_hyphens=False) for text in (_FOR, _here(), _MORE))
    about, here, more = texts
    return "\n\n".join((about, "\n".join(lines), here, more))


def _here() -> str:
    named = os.environ.get("DISCREET_SCHEMA")
    schema = Path(named or "discreet.toml")
    if named is None and not schema.exists():
        return "Here: no schema yet (discreet.toml), and so no ledger."
    from discreet.curator.setup import find_ledger
    from discreet.ledger.location import public_address

    ledger = find_ledger(None, schema, None)
    there = "" if "://" in str(ledger) or Path(ledger).exists() else " (not made yet)"
    return f"Here: schema {schema}, ledger {public_address(ledger)}{there}."
