"""What can be told of writes to a source without reading a row."""

from __future__ import annotations

from typing import NamedTuple

from discreet.core.wire import Json

__all__ = ["Stamp"]


class Stamp(NamedTuple):
    """Facts that are the same as long as nothing was written; of an `unversioned` source they may stay the same
    though something was, and None is no fact at all.
    """

    kind: str
    """`files`, `table` or `unversioned`, as in `DataVersion`."""
    facts: Json
