"""Trying to break it: what a guarantee claims, against what many runs refute.

| to attack | use |
|---|---|
| anything that runs often | `audit(pair, claim)`; `audit_until_sure` to stop early |
| with many possible neighbours | `worst(pairs, claim)`, with pairs from `discreet.audit.neighbours` |
| one training or synthesis | `OneRun`, `guess`, `coins` |

A finding says what was refuted, or that nothing was. It never says that anything is proved private.
"""

from __future__ import annotations

from discreet.audit.audit import audit, audit_any
from discreet.audit.bounds import Rates
from discreet.audit.claim import Claim, read_claim
from discreet.audit.finding import Finding
from discreet.audit.neighbours import worst
from discreet.audit.one_run import OneRun, coins, guess
from discreet.audit.outputs import Pair, repeated
from discreet.audit.sequential import audit_until_sure

__all__ = [
    "Claim",
    "Finding",
    "OneRun",
    "Pair",
    "Rates",
    "audit",
    "audit_any",
    "audit_until_sure",
    "coins",
    "guess",
    "read_claim",
    "repeated",
    "worst",
]
