"""Surveys nobody has to trust: every person randomises their own answer.

| to learn | use |
|---|---|
| which of a few categories people are in | `GRR`; two coins are `GRR.coin()` |
| which of many | `OLH` (short reports), `Subset` and `OUE` (long ones), `Hadamard`, `SUE` |

A `Survey` gives a mechanism a name, so that replies cannot be mixed up.
"""

from discreet.local.estimate import Estimate
from discreet.local.grr import GRR
from discreet.local.hadamard import Hadamard
from discreet.local.olh import OLH
from discreet.local.protocol import Oracle, Responder
from discreet.local.subset import Subset
from discreet.local.survey import Batch, Reply, Survey
from discreet.local.tally import Tally
from discreet.local.unary import OUE, SUE
from discreet.local.wire import responder_from_dict

__all__ = [
    "GRR",
    "OLH",
    "OUE",
    "SUE",
    "Batch",
    "Estimate",
    "Hadamard",
    "Oracle",
    "Reply",
    "Responder",
    "Subset",
    "Survey",
    "Tally",
    "responder_from_dict",
]
