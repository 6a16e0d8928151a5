"""A hierarchy at a glance: its levels, and the numbers of the lowest level that a reader can take in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.core.release import plural
from discreet.core.release_view import table_parts
from discreet.show import element, facts

if TYPE_CHECKING:
    from discreet.trees.release import TreeRelease

__all__ = ["level_parts"]

_MOST = 60  # regions that a picture shows


def level_parts(release: TreeRelease) -> tuple[Any, ...]:
    """How many regions each level has, then the totals of one level, with pictures."""
    sizes = dict(zip(release.levels, release.tree.sizes, strict=True))
    cells = plural(release.measured.cells, "cell")
    told = {name: f"{plural(size, 'region')}, each with {cells}" for name, size in sizes.items()}
    level = [name for name, size in sizes.items() if size <= _MOST][-1]
    table = release.table(level) if release.cumulative else release.totals(level)
    what = "Sizes" if release.cumulative else "Totals"
    read = element("p", {"class": "note"}, "Any level: ", element("code", None, f'release["{release.levels[-1]}"]'))
    return facts(told), element("h3", None, f"{what} by {level}"), *table_parts(table), read
