"""SQL of a question that is asked again: its text, with holes where the salt of each release stands.

To build and compile an expression takes longer than most questions. What is kept here holds no row, no result and no
salt: text that follows from the declaration, the question and the stored types, and how files are shown to the engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from discreet.data.kept_plan import KeptPlan, KeptPlans

__all__ = ["Statement", "probe_salt", "statement_of"]

_NUMBER = re.compile(r"([0-9]+)")
_MASK = 2**31 - 1
_LOW = 2**30 - 1
# The ways in which expressions use a word of the salt: as it is, or as an odd factor of 30 or 31 bits.
_USES: tuple[Callable[[int], int], ...] = (
    lambda word: word & _MASK,
    lambda word: (word & _LOW) | 2**29 | 1,
    lambda word: (word & _LOW) | 1,
    lambda word: (word & _MASK) | 2**30 | 1,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A text with holes, and what an engine is shown before it reads it."""

    texts: tuple[str, ...]
    holes: tuple[tuple[int, int], ...]
    """Between two texts: how a word of the salt is used, and which one it is."""
    parsed: Any = None
    """`template`, as the engine has read it: it takes it in as long as it takes to answer a small question."""
    views: tuple[str, ...] = ()
    """Definitions of views of files."""
    frames: tuple[tuple[str, Any, Any], ...] = ()
    """Tables in memory: the name in the text, the table, and the stored types that the text was written for."""
    plans: WeakKeyDictionary[KeptPlans, KeptPlan] = field(default_factory=WeakKeyDictionary, compare=False, repr=False)
    """Its plans, by the engine that keeps them."""

    def sql(self, salt: Sequence[int]) -> str:
        """The text for a salt, with its words written out."""
        return self._filled([str(_USES[use](int(salt[place]))) for use, place in self.holes])

    @property
    def letters(self) -> int:
        """How long the text is."""
        return sum(map(len, self.texts)) + sum(map(len, self.views))

    @property
    def template(self) -> str:
        """The text with a parameter in every hole. Whatever a hole is computed with has 64 bits."""
        return self.filled(lambda name: f"CAST(${name} AS BIGINT)")

    def filled(self, write: Callable[[str], str]) -> str:
        """The text with what is written for the name of its parameter in every hole."""
        return self._filled([write(_parameter(hole)) for hole in self.holes])

    @property
    def names(self) -> list[str]:
        """The parameters, each once."""
        return list(dict.fromkeys(map(_parameter, self.holes)))

    def parameters(self, salt: Sequence[int]) -> dict[str, int]:
        """What stands for the parameters, for a salt."""
        return {_parameter(hole): _USES[hole[0]](int(salt[hole[1]])) for hole in self.holes}

    def _filled(self, words: Sequence[str]) -> str:
        return self.texts[0] + "".join(word + text for word, text in zip(words, self.texts[1:], strict=True))


def _parameter(hole: tuple[int, int]) -> str:
    return f"salt_{hole[1]}_{hole[0]}"


def probe_salt(words: int) -> list[int]:
    """Words that no use of them makes alike, so that each can be recognised in a text: bit 30 alone of 30, 29 and 0."""
    return [2**30 | (0x2A5F3C1 + 0x0F1D2B6 * place) << 1 & (2**29 - 2) for place in range(words)]


def statement_of(probe: str, words: int, sql: str, salt: Sequence[int]) -> Statement | None:
    """The statement whose text for the probe is `probe` and for this salt `sql`; None where holes cannot be told.

    Guarantee: it is returned only if its text for the salt is exactly what was compiled for that salt.
    """
    known = {
        str(use(word)): (kind, place) for place, word in enumerate(probe_salt(words)) for kind, use in enumerate(_USES)
    }
    texts, holes = [""], []
    for part in _NUMBER.split(probe):
        if part in known:
            holes.append(known[part])
            texts.append("")
        else:
            texts[-1] += part
    found = Statement(tuple(texts), tuple(holes))
    return found if found.sql(salt) == sql else None
