"""Private estimators in scikit-learn's manner. Names load on first use; they need the extra `learn`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.learn.estimators.additive_model import DPAdditiveModel as DPAdditiveModel
    from discreet.learn.estimators.additive_model import DPAdditiveRegression as DPAdditiveRegression
    from discreet.learn.estimators.boosted_trees import DPBoostedTrees as DPBoostedTrees
    from discreet.learn.estimators.bounds_scaler import BoundsScaler as BoundsScaler
    from discreet.learn.estimators.descent import DPLinearClassifier as DPLinearClassifier
    from discreet.learn.estimators.descent import DPSGDClassifier as DPSGDClassifier
    from discreet.learn.estimators.fit_history import RepeatedFitWarning as RepeatedFitWarning
    from discreet.learn.estimators.forest_regressor import DPRandomForestRegressor as DPRandomForestRegressor
    from discreet.learn.estimators.images import DPImageClassifier as DPImageClassifier
    from discreet.learn.estimators.kmeans import DPKMeans as DPKMeans
    from discreet.learn.estimators.linear_regression import DPLinearRegression as DPLinearRegression
    from discreet.learn.estimators.naive_bayes import DPNaiveBayes as DPNaiveBayes
    from discreet.learn.estimators.pca import DPPCA as DPPCA
    from discreet.learn.estimators.random_forest import DPRandomForest as DPRandomForest

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "additive_model": ("DPAdditiveModel", "DPAdditiveRegression"),
        "bounds_scaler": ("BoundsScaler",),
        "boosted_trees": ("DPBoostedTrees",),
        "descent": ("DPLinearClassifier", "DPSGDClassifier"),
        "forest_regressor": ("DPRandomForestRegressor",),
        "images": ("DPImageClassifier",),
        "kmeans": ("DPKMeans",),
        "linear_regression": ("DPLinearRegression",),
        "naive_bayes": ("DPNaiveBayes",),
        "pca": ("DPPCA",),
        "random_forest": ("DPRandomForest",),
        "fit_history": ("RepeatedFitWarning",),
    },
    extra="learn",
)
