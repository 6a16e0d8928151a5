"""Fits without a ledger add up, and whoever makes several is told to how much."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

import warnings
from fractions import Fraction

from estimator_rows import open_ledger, rows
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from discreet.accounting.concentrated import epsilon_of_zcdp
from discreet.core.loss import ZCDP, Approx, Pure
from discreet.learn.estimators import DPPCA, DPNaiveBayes, RepeatedFitWarning
from discreet.learn.estimators.fit_history import add_fits
from discreet.ledger.budget import Budget

X, Y = rows(60)


def bayes(**more):
    return DPNaiveBayes(**{"epsilon": 1, "bounds": (-1, 1), "classes": 2, **more})


def told(run):
    """What warnings said of repeated fits."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [str(one.message) for one in caught if issubclass(one.category, RepeatedFitWarning)]


def test_a_first_fit_is_not_warned_of():
    assert told(lambda: bayes().fit(X, Y)) == []


def test_fitting_again_is_told_with_what_it_adds_up_to():
    model = bayes()
    (text,) = told(lambda: model.fit(X, Y).fit(X, Y))
    assert "fitted 2 times" in text
    assert "epsilon = 2 for each row" in text


def test_cross_validation_is_told():
    (second, fourth) = told(lambda: cross_val_score(bayes(epsilon="1/4"), X, Y, cv=5))
    assert "epsilon = 0.5" in second
    assert "fitted 4 times" in fourth


def test_a_search_is_told_of_every_candidate():
    search = GridSearchCV(bayes(), {"epsilon": [1, 2]}, cv=2)
    texts = told(lambda: search.fit(X, Y))
    assert "fitted 4 times" in texts[-1]
    assert "epsilon = 6 " in texts[-1]  # 1 + 1 + 2 + 2, and the last fit on all rows comes on top
    assert str(search.best_estimator_.privacy_).endswith("for this fit alone")


def test_fits_on_a_ledger_are_not_warned_of(tmp_path):
    ledger = open_ledger(tmp_path, Budget(epsilon=4))
    model = bayes(privacy={"ledger": ledger, "dataset": "visits"})
    assert told(lambda: cross_val_score(model, X, Y, cv=3)) == []
    assert ledger.remaining("visits").amount == 1


def test_two_estimators_are_counted_apart():
    assert told(lambda: (bayes().fit(X, Y), bayes().fit(X, Y))) == []
    model = bayes()
    assert len(told(lambda: (model.fit(X, Y), clone(clone(model)).fit(X, Y)))) == 1


def test_rhos_add_up_as_rhos():
    both = DPPCA(epsilon=1, delta=1e-6, bounds=(-1, 1)).fit(X)
    fits = [(both.loss_, both.privacy_.claim)] * 4
    total = add_fits(fits)
    assert total.delta == Fraction(1, 10**6)
    assert total.epsilon == epsilon_of_zcdp(4 * both.loss_.rho, total.delta) < 4 * both.privacy_.claim.epsilon


def test_claims_of_other_kinds_add_up():
    assert add_fits([(Pure(1), Pure(1)), (Pure(2), Pure(2))]) == Pure(3)
    assert add_fits([(ZCDP(1), ZCDP(1))] * 2) == ZCDP(2)
    mixed = add_fits([(Pure(1), Pure(1)), (Approx(2, "1e-6"), Approx(2, "1e-6")), (ZCDP("1/8"), ZCDP("1/8"))])
    assert mixed.delta == Fraction(2, 10**6)
    assert mixed.epsilon == 3 + epsilon_of_zcdp(Fraction(1, 8), Fraction(1, 10**6))
