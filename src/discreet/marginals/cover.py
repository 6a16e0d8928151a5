"""Few tables that hold many marginals: where each look at the rows takes long, those that share columns go together.

A table of more columns has more cells, and marginals are added up from it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.marginals.counts import Columns

__all__ = ["cover"]


def cover(sizes: Sequence[int], marginals: Sequence[Columns], most: int) -> list[tuple[Columns, list[int]]]:
    """Columns of each table, of at most so many cells if it holds several, and the places of the marginals it holds.

    Large marginals first, each where it adds fewest cells.

    >>> cover((2, 3, 4), [(0, 1), (1, 2), (0,)], most=24)
    [((0, 1, 2), [1, 0, 2])]
    """

    def cells(columns: Columns) -> int:
        return math.prod(sizes[column] for column in columns)

    tables: list[tuple[Columns, list[int]]] = []
    for place in sorted(range(len(marginals)), key=lambda place: -cells(marginals[place])):
        unions = [tuple(sorted({*columns, *marginals[place]})) for columns, _ in tables]
        room = [index for index, union in enumerate(unions) if union == tables[index][0] or cells(union) <= most]
        if room:
            index = min(room, key=lambda index: cells(unions[index]) - cells(tables[index][0]))
            tables[index] = unions[index], [*tables[index][1], place]
        else:
            tables.append((marginals[place], [place]))
    return tables
