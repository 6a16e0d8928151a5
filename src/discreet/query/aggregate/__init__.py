"""What a question computes per group, and how it is made from noisy measures: one file for each aggregate.

Every file of this folder is loaded, so that an aggregate is known as soon as it is there.
"""

import importlib
import pkgutil

from discreet.query.aggregate.base import (
    ENDLESS,
    PRIVATE,
    Additive,
    Aggregate,
    Bounded,
    Derived,
    aggregate_from,
    aggregate_to,
    rows_of,
    settled,
)
from discreet.query.aggregate.covariances import (
    Correlation,
    Covariance,
    correlation,
    covariance,
    covariances,
)
from discreet.query.aggregate.distinct_values import DistinctValues, distinct
from discreet.query.aggregate.means import Mean, mean
from discreet.query.aggregate.persons import Persons, people
from discreet.query.aggregate.regressions import Intercept, Slope, intercept, slope
from discreet.query.aggregate.rows import Count, count
from discreet.query.aggregate.shares import Share, share
from discreet.query.aggregate.sums import Sum, total, vector_sum
from discreet.query.aggregate.variances import Std, Variance, std, variance
from discreet.query.aggregate.vector_means import VectorMean

__all__ = [
    "ENDLESS",
    "PRIVATE",
    "Additive",
    "Aggregate",
    "Bounded",
    "Correlation",
    "Count",
    "Covariance",
    "Derived",
    "DistinctValues",
    "Intercept",
    "Mean",
    "Persons",
    "Share",
    "Slope",
    "Std",
    "Sum",
    "Variance",
    "VectorMean",
    "aggregate_from",
    "aggregate_to",
    "correlation",
    "count",
    "covariance",
    "covariances",
    "distinct",
    "intercept",
    "load",
    "mean",
    "people",
    "rows_of",
    "settled",
    "share",
    "slope",
    "std",
    "total",
    "variance",
    "vector_sum",
]


def load() -> None:
    """Import every file of this folder: each registers what it defines."""
    for file in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{file.name}")


load()
