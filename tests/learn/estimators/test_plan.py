"""What a fit costs: the price as it is stated, the noise it buys, and the ledger that is charged."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

from fractions import Fraction

from estimator_rows import open_ledger, rows
from sklearn.base import clone

from discreet.core.loss import ZCDP, Approx, Pure
from discreet.errors import BudgetError, InputError
from discreet.learn.estimators import DPPCA, DPLinearRegression, DPNaiveBayes
from discreet.learn.estimators.plan import FitPlan, read_price
from discreet.ledger.budget import Allotment, Budget


def test_a_fit_is_charged_before_and_refused_when_over(tmp_path):
    ledger = open_ledger(tmp_path, Budget(epsilon=1))
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


def test_the_same_release_comes_back_for_free(tmp_path):
    ledger = open_ledger(tmp_path, Budget(rho=1))
    features, targets = rows()
    settings = {"rho": "1/2", "bounds": (-1, 1), "target_bounds": (0, 1), "dataset": "visits", "release": "line 1"}
    one = DPLinearRegression(ledger=str(tmp_path / "books.db"), **settings).fit(features, targets)
    two = DPLinearRegression(ledger=ledger, **settings).fit(features.copy(), list(targets))
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
    ledger = open_ledger(tmp_path, Budget(epsilon=5, delta="1e-5", allotments=parts))
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


def test_what_a_fit_costs_is_said():
    features, _ = rows()
    pure = DPPCA(epsilon=1, bounds=(-1, 1)).fit(features)
    assert pure.loss_ == Pure(1)
    assert str(pure.privacy_) == "epsilon = 1 for each row added or removed, for this fit alone"
    both = DPPCA(epsilon=1, delta=1e-6, bounds=(-1, 1)).fit(features)
    assert isinstance(both.loss_, ZCDP)
    assert isinstance(both.privacy_.claim, Approx)
    assert 0.999999 < both.privacy_.claim.epsilon <= 1
    assert both.noise_["others"] < both.noise_["diagonal"]
    assert DPPCA(rho="1/8", bounds=(-1, 1)).fit(features).privacy_.claim == ZCDP("1/8")


def test_a_price_buys_the_noise_that_costs_it():
    pure, both = read_price("1/2", None, None), read_price(None, None, "1/8")
    assert pure.noise(Fraction(1, 2), l1=3, l2_squared=9).scale == 12
    gaussian = both.noise(Fraction(1, 2), l1=3, l2_squared=9)
    assert gaussian.variance == pytest.approx(9 / (2 * 1 / 16), rel=1e-9)
    assert gaussian.sigma**2 >= Fraction(9, 1) / (2 * Fraction(1, 16))  # rounded up, never down
    assert (pure.cost, both.cost) == (Pure("1/2"), ZCDP("1/8"))


def test_noise_that_no_sampler_reaches_names_what_to_raise():
    with pytest.raises(InputError, match="Try epsilon") as caught:
        read_price(1e-12, None, None).noise(Fraction(1), l1=2**20, l2_squared=1)
    assert caught.value.field == "epsilon"


def test_the_digest_follows_settings_price_and_dataset():
    def plan(**more):
        given = {"estimator": "DPPCA", "settings": {"norm": 1}, "cost": ZCDP(1), "mechanism": "", "dataset": "visits"}
        return FitPlan(**{**given, **more}, measured=lambda rows, bits: {})

    digests = {
        plan(**more).digest
        for more in ({}, {"settings": {"norm": 2}}, {"cost": ZCDP(2)}, {"dataset": "x"}, {"estimator": "DPKMeans"})
    }
    assert len(digests) == 5
    assert plan().digest in digests
    assert plan(mechanism="in other words").digest == plan().digest
