"""Population groups in as much detail as their size allows: a noisy total first, then what it is large enough for.

Asked for at a desk (`curator.detail`): `DetailAsk`, the `DetailPlan` that prices it, and the `DetailRelease` that comes
of it; `read_groups` makes one of noisy measurement files. Names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.trees.detail.ask import DetailAsk as DetailAsk
    from discreet.trees.detail.measurement_file import read_groups as read_groups
    from discreet.trees.detail.plan import DetailPlan as DetailPlan
    from discreet.trees.detail.release import DetailRelease as DetailRelease

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "ask": ("DetailAsk",),
        "measurement_file": ("read_groups",),
        "plan": ("DetailPlan",),
        "release": ("DetailRelease",),
    },
)
