"""Words that crowds of people hold, in an order of no meaning."""

from __future__ import annotations

import random

import pyarrow

CANARY = "canary-5b1f-jane-doe"


def many(words, crowd=60):
    """Every word held by so many people, in an order of no meaning."""
    rows = [{"id": f"{i}-{j}", "zip": word, "sex": "f"} for i, word in enumerate(words) for j in range(crowd)]
    random.Random(3).shuffle(rows)
    return pyarrow.Table.from_pylist(rows, pyarrow.schema([("id", "string"), ("zip", "string"), ("sex", "string")]))
