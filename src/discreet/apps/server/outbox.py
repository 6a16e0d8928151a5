"""What was changed on a server, carried from its trails to its ledgers, where nobody can take it back unseen.

A change and its entry are written together, in a file beside what is changed: a token can be revoked while the ledger
does not answer. From there each entry goes on every ledger of the server, at the latest when the server is looked at
next. An entry is on a ledger once; twice, with the same number, if the process died between the two writes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from discreet.apps.server.trail import Trail
from discreet.errors import BusyError, DiscreetError
from discreet.ledger.follow import identity_at, record_changes
from discreet.ledger.ledger import Ledger
from discreet.ledger.lock import file_lock

__all__ = ["deliver"]

log = logging.getLogger("discreet.server")

_BUSY = BusyError("Another process carries the trail to the ledger.")


def deliver(trails: Iterable[Trail], ledgers: Iterable[Ledger]) -> int:
    """Put on record what is not yet: how many entries there were. What cannot be now is tried again later."""
    carried = 0
    books = list(ledgers)
    for trail in trails:
        try:
            with file_lock(trail.path.with_name(trail.path.name + ".delivery"), busy=_BUSY):
                for ledger in books:
                    carried += _deliver(trail, ledger)
        except BusyError:
            continue
        except (DiscreetError, OSError) as problem:
            log.error("The trail is not on the ledger yet: %s", type(problem).__name__)
    return carried


def _deliver(trail: Trail, ledger: Ledger) -> int:
    place = identity_at(ledger)
    waiting = trail.after(trail.delivered(place))
    if waiting:
        changes = [(entry.who, {"number": number, **entry.to_json()}) for number, entry in waiting]
        record_changes(ledger, changes)
        trail.note_delivered(place, waiting[-1][0])
    return len(waiting)
