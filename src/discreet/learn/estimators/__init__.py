"""Private estimators in scikit-learn's manner. Names load on first use; they need the extra `learn`."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from discreet.errors import MissingExtraError

if TYPE_CHECKING:
    from discreet.learn.estimators.boosted_trees import DPBoostedTrees
    from discreet.learn.estimators.kmeans import DPKMeans
    from discreet.learn.estimators.linear_classifier import DPLinearClassifier
    from discreet.learn.estimators.linear_regression import DPLinearRegression
    from discreet.learn.estimators.naive_bayes import DPNaiveBayes
    from discreet.learn.estimators.pca import DPPCA
    from discreet.learn.estimators.sgd_classifier import DPSGDClassifier

_HOMES = {
    "DPPCA": "pca",
    "DPBoostedTrees": "boosted_trees",
    "DPKMeans": "kmeans",
    "DPLinearClassifier": "linear_classifier",
    "DPLinearRegression": "linear_regression",
    "DPNaiveBayes": "naive_bayes",
    "DPSGDClassifier": "sgd_classifier",
}

__all__ = [
    "DPPCA",
    "DPBoostedTrees",
    "DPKMeans",
    "DPLinearClassifier",
    "DPLinearRegression",
    "DPNaiveBayes",
    "DPSGDClassifier",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for needed in ("sklearn", "jax") if name in ("DPLinearClassifier", "DPSGDClassifier") else ("sklearn",):
        if find_spec(needed) is None:
            raise MissingExtraError("learn", needed)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
