"""Pictures of what pages show: an output over regions."""

from __future__ import annotations

from typing import Any

from discreet.core.chart import caption, charts, drawable
from discreet.core.release import Release
from discreet.show import Markup
from discreet.show.scale import finite

__all__ = ["MOST", "output_chart", "text"]

MOST = 40
"""How many bars are drawn; a table has them all."""


def output_chart(release: Release, output: str) -> Markup | None:
    """One output of a release over regions; None where its values are days or none are there."""
    if output not in drawable(release) or not any(finite(value) for value in release[output]):
        return None
    shown = charts(release, output, range(min(MOST, len(release))))[0]
    said = caption(release, output, [shown])
    if len(release) > MOST:
        said += f"; the first {MOST} rows, the table has {len(release) - MOST} more"
    return shown.figure(said, table=False)


def text(key: Any) -> str:
    """A key as people read it."""
    return "(missing)" if key is None else str(key)
