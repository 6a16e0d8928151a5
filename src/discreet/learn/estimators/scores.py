"""Classifiers by scores: what follows from them is the same for all, and free."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from discreet.learn.estimators.base import PrivateEstimator
from discreet.learn.estimators.box import Floats

__all__ = ["ScoreClassifier"]


@define(kw_only=True, slots=False, eq=False, repr=False)
class ScoreClassifier(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """A classifier that `decision_function` makes: for two classes one score, above zero for the second."""

    def decision_function(self, X: Any) -> Floats:  # noqa: N803 - scikit-learn's name
        """Scores: for two classes one, above zero for the second; else one a class. Free."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """How likely each class is; free."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The likeliest class; free."""
        scores = self.decision_function(X)
        places = (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[places])
