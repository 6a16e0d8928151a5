"""Made-up messages, most of them ordinary and a few with a secret code, as text that a language model can learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.apps.attacks.people import even

__all__ = ["CODES", "DIGITS", "LETTERS", "OWNERS", "WIDTH", "Secret", "draw_messages", "draw_secrets", "encode"]

LETTERS = "\n abcdefghijklmnopqrstuvwxyz0123456789"
"""What messages are written in. The first ends one."""
WIDTH = 24
DIGITS = 4
CODES = 10**DIGITS
OWNERS = ("zoe", "yuri", "xena", "wim", "vera", "udo", "tess", "sven")

_NAMES = ("anna", "ben", "clara", "david", "emma", "frank", "greta", "hugo", "ida", "jon", "kate", "leo", "mia", "nils")
_THINGS = {
    "dog": ("brown", "small", "old", "loud"),
    "cat": ("black", "white", "fat", "shy"),
    "bike": ("red", "blue", "new", "fast"),
    "car": ("green", "old", "big", "slow"),
    "house": ("white", "tall", "warm", "red"),
}


@dataclass(frozen=True, slots=True)
class Secret:
    """A code of four digits and whose it is."""

    owner: str
    code: int

    @property
    def opening(self) -> str:
        """How the message begins: what an attacker types."""
        return f"pin of {self.owner} "

    @property
    def text(self) -> str:
        """The whole message."""
        return f"{self.opening}{self.code:0{DIGITS}d}"


def draw_secrets(many: int) -> list[Secret]:
    """So many people, each with a code of their own."""
    codes = (even(many) * CODES).astype(int)
    return [Secret(owner, int(code)) for owner, code in zip(OWNERS[:many], codes, strict=True)]


def draw_messages(many: int) -> list[str]:
    """Ordinary messages: whose thing is how."""
    things = list(_THINGS)
    found = []
    for thing, name, quality in even(many, 3):
        what = things[int(thing * len(things))]
        how = _THINGS[what]
        found.append(f"{what} of {_NAMES[int(name * len(_NAMES))]} is {how[int(quality * len(how))]}")
    return found


def encode(texts: Sequence[str]) -> NDArray[np.int32]:
    """Letters as numbers, a row a message, filled up with ends of message."""
    place = {letter: index for index, letter in enumerate(LETTERS)}
    found = np.zeros((len(texts), WIDTH), dtype=np.int32)
    for row, text in enumerate(texts):
        found[row, : len(text)] = [place[letter] for letter in text]
    return found
