"""What every estimator shares: a price or a ledger, declared inputs, and nothing private kept after `fit`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self, cast

import numpy as np
from attrs import define
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_array, validate_data

from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.learn.account import refuse_open_ledger
from discreet.learn.estimators.account import FitAccount
from discreet.learn.estimators.columns import Floats
from discreet.learn.estimators.fit_history import FitHistory
from discreet.learn.estimators.form import read_column, refuse_form, refuse_infinite
from discreet.learn.estimators.plan import Claim, FitPlan, FitPrice, Privacy, read_claim, read_price
from discreet.learn.estimators.rows import Malformed, Rows, read_labels, read_mode, read_numbers
from discreet.learn.estimators.sums import SumMeter

__all__ = ["PrivateEstimator", "ScoreClassifier"]

# What scikit-learn says of names and numbers of columns. Other messages of its own may show cells.
_HARMLESS = ("X has ", "The feature names")

Measure = Callable[[Rows, SumMeter], dict[str, Any]]
Measured = Callable[[Rows, Bits | None], dict[str, Any]]


@define(kw_only=True, slots=False, eq=False, repr=False)
class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator whose `fit` costs what it says and keeps only what has noise on it.

    * `epsilon` (pure), `epsilon` and `delta`, or `rho` (zCDP): the price of one call of `fit`. Every call draws fresh
      noise and spends again.
    * `privacy`: a dictionary of `ledger` (a `Ledger`, a path or an address) and `dataset`: the price is charged there,
      durably, before a value is looked at, and a fit that does not fit the budget is refused. The account must protect
      one row, added or removed. It may name `allotment`, `who` and `release` as in the ledger; under the same `release`
      the recorded result comes back for the same rows and nothing is spent; other rows are refused. All five may be
      given as arguments of their own as well.
    * `malformed`: "refuse" (the default) raises on NaN and on labels nobody declared, before anything is spent. That
      tells the caller, who holds the arrays, that there is one. "absorb" raises nothing that depends on a value: what
      is no number counts as the middle of the bounds, and a row with an unknown label is left out.

    Guarantee
        Fitted attributes, and predictions made from them, cost `loss_` for each row added or removed, all other rows
        and the settings being anything. How many columns X has is public; how many rows is not: no attribute, entry
        of the ledger or message holds their exact number. Proof: docs/proofs/estimators.md.
    """

    # Anything goes in, as in all of scikit-learn; `fit` checks it.
    epsilon: Any = None
    delta: Any = None
    rho: Any = None
    ledger: Any = None
    dataset: Any = None
    allotment: str | None = None
    who: str | None = None
    release: str | None = None
    malformed: str = "refuse"
    privacy: Any = None

    def __sklearn_clone__(self) -> Self:
        """A copy of the settings; the ledger is the same one, for it stands for a store on disk.

        Fits without a ledger are counted together with those of the estimator it was cloned from.
        """
        settings = self.get_params(deep=False)
        shared = ("ledger", "privacy")
        copied = {name: value if name in shared else clone(value, safe=False) for name, value in settings.items()}
        made = type(self)(**copied)
        made._history = self._spent()
        return made

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        refuse_open_ledger(state)
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # noise is fresh each time
        return tags

    def expected_noise(self, n_features: int) -> dict[str, float]:
        """Standard deviations of the noise that a fit on so many features would have: made without data, and free.

        A price that buys too little is refused here. A fit keeps the same as `noise_`.
        """
        raise NotImplementedError

    def fits_left(self) -> int:
        """How many such fits the account on the ledger pays for now. Reads no rows, and is free."""
        account = FitAccount.of(self)
        if account is None:
            raise InputError("ledger", None, "named, with a dataset, to say what its account pays for")
        return account.affordable(*self._terms())

    def _terms(self) -> tuple[Loss, Claim]:
        """What a fit costs, and as it is stated."""
        price = self._price()
        return price.cost, read_claim(price)

    @property
    def _names(self) -> list[str] | None:
        """The names of the columns of the X that was read last; before any, those that bounds are given by."""
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        given = [*_keys(getattr(self, "bounds", None)), *_keys(getattr(self, "categories", None))]
        if hasattr(self, "n_features_in_") or not all(isinstance(name, str) for name in given):
            return None
        return list(dict.fromkeys(given)) or None

    def _price(self) -> FitPrice:
        return read_price(self.epsilon, self.delta, self.rho)

    def _mode(self) -> Malformed:
        return read_mode(self.malformed)

    def _read(self, features: Any, *, reset: bool, targets: Any = None) -> tuple[Floats, Any]:
        """Features as floats, targets as one column. Checks shapes and, unless absorbed, that all is finite."""
        mode: Malformed = self._mode() if reset else "refuse"
        given = read_numbers(features, "X", mode)
        refuse_form(given)
        read = self._validated(given, features, reset, mode)
        if mode == "refuse":
            refuse_infinite(read, "X")
        return read, None if targets is None else read_column(targets, len(read), mode)

    def _validated(self, given: Any, features: Any, reset: bool, mode: Malformed) -> Floats:
        """By scikit-learn, which remembers how many columns there are and their names."""
        settings: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": False}
        read: Floats
        try:
            if mode == "absorb" and hasattr(features, "columns"):
                validate_data(self, features, reset=reset, skip_check_array=True)  # the names of columns
                read = check_array(given, estimator=self, input_name="X", **settings)
            else:
                read = validate_data(self, given, reset=reset, **settings)
            return read
        except (TypeError, ValueError, OverflowError) as problem:
            if isinstance(problem, ValueError) and str(problem).startswith(_HARMLESS):
                raise
        # Outside the handler, without its text: it may show a cell.
        hint = "Encode words as declared codes."
        raise InputError("X", Phrase("other values"), "a table of numbers in every column", hint)

    def _read_pair(self, features: Any, targets: Any) -> tuple[Floats, Any]:
        """What a supervised `fit` is given."""
        if targets is None:
            hint = f"{type(self).__name__} requires y to be passed, but the target y is None."
            raise InputError("y", None, "one value for each row of X", hint)
        return self._read(features, reset=True, targets=targets)

    def _whole(self, field: str, least: int, most: int) -> int:
        """A setting that is a whole number."""
        value = getattr(self, field)
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
            raise InputError(field, value, f"a whole number from {least} to {most:,}")
        return int(value)

    def _labels(self, targets: Any, classes: Any) -> Any:
        """Places of the labels among the declared classes."""
        if self._mode() == "refuse":
            refuse_infinite(targets, "y")
            kind = type_of_target(targets, input_name="y", raise_unknown=False)
            if kind not in ("binary", "multiclass"):
                hint = "A classifier takes labels; for numbers use DPLinearRegression."
                raise InputError("y", Phrase(f"Unknown label type: {kind}"), "labels among the declared classes", hint)
        return read_labels(targets, classes, self._mode())

    def _fitted(self, measure: Measure, settings: dict[str, Any], rows: Rows) -> dict[str, Any]:
        """Pay, measure through a meter, and say what it cost. The result holds only what came out of the meter."""
        price = self._price()
        noise = "discrete Laplace" if price.currency == "epsilon" else "discrete Gaussian"
        mechanism = f"{noise} on integer sums; then {type(self).__name__}"
        settings = {**settings, "price": [price.currency, str(price.amount)]}

        def measured(data: Rows, bits: Bits | None) -> dict[str, Any]:
            return measure(data, SumMeter(price, bits))

        return self._paid(measured, settings, price.cost, mechanism, read_claim(price), rows)

    def _paid(
        self, measured: Measured, settings: dict[str, Any], cost: Loss, mechanism: str, claim: Claim, rows: Rows
    ) -> dict[str, Any]:
        """Charge the cost, if there is a ledger, then measure; through the one door."""
        found: dict[str, Any]
        account, identity = FitAccount.of(self), None
        if account is None:
            found = measured(rows, None)
            self._spent().add(cost, claim)
        else:
            plan = FitPlan(type(self).__name__, settings, cost, mechanism, account.dataset, measured)
            answer = account.charge(plan, rows, claim)
            found, identity = cast(dict[str, Any], answer.result), answer.release
        self.loss_ = cost
        self.privacy_ = Privacy(cost, claim, identity)
        return found

    def _spent(self) -> FitHistory:
        """Of this estimator and its clones."""
        if not hasattr(self, "_history"):
            self._history = FitHistory()
        return self._history


def _keys(given: Any) -> list[Any]:
    return list(given) if isinstance(given, Mapping) else []


def read_array(values: Any, field: str) -> Floats:
    """A declared array of finite numbers."""
    array: Floats = check_array(values, ensure_2d=False, dtype=np.float64, input_name=field)
    return array


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
