"""A word that is typed: no options are listed, and the words that stand out are found among all there could be."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

import numpy as np

from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.local.heavy_hitters import HeavyHitter, HeavyHitters, HeavyReports
from discreet.local.questionnaire.prefixes import Prefixes

__all__ = ["find_words", "folds", "law_of_words", "randomise_word", "read_word"]


def law_of_words(mechanism: HeavyHitters) -> Prefixes:
    """What a page sends instead of a word."""
    return Prefixes(mechanism.length, len(mechanism.alphabet), mechanism.bits, mechanism.parities, mechanism.hit)


def folds(mechanism: HeavyHitters) -> bool:
    """Whether capitals are read as small letters: where the alphabet has none."""
    return mechanism.alphabet == mechanism.alphabet.lower()


def read_word(mechanism: HeavyHitters, answer: object, name: str) -> str:
    """A word as it was typed, without spaces around it; what is no word of the alphabet is refused, not repeated."""
    text = unicodedata.normalize("NFC", answer.strip()) if isinstance(answer, str) else ""
    word = text.lower() if folds(mechanism) else text
    if not 1 <= len(word) <= mechanism.length or not set(word) <= set(mechanism.alphabet):
        raise InputError(name, Phrase("another answer"), f"a word of 1 to {mechanism.length} letters of the alphabet")
    return word


def randomise_word(mechanism: HeavyHitters, word: str, bits: Bits | None = None) -> str:
    """What is sent instead of a word, as the page writes it."""
    made = mechanism.privatize([word], bits=bits)
    key = 0
    for part in made.keys[0]:
        key = key << _whole(mechanism) | int(part) & _mask(mechanism)
    return f"{int(made.levels[0])}:{key:x}:{int(made.buckets[0])}"


def find_words(mechanism: HeavyHitters, reports: Mapping[str, int], confidence: float) -> list[HeavyHitter]:
    """The words that stand out, the most common first; none where too few people answered to look."""
    law, whole, mask = law_of_words(mechanism), _whole(mechanism), _mask(mechanism)
    read = [law.split(report) for report in sorted(reports)]
    times = [reports[report] for report in sorted(reports)]
    levels = np.repeat(np.array([level for level, _, _ in read], dtype=np.int64), times)
    if len(np.unique(levels)) < mechanism.length:
        return []
    shifts = [whole * part for part in reversed(range(mechanism.parities))]
    keys = np.array([[key >> shift & mask for shift in shifts] for _, key, _ in read], dtype=np.uint64)
    buckets = np.array([bucket for _, _, bucket in read], dtype=np.int64)
    every = HeavyReports(mechanism.id, levels, np.repeat(keys, times, axis=0), np.repeat(buckets, times))
    return mechanism.search(every, confidence=confidence)


def _whole(mechanism: HeavyHitters) -> int:
    """Bits of a whole word."""
    return mechanism.length * mechanism.bits


def _mask(mechanism: HeavyHitters) -> int:
    return (1 << _whole(mechanism)) - 1
