"""What every estimator shares: a price or a ledger, declared inputs, and nothing private kept after `fit`."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
from attrs import define
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_array, column_or_1d, validate_data

from discreet.core.loss import Loss, Pure
from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.learn.estimators.columns import Floats
from discreet.learn.estimators.plan import Claim, FitPlan, FitPrice, Privacy, read_claim, read_price
from discreet.learn.estimators.rows import ArrayData, Malformed, Rows, read_labels, read_mode, read_numbers
from discreet.learn.estimators.sums import SumMeter
from discreet.ledger.door import Answer
from discreet.ledger.door import release as through_the_door
from discreet.ledger.ledger import Ledger

__all__ = ["PrivateEstimator", "ScoreClassifier"]

Measure = Callable[[Rows, SumMeter], dict[str, Any]]
Measured = Callable[[Rows, Bits | None], dict[str, Any]]


@define(kw_only=True, slots=False, eq=False, repr=False)
class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator whose `fit` costs what it says and keeps only what has noise on it.

    * `epsilon` (pure), `epsilon` and `delta`, or `rho` (zCDP): the price of one call of `fit`. Every call draws fresh
      noise and spends again.
    * `ledger` (a `Ledger`, a path or an address) and `dataset`: the price is charged there, durably, before a value is
      looked at, and a fit that does not fit the budget is refused. The account must protect one row, added or removed.
      `allotment`, `who`, `release` as in the ledger; under the same `release` the recorded result comes back and
      nothing is spent.
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

    def __sklearn_clone__(self) -> Self:
        """A copy of the settings; the ledger is the same one, for it stands for a store on disk."""
        settings = self.get_params(deep=False)
        copied = {name: one if name == "ledger" else clone(one, safe=False) for name, one in settings.items()}
        return type(self)(**copied)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # noise is fresh each time
        return tags

    def expected_noise(self, n_features: int) -> dict[str, float]:
        """Standard deviations of the noise that a fit on so many features would have: made without data, and free.

        A price that buys too little is refused here. A fit keeps the same as `noise_`.
        """
        raise NotImplementedError

    def _price(self) -> FitPrice:
        return read_price(self.epsilon, self.delta, self.rho)

    def _mode(self) -> Malformed:
        return read_mode(self.malformed)

    def _read(self, features: Any, *, reset: bool, targets: Any = None) -> tuple[Floats, Any]:
        """Features as floats, targets as one column. Checks shapes and, unless absorbed, that all is finite."""
        mode: Malformed = self._mode() if reset else "refuse"
        settings: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": mode == "refuse"}
        given, words = read_numbers(features, "X", mode), False
        if mode == "absorb" and hasattr(features, "columns"):
            validate_data(self, features, reset=reset, skip_check_array=True)  # the names of columns
            read = check_array(given, estimator=self, input_name="X", **settings)
        else:
            try:
                read = validate_data(self, given, reset=reset, **settings)
            except OverflowError:
                words = True
            except ValueError as problem:
                if not str(problem).startswith("could not convert"):
                    raise
                words = True  # that message shows the cell
        if words:
            raise InputError(
                "X", Phrase("other values"), "a table of numbers in every column", "Encode words as declared codes."
            )
        if targets is None:
            return read, None
        if mode == "absorb" and not isinstance(targets, np.ndarray):
            targets = np.asarray(targets, dtype=object)  # each as it came
        column = column_or_1d(targets, warn=True)
        if len(column) != len(read):
            raise InputError("y", Phrase("more or fewer"), "one value for each row of X")
        return read, column

    def _read_pair(self, features: Any, targets: Any) -> tuple[Floats, Any]:
        """What a supervised `fit` is given."""
        if targets is None:
            raise ValueError("requires y to be passed, but the target y is None")  # as scikit-learn says it
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
            if np.asarray(targets).dtype.kind == "f":
                assert_all_finite(targets, input_name="y")
            check_classification_targets(targets)
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
        name, identity = type(self).__name__, None
        found: dict[str, Any]
        if self.ledger is None:
            for field in ("dataset", "allotment", "release"):
                if getattr(self, field) is not None:
                    raise InputError("ledger", None, f"given where {field} is")
            found = measured(rows, None)
        else:
            if self.dataset is None:
                raise InputError("dataset", None, "the name of the data on the ledger")
            plan = FitPlan(name, settings, cost, mechanism, self.dataset, measured)
            named = isinstance(self.ledger, (str, Path))
            ledger = Ledger.open(self.ledger) if named else self.ledger
            try:
                answer = self._charged(plan, rows, ledger, claim)
            finally:
                if named:
                    ledger.close()
            found, identity = cast(dict[str, Any], answer.result), answer.release
        self.loss_ = cost
        self.privacy_ = Privacy(cost, claim, identity)
        return found

    def _charged(self, plan: FitPlan, rows: Rows, ledger: Ledger, claim: Claim) -> Answer:
        """Through the door, to an account that protects what the cost is stated for: a row, added or removed."""
        account = ledger.account(self.dataset)
        if account.unit != str(plan.unit):
            hint = (
                "A fit costs its price for each row. Of a person with several rows it would tell more than is charged; "
                "a row replaced is one removed and one added. Keep an account by rows, or use curator.train, which "
                "knows the unit."
            )
            raise InputError("dataset", account.unit, "an account whose unit is one row, added or removed", hint)
        kind = account.budget.allotment(self.allotment).kind
        aim = claim.delta if kind == "plan" and not isinstance(claim, Pure) else Fraction(0)
        return through_the_door(
            plan,
            ArrayData(rows),
            ledger,
            who=getpass.getuser() if self.who is None else self.who,
            release=self.release,
            allotment=self.allotment,
            delta=aim if kind == "plan" else None,
        )


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
