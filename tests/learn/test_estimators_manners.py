"""Estimators as scikit-learn knows them, the ledger they are charged to, and what they refuse."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

import subprocess
import sys
from fractions import Fraction

import numpy as np
from estimator_rows import BOUNDS, CERTAIN
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet.core.loss import ZCDP, Approx, Pure
from discreet.core.unit import Metric, Unit
from discreet.errors import BudgetError, InputError
from discreet.learn.estimators import DPPCA, DPBoostedTrees, DPKMeans, DPLinearRegression, DPNaiveBayes
from discreet.learn.estimators.rows import read_labels, read_numbers
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger

REGRESSION = DPLinearRegression(**CERTAIN, bounds=BOUNDS, target_bounds=BOUNDS)
BAYES = DPNaiveBayes(**CERTAIN, bounds=BOUNDS, classes=[0, 1, 2])
TREES = DPBoostedTrees(**CERTAIN, bounds=BOUNDS, classes=[0, 1, 2], bins=400, rounds=4)
ALL = [REGRESSION, DPPCA(**CERTAIN, bounds=BOUNDS), BAYES, DPKMeans(2, **CERTAIN, bounds=BOUNDS), TREES]

_DECLARED = "classes are declared, and the check brings others"
_FAILED = {
    "check_dtype_object": "wants the cell that is not a number quoted; messages here never show one",
    "check_clustering": "wants labels_ of training rows, which are private and are not kept",
    "check_classifiers_classes": _DECLARED,
    "check_classifiers_train": _DECLARED,
    "check_decision_proba_consistency": _DECLARED,
}
FAILED = {
    "DPLinearRegression": ["check_dtype_object"],
    "DPPCA": ["check_dtype_object"],
    "DPKMeans": ["check_dtype_object", "check_clustering"],
    "DPBoostedTrees": [
        "check_dtype_object",
        "check_classifiers_classes",
        "check_classifiers_train",
        "check_decision_proba_consistency",
    ],
    "DPNaiveBayes": ["check_dtype_object", "check_classifiers_classes", "check_classifiers_train"],
}


def _excused(estimator):
    return {name: _FAILED[name] for name in FAILED[type(estimator).__name__]}


@parametrize_with_checks(ALL, expected_failed_checks=_excused)
def test_scikit_learn_knows_its_manners(estimator, check):
    check(estimator)


def rows(count=300, seed=0):
    chance = np.random.default_rng(seed)
    features = chance.uniform(-1, 1, size=(count, 3))
    return features, (features[:, 0] > 0).astype(int)


def books(tmp_path, budget):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("visits", budget, who="test")
    return ledger


def test_a_fit_is_charged_before_and_refused_when_over(tmp_path):
    ledger = books(tmp_path, Budget(epsilon=1))
    features, targets = rows()
    model = DPNaiveBayes(epsilon=0.4, bounds=(-1, 1), classes=2, ledger=ledger, dataset="visits", who="ann")
    model.fit(features, targets)
    assert model.privacy_.release is not None
    assert ledger.remaining("visits").amount == Fraction(6, 10)
    model.fit(features, targets)  # again is spending again
    assert ledger.remaining("visits").amount == Fraction(2, 10)
    with pytest.raises(BudgetError):
        model.fit(features, targets)
    assert ledger.remaining("visits").amount == Fraction(2, 10)
    assert ledger.verify().problems == ()
    charged = ledger.releases("visits")[0].charged
    assert charged.digest == ledger.releases("visits")[1].charged.digest


@pytest.mark.filterwarnings("ignore:.*may describe earlier data")  # a table in memory has no version
def test_the_same_release_comes_back_for_free(tmp_path):
    ledger = books(tmp_path, Budget(rho=1))
    features, targets = rows()
    settings = {"rho": "1/2", "bounds": (-1, 1), "target_bounds": (0, 1), "dataset": "visits", "release": "line 1"}
    one = DPLinearRegression(ledger=str(tmp_path / "books.db"), **settings).fit(features, targets)
    two = DPLinearRegression(ledger=ledger, **settings).fit(features[:10], targets[:10])
    assert (one.coef_ == two.coef_).all()
    assert ledger.remaining("visits").amount == Fraction(1, 2)
    with pytest.raises(InputError, match="release"):
        DPLinearRegression(ledger=ledger, **{**settings, "bounds": (-2, 2)}).fit(features, targets)


def test_allotments_of_every_kind(tmp_path):
    parts = [
        Allotment("pure", "pure", epsilon=1),
        Allotment("zcdp", "zcdp", epsilon=2, delta="1e-6"),
        Allotment("plan", "plan", epsilon=2, delta="1e-6"),
    ]
    ledger = books(tmp_path, Budget(epsilon=5, delta="1e-5", allotments=parts))
    features, _ = rows()
    model = DPPCA(2, bounds=(-1, 1), ledger=ledger, dataset="visits", who="ann")
    clone(model).set_params(epsilon=1, allotment="pure").fit(features)
    clone(model).set_params(epsilon=0.2, allotment="zcdp").fit(features)
    clone(model).set_params(epsilon=1, delta="1e-6", allotment="plan").fit(features)
    left = {one.allotment.name: one.left for one in ledger.standing("visits")}
    assert left["pure"].amount == 0
    assert left["plan"].amount >= 1
    assert left["plan"].delta == 0
    with pytest.raises(BudgetError):
        clone(model).set_params(epsilon=1, allotment="pure").fit(features)


def test_a_failed_run_stays_spent_and_tells_nothing(tmp_path, monkeypatch):
    from discreet.errors import RunError
    from discreet.learn.estimators import naive_bayes

    ledger = books(tmp_path, Budget(epsilon=1))
    features, targets = rows()

    def fail(*_):
        raise ValueError("a secret")

    monkeypatch.setattr(naive_bayes, "sums", fail)
    model = DPNaiveBayes(epsilon=1, bounds=(-1, 1), classes=2, ledger=ledger, dataset="visits", who="ann")
    with pytest.raises(RunError) as caught:
        model.fit(features, targets)
    assert "secret" not in str(caught.value)
    assert ledger.remaining("visits").amount == 0


def test_what_a_fit_costs_is_said():
    features, _ = rows()
    pure = DPPCA(epsilon=1, bounds=(-1, 1)).fit(features)
    assert pure.loss_ == Pure(1)
    assert str(pure.privacy_) == "epsilon = 1 for each row added or removed"
    both = DPPCA(epsilon=1, delta=1e-6, bounds=(-1, 1)).fit(features)
    assert isinstance(both.loss_, ZCDP)
    assert isinstance(both.privacy_.claim, Approx)
    assert 0.999999 < both.privacy_.claim.epsilon <= 1
    assert both.noise_["others"] < both.noise_["diagonal"]
    assert DPPCA(rho="1/8", bounds=(-1, 1)).fit(features).privacy_.claim == ZCDP("1/8")


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_noise_is_known_before_a_fit(model):
    priced = clone(model).set_params(rho="1/50")
    expected = priced.expected_noise(3)
    assert all(size > 0 for size in expected.values())
    assert priced.fit(*rows()).noise_ == expected
    more = clone(model).set_params(rho="1/200").expected_noise(3)
    assert all(more[name] == pytest.approx(2 * size, rel=1e-4) for name, size in expected.items())


def test_nothing_private_is_kept():
    features, targets = rows(50_000)
    for model in ALL:
        fitted = clone(model).fit(features, targets)
        for name, value in vars(fitted).items():
            size = getattr(value, "size", 0)
            assert not isinstance(size, int) or size < 2000, name


def test_pipelines_and_clones_keep_the_ledger(tmp_path):
    ledger = books(tmp_path, Budget(epsilon=3))
    features, targets = rows()
    settings = {"epsilon": 1, "ledger": ledger, "dataset": "visits"}
    pipeline = make_pipeline(DPPCA(2, bounds=(-1, 1), **settings), DPNaiveBayes(bounds=(-2, 2), classes=2, **settings))
    copy = clone(pipeline)
    assert copy[0].ledger is ledger
    copy.fit(features, targets)
    assert set(copy.predict(features)) <= {0, 1}
    assert ledger.remaining("visits").amount == 1


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": 1, "rho": 1}, "epsilon"),
        ({"epsilon": 1e-12}, "epsilon"),
        ({"epsilon": 1e-12, "delta": 1e-16}, "epsilon"),
        ({"epsilon": None, "rho": 1e-25}, "rho"),
        ({"epsilon": 1, "delta": 1}, "delta"),
        ({"bounds": None}, "bounds"),
        ({"bounds": 3}, "bounds"),
        ({"bounds": (1, -1)}, "bounds"),
        ({"bounds": (-1, [1, 2])}, "bounds"),
        ({"bounds": (0, float("inf"))}, "bounds"),
        ({"bounds": (0, "wide")}, "bounds"),
        ({"malformed": "ignore"}, "malformed"),
        ({"dataset": "visits"}, "ledger"),
        ({"ledger": "books.db"}, "dataset"),
    ],
)
@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_what_is_refused_before_anything_is_spent(model, settings, field):
    features, targets = rows()
    given = {"rho": None, "epsilon": 1, **settings}
    with pytest.raises(InputError) as caught:
        clone(model).set_params(**given).fit(features, targets)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("model", "settings", "field"),
    [
        (REGRESSION, {"target_bounds": None}, "target_bounds"),
        (REGRESSION, {"norm": 0}, "norm"),
        (REGRESSION, {"ridge": -1}, "ridge"),
        (REGRESSION, {"origin": 200}, "origin"),
        (BAYES, {"classes": None}, "classes"),
        (BAYES, {"classes": [1, 1]}, "classes"),
        (BAYES, {"classes": "ab"}, "classes"),
        (BAYES, {"classes": [0, 2]}, "y"),
        (BAYES, {"categories": {7: 2}}, "categories"),
        (BAYES, {"categories": [2]}, "categories"),
        (ALL[1], {"n_components": 4}, "n_components"),
        (ALL[1], {"n_components": 0}, "n_components"),
        (ALL[1], {"norm": -1}, "norm"),
        (ALL[1], {"norm": 0.01}, "norm"),
        (ALL[1], {"centered": "yes"}, "centered"),
        (TREES, {"rounds": 0}, "rounds"),
        (TREES, {"rate": 0}, "rate"),
        (TREES, {"leaves": 1}, "leaves"),
        (TREES, {"bins": 1.5}, "bins"),
        (ALL[3], {"n_clusters": 1025}, "n_clusters"),
        (ALL[1], {"examples": 0}, "examples"),
        (ALL[3], {"n_clusters": 0}, "n_clusters"),
        (ALL[3], {"steps": 0}, "steps"),
    ],
)
def test_what_else_is_refused(model, settings, field):
    features, targets = rows()
    with pytest.raises(InputError) as caught:
        clone(model).set_params(**settings).fit(features, targets)
    assert caught.value.field == field


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_malformed_rows_are_refused_or_absorbed(model, tmp_path):
    features, targets = rows()
    features[3, 1] = np.nan
    ledger = books(tmp_path, Budget(rho=10**24))
    paying = clone(model).set_params(ledger=ledger, dataset="visits")
    with pytest.raises(ValueError, match="NaN"):
        paying.fit(features, targets)
    assert not ledger.releases("visits")
    paying.set_params(malformed="absorb").fit(features, targets)
    assert len(ledger.releases("visits")) == 1


NO_NUMBERS = {
    "huge": 10**400,
    "huge and below zero": -(10**400),
    "huge fraction": Fraction(10**400, 3),
    "near the end": 1.7e308,
    "a word": "secret",
    "bytes": b"secret",
    "nothing": None,
    "complex": 1 + 2j,
    "short complex": np.complex64(1 + 2j),
    "a list": [1, 2],
    "an array": np.ones(1),
    "not a number": float("nan"),
    "infinite": float("inf"),
    "wider than a float": np.longdouble("1e4000"),
}


@pytest.mark.parametrize("cell", NO_NUMBERS.values(), ids=NO_NUMBERS.keys())
@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_no_cell_whatever_raises_where_it_is_absorbed(model, cell):
    model = clone(model).set_params(malformed="absorb")
    if isinstance(model, DPBoostedTrees):
        model.set_params(bounds=(-1e100, 7e99))
    model.fit([[cell, 1.0], [0.0, cell], [1.0, -1.0]], [1, cell, 0])
    with pytest.raises(ValueError, match=r".") as caught:
        clone(model).set_params(malformed="refuse").fit([[0.0, "secret"], [1.0, -1.0]], [1, 0])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("cell", NO_NUMBERS.values(), ids=NO_NUMBERS.keys())
def test_a_malformed_row_leaves_the_others_what_they_are(cell):
    """One word among labels must not turn every other label into none: that would be more than one row's worth."""
    classes = np.array([0, 1, 2**53 + 1])
    labels = [0, 1, 2, 2**53 + 1, True]
    alone = read_labels(np.asarray(labels, dtype=object), classes, "absorb")
    assert alone.tolist() == [0, 1, -1, 2, 1]
    beside = np.empty(6, dtype=object)
    beside[:] = [*labels, cell]
    assert read_labels(beside, classes, "absorb").tolist() == [*alone, -1]
    words = np.empty(3, dtype=object)
    words[:] = ["b", "1", cell]
    assert read_labels(words, np.array(["1", "b"]), "absorb").tolist() == [1, 0, -1]
    numbers = [[0.1, 2**53 + 1], [-3, True]]
    read = read_numbers([*numbers, [cell, 5]], "X", "absorb")
    assert (read[:2] == read_numbers(numbers, "X", "absorb")).all()
    assert read[2, 1] == 5
    fitted = clone(BAYES).set_params(malformed="absorb").fit([[0.5], [0.5], [0.5]], [0, 1, cell])
    assert fitted.n_rows_ == pytest.approx([1, 1, 1])  # a count of nothing is shown as one


def test_huge_numbers_are_refused_or_absorbed_at_the_bounds():
    huge = [[10**400, -(10**400), "1e400", "2", "x", None]]
    read = read_numbers(huge, "X", "absorb")[0]
    assert read[:4].tolist() == [np.inf, -np.inf, np.inf, 2]
    assert np.isnan(read[4:]).all()
    for targets in ([1, 10**400], [0.5, 10**400]):
        with pytest.raises(InputError) as caught:
            clone(REGRESSION).fit([[1], [2]], targets)
        assert caught.value.field == "y"
        with pytest.raises(ValueError, match="label"):
            clone(BAYES).fit([[1], [2]], targets)
    frame = pytest.importorskip("pandas").DataFrame({"a": [10**400, 1], "b": ["secret", "2"]}, dtype=object)
    for given in ([[10**400], [1]], frame, frame[["a"]]):
        with pytest.raises(InputError) as caught:
            clone(REGRESSION).fit(given, [1, 2])
        assert caught.value.field == "X"
    absorbed = clone(REGRESSION).set_params(malformed="absorb").fit(frame, [1, 2])
    assert absorbed.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(InputError, match="equal length"):
        clone(REGRESSION).set_params(malformed="absorb").fit([[1, 2], [3]], [1, 2])


@pytest.mark.parametrize("unit", [Unit("person"), Unit(neighbours="replace"), Metric("one load", Fraction(1), "MW")])
def test_an_account_that_protects_more_than_a_row_is_not_charged(unit, tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("people", Budget(rho=10**24), unit=unit, who="test")
    for model in ALL:
        with pytest.raises(InputError) as caught:
            clone(model).set_params(ledger=ledger, dataset="people").fit(*rows())
        assert caught.value.field == "dataset"
    assert not ledger.releases("people")


def test_an_account_of_a_schema_by_rows_is_charged(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("people", Budget(rho=10**24), unit=Unit(), who="test")
    clone(BAYES).set_params(ledger=ledger, dataset="people").fit(*rows())
    assert len(ledger.releases("people")) == 1


def test_words_are_refused_without_showing_them():
    words = [["1", "secret"], ["2", "3"]]
    frame = pytest.importorskip("pandas").DataFrame(words, columns=["a", "b"])
    for given in (words, np.array(words), np.array(words, dtype=object), frame):
        with pytest.raises(InputError) as caught:
            clone(REGRESSION).fit(given, [1, 2])
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_labels_may_be_words_and_unknown_ones_are_left_out():
    features, targets = rows()
    words = np.array(["no", "yes"])[targets]
    model = DPNaiveBayes(**CERTAIN, bounds=(-1, 1), classes=["yes", "no"]).fit(features, words)
    assert model.score(features, words) > 0.9
    words[:100] = "perhaps"
    with pytest.raises(InputError) as caught:
        clone(model).fit(features, words)
    assert "perhaps" not in str(caught.value)
    fewer = clone(model).set_params(malformed="absorb").fit(features, words)
    assert fewer.n_rows_.sum() == pytest.approx(200)


def test_one_column_and_a_constant_one():
    features, targets = rows()
    for bounds, taken in (((-1, 1), features[:, :1]), (([-1, 0], [1, 0]), features[:, :2])):
        for model in ALL:
            given = {"bounds": bounds}
            if isinstance(model, DPLinearRegression):
                given["target_bounds"] = (0, 1)
            fitted = clone(model).set_params(**given).fit(taken, targets)
            told = fitted.transform(taken) if hasattr(fitted, "transform") else fitted.predict(taken)
            assert np.isfinite(told).all()


def test_importing_the_room_loads_neither_scikit_learn_nor_jax():
    code = "import sys, discreet.learn.estimators; sys.exit('sklearn' in sys.modules or 'jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_without_scikit_learn_the_extra_is_named():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from discreet.errors import MissingExtraError\n"
        "from discreet.learn import estimators\n"
        "try: estimators.DPPCA\n"
        "except MissingExtraError as e: sys.exit('sklearn' not in str(e) or 'discreet[learn]' not in str(e))\n"
        "sys.exit(2)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_bounds_whose_squares_overflow_are_refused():
    from discreet.learn.estimators.columns import read_box

    assert read_box((-1e100, 1e100), 1).upper.tolist() == [1e100]
    with pytest.raises(InputError, match="1e100"):
        read_box((0, 1e101), 1)
