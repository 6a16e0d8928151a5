"""diffprivlib's classifiers on one table of bench/learn_tables.py. Argument: a .npz file of its splits and `epsilons`.
Prints medians: {name: {epsilon: figure}}.

Its noise is of floats, and its budgets are pure: for comparing errors only.
"""

import json
import sys
import warnings

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
from diffprivlib.models import GaussianNB, RandomForestClassifier  # noqa: E402
from sklearn.metrics import roc_auc_score  # noqa: E402

job = np.load(sys.argv[1])
upper, many = job["upper"], int(job["many"])
box = (np.zeros(len(upper)), upper)
models = {
    "forest": lambda epsilon: RandomForestClassifier(epsilon=epsilon, bounds=box, classes=list(range(many))),
    "bayes": lambda epsilon: GaussianNB(epsilon=epsilon, bounds=box),
}
found = {}
for name, make in models.items():
    for epsilon in job["epsilons"].tolist():
        figures = []
        for seed in range(int(job["runs"])):
            features, labels, others, known = (
                job[f"{part}{seed}"] for part in ("features", "labels", "others", "known")
            )
            try:
                model = make(epsilon).fit(features, labels)
                if many > 2:
                    figures.append(model.score(others, known))
                else:
                    figures.append(roc_auc_score(known, model.predict_proba(others)[:, 1]))
            except Exception as problem:  # a run that fails is left out, and told
                print(f"{name}: {type(problem).__name__}: {problem}", file=sys.stderr)
        if figures:
            found.setdefault(name, {})[str(epsilon)] = float(np.median(figures))
print(json.dumps(found))
