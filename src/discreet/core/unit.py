"""What is protected: which two datasets count as neighbours."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Neighbours"]


class Neighbours(StrEnum):
    """How the data of one unit may differ between two datasets that must look alike."""

    ADD_REMOVE = "add-remove"
    """One unit is present in one and absent from the other; the number of units is private."""

    REPLACE = "replace"
    """One unit has other values; the number of units is public."""
