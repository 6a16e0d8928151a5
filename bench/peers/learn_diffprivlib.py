"""diffprivlib's estimators on the table of bench/learn_estimators.py. Argument: a .npz file with the parts of it and
`epsilon` and `runs`. Prints the median of each figure and the least CPU seconds of a fit.

Its noise is of floats, and its budgets are pure: for comparing errors only.
"""

import json
import sys
import time
import warnings

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
from diffprivlib.models import PCA, GaussianNB, KMeans, LinearRegression, LogisticRegression  # noqa: E402
from sklearn.metrics import roc_auc_score  # noqa: E402

job = np.load(sys.argv[1])
epsilon, runs = float(job["epsilon"]), int(job["runs"])
found = {}


def measure(name, work):
    figures, spent = [], []
    for _ in range(runs):
        start = time.process_time()
        try:
            model, figure = work()
        except Exception as problem:  # a peer that fails is reported as missing
            print(f"{name}: {type(problem).__name__}: {problem}", file=sys.stderr)
            return
        spent.append(time.process_time() - start)
        figures.append(figure(model))
    found[name] = {"value": float(np.median(figures)), "cpu": float(np.min(spent))}


numbers, others = job["numbers"], job["numbers_test"]
width = numbers.shape[1]
box = (-np.ones(width), np.ones(width))


def regression():
    rows = job["predictors"]
    sides = (-np.ones(rows.shape[1]), np.ones(rows.shape[1]))
    model = LinearRegression(epsilon=epsilon, bounds_X=sides, bounds_y=(-1, 1)).fit(rows, job["level"])
    return model, lambda m: m.score(job["predictors_test"], job["level_test"])


def components():
    model = PCA(2, epsilon=epsilon, bounds=box, data_norm=np.sqrt(width)).fit(numbers)

    def kept(m):
        centred = others - others.mean(axis=0)
        return ((centred @ m.components_.T) ** 2).sum() / (centred**2).sum()

    return model, kept


def clusters():
    model = KMeans(int(job["clusters"]), epsilon=epsilon, bounds=box).fit(numbers)

    def inertia(m):
        apart = ((numbers[:, None] - m.cluster_centers_[None]) ** 2).sum(axis=2)
        return apart.min(axis=1).mean()

    return model, inertia


def bayes():
    codes = job["codes"]
    model = GaussianNB(epsilon=epsilon, bounds=(np.zeros(codes.shape[1]), job["upper"])).fit(codes, job["label"])
    return model, lambda m: roc_auc_score(job["label_test"], m.predict_proba(job["codes_test"])[:, 1])


def logistic():
    wide = job["wide"]
    longest = float(np.sqrt((wide**2).sum(axis=1).max()))
    model = LogisticRegression(epsilon=epsilon, data_norm=longest, max_iter=300).fit(wide, job["label"])
    return model, lambda m: roc_auc_score(job["label_test"], m.predict_proba(job["wide_test"])[:, 1])


for name, work in (("regression", regression), ("pca", components), ("kmeans", clusters), ("bayes", bayes)):
    measure(name, work)
measure("logistic", logistic)
print(json.dumps(found))
