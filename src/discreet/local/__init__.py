"""Surveys nobody has to trust: every person randomises their own answer.

| to learn | use |
|---|---|
| which of a few categories people are in | `GRR`; two coins are `GRR.coin()` |
| which of many | `OLH` (short reports), `Subset` and `OUE` (long ones), `Hadamard`, `SUE` |
| the mean of a number | `Hybrid`; `Duchi` is one bit, `Piecewise` for large epsilon; `VectorMean` for several numbers |
| common strings | `HeavyHitters` finds them; `Rappor` looks for candidates, and may be asked again |
| one of several parts of an answer | `Sampled` |
| the same thing again and again | `Longitudinal`, which remembers |

`best` chooses and says why; `half_width` and `sample_size` plan. `difference` compares groups, `stratified` and
`weighted` put unequal ones together, `joint` and `given` tell of two answers together.
A `Survey` gives a mechanism a name, so that replies cannot be mixed up;
`write` saves them and `aggregate` adds them up in the engine.
`shuffled` says what reports cost once nobody knows whose is whose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.local.duchi import Duchi as Duchi
    from discreet.local.estimate import Estimate as Estimate
    from discreet.local.estimate import Tally as Tally
    from discreet.local.groups import Difference as Difference
    from discreet.local.groups import PooledEstimate as PooledEstimate
    from discreet.local.groups import difference as difference
    from discreet.local.groups import stratified as stratified
    from discreet.local.groups import weighted as weighted
    from discreet.local.grr import GRR as GRR
    from discreet.local.hadamard import Hadamard as Hadamard
    from discreet.local.heavy_hitters import HeavyHitter as HeavyHitter
    from discreet.local.heavy_hitters import HeavyHitters as HeavyHitters
    from discreet.local.heavy_hitters import HeavyReports as HeavyReports
    from discreet.local.hybrid import Hybrid as Hybrid
    from discreet.local.likelihood import Likeliest as Likeliest
    from discreet.local.likelihood import likeliest as likeliest
    from discreet.local.longitudinal import Longitudinal as Longitudinal
    from discreet.local.longitudinal import Memory as Memory
    from discreet.local.mean import Mean as Mean
    from discreet.local.mean import MeanEstimate as MeanEstimate
    from discreet.local.olh import OLH as OLH
    from discreet.local.pairs import JointEstimate as JointEstimate
    from discreet.local.pairs import given as given
    from discreet.local.pairs import joint as joint
    from discreet.local.piecewise import Piecewise as Piecewise
    from discreet.local.planner import Choice as Choice
    from discreet.local.planner import best as best
    from discreet.local.planner import half_width as half_width
    from discreet.local.planner import limit as limit
    from discreet.local.planner import sample_size as sample_size
    from discreet.local.protocol import Oracle as Oracle
    from discreet.local.protocol import Responder as Responder
    from discreet.local.rappor import Decoding as Decoding
    from discreet.local.rappor import Rappor as Rappor
    from discreet.local.rappor import RapporClient as RapporClient
    from discreet.local.rappor import RapporReports as RapporReports
    from discreet.local.replies import aggregate as aggregate
    from discreet.local.replies import write as write
    from discreet.local.sampled import Sampled as Sampled
    from discreet.local.shuffle import closed_form as closed_form
    from discreet.local.shuffle import shuffled as shuffled
    from discreet.local.shuffle import shuffled_delta as shuffled_delta
    from discreet.local.subset import Subset as Subset
    from discreet.local.survey import Batch as Batch
    from discreet.local.survey import Reply as Reply
    from discreet.local.survey import Survey as Survey
    from discreet.local.survey import responder_from_dict as responder_from_dict
    from discreet.local.unary import OUE as OUE
    from discreet.local.unary import SUE as SUE
    from discreet.local.vector import VectorMean as VectorMean

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "duchi": ("Duchi",),
        "estimate": (
            "Estimate",
            "Tally",
        ),
        "groups": (
            "Difference",
            "PooledEstimate",
            "difference",
            "stratified",
            "weighted",
        ),
        "grr": ("GRR",),
        "hadamard": ("Hadamard",),
        "heavy_hitters": (
            "HeavyHitter",
            "HeavyHitters",
            "HeavyReports",
        ),
        "hybrid": ("Hybrid",),
        "likelihood": (
            "Likeliest",
            "likeliest",
        ),
        "longitudinal": (
            "Longitudinal",
            "Memory",
        ),
        "mean": (
            "Mean",
            "MeanEstimate",
        ),
        "olh": ("OLH",),
        "pairs": (
            "JointEstimate",
            "given",
            "joint",
        ),
        "piecewise": ("Piecewise",),
        "planner": (
            "Choice",
            "best",
            "half_width",
            "limit",
            "sample_size",
        ),
        "protocol": (
            "Oracle",
            "Responder",
        ),
        "rappor": (
            "Decoding",
            "Rappor",
            "RapporClient",
            "RapporReports",
        ),
        "replies": (
            "aggregate",
            "write",
        ),
        "sampled": ("Sampled",),
        "shuffle": (
            "closed_form",
            "shuffled",
            "shuffled_delta",
        ),
        "subset": ("Subset",),
        "survey": (
            "Batch",
            "Reply",
            "Survey",
            "responder_from_dict",
        ),
        "unary": (
            "OUE",
            "SUE",
        ),
        "vector": ("VectorMean",),
    },
)
