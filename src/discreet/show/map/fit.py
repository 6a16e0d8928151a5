"""Which regions a file of shapes has, before any number is there to be drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.show.map.shapes import shapes

__all__ = ["Fit", "fit_shapes"]

_FEW = 3


@dataclass(frozen=True, slots=True)
class _Level:
    name: str
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """How many regions of a level have a shape, and which have none."""

    level: str
    regions: int
    missing: tuple[str, ...]

    def __str__(self) -> str:
        regions = f"{self.regions:,} region{'' if self.regions == 1 else 's'}"
        if not self.missing:
            return f"{self.level}: all of {regions}"
        text = f"{self.level}: {self.regions - len(self.missing):,} of {regions}"
        if len(self.missing) == self.regions:
            return text
        more = ", ..." if len(self.missing) > _FEW else ""
        return f"{text} (none for {', '.join(map(repr, self.missing[:_FEW]))}{more})"


def fit_shapes(levels: Mapping[str, Sequence[str]], geometry: Any, code_property: str | None = None) -> tuple[Fit, ...]:
    """Codes by level, matched with shapes as a map matches them. `InputError` where a map could not be drawn.

    >>> ring = [[0, 0], [1, 0], [1, 1], [0, 0]]
    >>> ash = {"type": "Feature", "id": "Ash", "geometry": {"type": "Polygon", "coordinates": [ring]}}
    >>> [str(one) for one in fit_shapes({"county": ["Ash", "Elm"]}, ash)]
    ["county: 1 of 2 regions (none for 'Elm')"]
    """
    layers = [_Level(name, tuple(codes)) for name, codes in levels.items()]
    found = shapes(layers, geometry, "auto", code_property)
    return tuple(
        Fit(layer.name, len(layer.codes), tuple(code for code in layer.codes if code not in paths))
        for layer, paths in zip(layers, found.paths, strict=True)
    )
