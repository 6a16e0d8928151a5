"""What a search finds first: pages that say how to do something, before pages that prove or measure it."""

from __future__ import annotations

__all__ = ["WEIGHTS", "weight"]

WEIGHTS = {
    "index.md": 10.0,
    "glossary.md": 10.0,
    "guides": 10.0,
    "tutorials": 6.0,
    "concepts": 6.0,
    "coming-from": 4.0,
    "comparison.md": 2.0,
    "course": 1.0,
    "reference": 1.0,
    "proofs": 0.002,
    "benchmarks": 0.002,
}
"""By the first part of a page's path.

A match in a title counts a thousand times one in the text: that in a proof stays below one in the text of a guide.
"""


def weight(path: str) -> float:
    """How much a match on a page counts; a part of the site that the table lacks is a mistake."""
    return WEIGHTS[path.partition("/")[0]]
