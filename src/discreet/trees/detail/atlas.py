"""Groups of every region on a map: their totals, with intervals. Cells differ from group to group: tables have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.show.map import Layer, Map, choropleth

if TYPE_CHECKING:
    from discreet.trees.detail.release import DetailRelease

__all__ = ["draw_groups"]


def draw_groups(release: DetailRelease, *, title: str | None = None, **how: Any) -> Map:
    """The map of all groups: one is shown, a list offers the others."""
    measured = release.known
    names, layers = measured.tree.names, []
    for level, name in enumerate(names):
        look, many = measured.look(level), len(measured.groups)
        ends = np.zeros((3, len(look.choice)), np.int64)
        for chosen, found in enumerate(look.estimates(release.confidence)):
            inside = look.choice == chosen
            ends[:, inside] = found.values[:, 0], found.lower[:, 0], found.upper[:, 0]
        outputs = {
            group: tuple(ends[:, place::many])  # a row for each region and group
            for place, group in enumerate(measured.groups)
        }
        above = None
        if level:
            higher = measured.codes(level - 1)
            above = [higher[parent] for parent in measured.tree.parents[level]]
        layers.append(Layer(name, measured.codes(level), outputs, parents=above))
    regions = " and ".join([", ".join(names[1:-1]), names[-1]]) if len(names) > 2 else names[-1]
    return choropleth(
        layers,
        title=title or f"{release.dataset}: population groups by {regions}",
        confidence=release.confidence,
        privacy=(
            f"Every number has noise added to it, which hides any one protected unit of {release.dataset!r} (cost "
            f"{release.cost}). Numbers of different regions are estimated separately and need not add up. A row may be "
            "in several groups."
        ),
        **how,
    )
