"""Where a person starts: one curator over a desk, and the table of every kind of job it knows.

* `open_curator` opens data, a schema and a ledger, and gives a `Curator`, with a verb for every kind of job.
* A `Desk` prices and pays: `LocalDesk` with the data and the ledger here; a server's is in `discreet.apps.client`.
* A `Question` or another `Draft` is put together; priced, it is an `Offer`; released, what its `Kind` reads.
* `KINDS` lists all kinds; `read_release` reads whatever was released from a ledger; `hide_loads` is for power
  grids, `hide_values` for numbers of any kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.curator.curator import Curator as Curator
    from discreet.curator.curator import open_curator as open_curator
    from discreet.curator.desk import Desk as Desk
    from discreet.curator.desk import LocalDesk as LocalDesk
    from discreet.curator.draft import Draft as Draft
    from discreet.curator.hidden import hide_values as hide_values
    from discreet.curator.kinds import KINDS as KINDS
    from discreet.curator.kinds import Kind as Kind
    from discreet.curator.kinds import kind_of as kind_of
    from discreet.curator.kinds import read_release as read_release
    from discreet.curator.loads import hide_loads as hide_loads
    from discreet.curator.offer import Offer as Offer
    from discreet.curator.question import Question as Question

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "curator": (
            "Curator",
            "open_curator",
        ),
        "desk": (
            "Desk",
            "LocalDesk",
        ),
        "draft": ("Draft",),
        "hidden": ("hide_values",),
        "kinds": (
            "KINDS",
            "Kind",
            "kind_of",
            "read_release",
        ),
        "loads": ("hide_loads",),
        "offer": ("Offer",),
        "question": ("Question",),
    },
)
