"""Private estimators in scikit-learn's manner. Names load on first use; they need the extra `learn`."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from discreet.errors import MissingExtraError

if TYPE_CHECKING:
    from discreet.learn.estimators.kmeans import DPKMeans
    from discreet.learn.estimators.linear_regression import DPLinearRegression
    from discreet.learn.estimators.naive_bayes import DPNaiveBayes
    from discreet.learn.estimators.pca import DPPCA

_HOMES = {
    "DPPCA": "pca",
    "DPKMeans": "kmeans",
    "DPLinearRegression": "linear_regression",
    "DPNaiveBayes": "naive_bayes",
}

__all__ = ["DPPCA", "DPKMeans", "DPLinearRegression", "DPNaiveBayes"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if find_spec("sklearn") is None:
        raise MissingExtraError("learn", "scikit-learn")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
