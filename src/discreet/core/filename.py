"""Names of tables as names of files: whatever a table is called, its file lies in the folder it is written to."""

from __future__ import annotations

__all__ = ["file_name"]

_ODD = frozenset('/\\:*?"<>|')


def file_name(name: str) -> str:
    """The same name, with underscores for what a file of any system cannot have in its name.

    >>> file_name("block group"), file_name("../../people"), file_name("city/town")
    ('block group', '_._.._people', 'city_town')
    """
    plain = "".join("_" if sign in _ODD or not sign.isprintable() else sign for sign in name).strip()
    return f"_{plain[1:]}" if plain.startswith(".") else plain or "_"
