"""What a decision by published numbers does to one group of regions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Effect"]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a decision does to one group of regions.

    Of a fund: the part that the group gets, the part that is its due, and `shift`, by how much of its due it gets more;
    `lower` and `upper` are the ends of that, where they are known. None where nothing is due. Of a limit: `wrong`, how
    many of its regions are on the wrong side of it, on average.
    """

    group: str
    regions: float
    got: float | None = None
    due: float | None = None
    lower: float | None = None
    upper: float | None = None
    wrong: float | None = None

    @property
    def shift(self) -> float | None:
        """How much more the group gets, as a part of its due."""
        return None if self.got is None or not self.due or self.due <= 0 else self.got / self.due - 1

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Effect:
        """The same from plain values."""
        return cls(**{name: value for name, value in values.items() if name != "shift"})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without what is not known."""
        names = ("group", "regions", "got", "due", "shift", "lower", "upper", "wrong")
        return {name: value for name in names if (value := getattr(self, name)) is not None}
