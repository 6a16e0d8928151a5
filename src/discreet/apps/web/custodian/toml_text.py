"""TOML that somebody typed on a page, looked at before it is read: very deep nesting takes a server's memory."""

from __future__ import annotations

from discreet.errors import InputError, Phrase

__all__ = ["check_nesting"]

_DEEPEST = 100


def check_nesting(text: str, field: str) -> None:
    """`InputError` for names of very many parts (a.b.c...) and lists in lists in lists: no file of ours has any.

    In one pass over the text. Dots and brackets in texts count too, which nobody writes so many of in a row.
    """
    depth = dots = 0
    for mark in text:
        if mark in "\n=,":
            dots = 0
        elif mark == ".":
            dots += 1
        elif mark in "[{":
            depth, dots = depth + 1, 0
        elif mark in "]}":
            depth = max(depth - 1, 0)
        if max(depth, dots) > _DEEPEST:
            raise InputError(field, Phrase("very deep nesting"), f"at most {_DEEPEST} names or lists inside each other")
