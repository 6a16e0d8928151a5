"""Surveys nobody has to trust: every person randomises their own answer.

| to learn | use |
|---|---|
| which of a few categories people are in | `GRR`; two coins are `GRR.coin()` |
| which of many | `OLH` (short reports), `Subset` and `OUE` (long ones), `Hadamard`, `SUE` |
| the mean of a number | `Hybrid`; `Duchi` is one bit, `Piecewise` for large epsilon; `VectorMean` for several numbers |
| common strings | `HeavyHitters` finds them; `Rappor` looks for candidates, and may be asked again |
| the same thing again and again | `Longitudinal`, which remembers |

`best` chooses and says why; `half_width` and `sample_size` plan. `difference` compares groups, `stratified` and
`weighted` put unequal ones together. A `Survey` gives a mechanism a name, so that replies cannot be mixed up;
`write` saves them and `aggregate` adds them up in the engine.
`shuffled` says what reports cost once nobody knows whose is whose.
"""

from discreet.local.aggregate import aggregate
from discreet.local.best import Choice, best
from discreet.local.compare import Difference, difference
from discreet.local.duchi import Duchi
from discreet.local.estimate import Estimate
from discreet.local.files import write
from discreet.local.grr import GRR
from discreet.local.hadamard import Hadamard
from discreet.local.heavy import Found, HeavyHitters, HeavyReports
from discreet.local.hybrid import Hybrid
from discreet.local.limit import limit
from discreet.local.longitudinal import Longitudinal, Memory
from discreet.local.mean import Mean, MeanEstimate
from discreet.local.olh import OLH
from discreet.local.piecewise import Piecewise
from discreet.local.planner import half_width, sample_size
from discreet.local.protocol import Oracle, Responder
from discreet.local.rappor import Rappor, RapporClient, RapporReports
from discreet.local.shuffle import closed_form, shuffled, shuffled_delta
from discreet.local.strata import Pooled, stratified, weighted
from discreet.local.subset import Subset
from discreet.local.survey import Batch, Reply, Survey
from discreet.local.tally import Tally
from discreet.local.unary import OUE, SUE
from discreet.local.vector import VectorMean
from discreet.local.wire import responder_from_dict

__all__ = [
    "GRR",
    "OLH",
    "OUE",
    "SUE",
    "Batch",
    "Choice",
    "Difference",
    "Duchi",
    "Estimate",
    "Found",
    "Hadamard",
    "HeavyHitters",
    "HeavyReports",
    "Hybrid",
    "Longitudinal",
    "Mean",
    "MeanEstimate",
    "Memory",
    "Oracle",
    "Piecewise",
    "Pooled",
    "Rappor",
    "RapporClient",
    "RapporReports",
    "Reply",
    "Responder",
    "Subset",
    "Survey",
    "Tally",
    "VectorMean",
    "aggregate",
    "best",
    "closed_form",
    "difference",
    "half_width",
    "limit",
    "responder_from_dict",
    "sample_size",
    "shuffled",
    "shuffled_delta",
    "stratified",
    "weighted",
    "write",
]
