"""The mechanisms: integers in, privacy out. Each states its loss; `discreet.accounting` does the sums.

| to publish | use |
|---|---|
| counts and sums | `Laplace`; `Gaussian` when one unit touches many of them |
| places on a map, near ones alike | `PlanarLaplace` |
| the best of a known list | `Exponential`, `PermuteAndFlip`, `NoisyMax`; `TopK` for several |
| which of many questions come out large | `SparseVector` |
| counts of keys nobody listed | `StabilityThreshold`; `PartitionSelection` for which of them to show |
| quantiles of a histogram | `QuantileFlip` or `QuantileExponential` for a few, `QuantileTree` for many |
| a running total, every day | `ContinualCount` |
| answers nobody should hold | `RandomizedResponse` |

How far one unit moves a statistic is in `discreet.mechanisms.sensitivity`.
"""

from discreet.mechanisms import sensitivity
from discreet.mechanisms.continual_count import ContinualCount, ContinualCountSession
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.partition_selection import PartitionSelection
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.planar_laplace import PlanarLaplace, lattice_distance
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.quantile_exponential import QuantileExponential
from discreet.mechanisms.quantile_flip import QuantileFlip
from discreet.mechanisms.quantile_tree import QuantileTree, RankCurve
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.sparse_vector import SparseVector, SparseVectorSession
from discreet.mechanisms.stability_threshold import StabilityThreshold
from discreet.mechanisms.top_k import TopK

__all__ = [
    "ContinualCount",
    "ContinualCountSession",
    "Exponential",
    "Gaussian",
    "Laplace",
    "NoisyMax",
    "PartitionSelection",
    "PermuteAndFlip",
    "PlanarLaplace",
    "Quantile",
    "QuantileExponential",
    "QuantileFlip",
    "QuantileTree",
    "RandomizedResponse",
    "RankCurve",
    "SparseVector",
    "SparseVectorSession",
    "StabilityThreshold",
    "TopK",
    "lattice_distance",
    "sensitivity",
]
