"""Trying to break it: what a guarantee claims, against what many runs refute.

| to attack | use |
|---|---|
| anything that runs often | `audit(pair, claim)`; `audit_until_sure` to stop early |
| with many possible neighbours | `worst(pairs, claim)`, with `pairs_of` and `discreet.audit.neighbours` |
| whose neighbours are not known | `hunt(release, rows, claim)` |
| by the clock | `audit_time(pair, claim)` |
| a mechanism in a module of its own | `read_mechanism` |
| one training or synthesis | `OneRun`, `guess`, `coins` |

A `Finding` says what was refuted of a `Claim`, or that nothing was. It never says that anything is proved private.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.audit.bounds import Rates as Rates
    from discreet.audit.claim import Claim as Claim
    from discreet.audit.claim import read_claim as read_claim
    from discreet.audit.custom import CustomMechanism as CustomMechanism
    from discreet.audit.custom import read_mechanism as read_mechanism
    from discreet.audit.finding import Finding as Finding
    from discreet.audit.many_runs import audit as audit
    from discreet.audit.many_runs import audit_any as audit_any
    from discreet.audit.neighbours import added as added
    from discreet.audit.neighbours import pairs_of as pairs_of
    from discreet.audit.neighbours import worst as worst
    from discreet.audit.one_run import OneRun as OneRun
    from discreet.audit.one_run import coins as coins
    from discreet.audit.one_run import guess as guess
    from discreet.audit.outputs import Pair as Pair
    from discreet.audit.outputs import repeated as repeated
    from discreet.audit.proposals import hunt as hunt
    from discreet.audit.sequential import audit_until_sure as audit_until_sure
    from discreet.audit.timing import audit_time as audit_time

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "bounds": ("Rates",),
        "claim": (
            "Claim",
            "read_claim",
        ),
        "custom": (
            "CustomMechanism",
            "read_mechanism",
        ),
        "finding": ("Finding",),
        "many_runs": (
            "audit",
            "audit_any",
        ),
        "neighbours": (
            "added",
            "pairs_of",
            "worst",
        ),
        "one_run": (
            "OneRun",
            "coins",
            "guess",
        ),
        "outputs": (
            "Pair",
            "repeated",
        ),
        "proposals": ("hunt",),
        "sequential": ("audit_until_sure",),
        "timing": ("audit_time",),
    },
)
