"""A search under the ledger: candidates are trained on some rows, and one is kept by the others, all in one plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from attrs import evolve, fields

from discreet.accounting.selection import RunCount
from discreet.accounting.words import readable
from discreet.core.digest import digest_of
from discreet.core.exact import Number, as_written
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.progress import listening, notify
from discreet.core.unit import Unit
from discreet.data.source import Connection
from discreet.errors import MISSING, InputError, Phrase
from discreet.learn.gradients import outputs_alone
from discreet.learn.keys import bits_of, new_secret
from discreet.learn.matrix import examples_of
from discreet.learn.model import check_trainable, pack_weights
from discreet.learn.plan import TrainPlan, planned_before
from discreet.learn.row_keys import predictor
from discreet.learn.search import CHOICE, Search, read_runs, right_answers, score_precision
from discreet.ledger.budget import Allotment, Charge
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.noise.bernoulli import bernoulli
from discreet.noise.gaussian import gaussian
from discreet.noise.spread import gaussian_half_width
from discreet.noise.uniform import uniform

__all__ = ["SearchPlan", "plan_search"]

_HELD_OUT = Fraction(1, 10)  # of the rows, for choosing on
_TIME = (
    "The number of runs is drawn at random and neither recorded nor shown: the price rests on it. How long the search "
    "takes tells it, and so do the times of its charge and of its answer on the ledger: do not publish those."
)


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """Candidates that are trained and paid for; the one that is right most often on held-out rows is kept.

    Each is trained once, or, with `search.runs`, a random number of runs is made of candidates picked at random.

    Guarantee
        Whatever the candidates are, the kept model costs `cost`: all runs, or the choice, whichever is more, since
        every row is used for one of the two only, by a coin of its own. (Searches that were paid before count
        both.) With a random number of runs, that number is neither recorded nor told as the search goes; how long
        it takes, by a clock or by the times on the ledger, tells it. Proof: docs/proofs/training.md, "Search".
    """

    kind: ClassVar[str] = "search"
    version: ClassVar[int] = 1
    candidates: tuple[TrainPlan, ...]
    search: Search
    held_out: Fraction
    confidence: float = 0.95
    """Of the error that is stated; what is released does not depend on it."""
    earlier: Callable[[], SearchPlan] | None = None
    """Plans the same with the noise that was found before."""

    @property
    def former(self) -> tuple[SearchPlan, ...]:
        """What was made of the same ask before grids of losses were narrowed: more noise. A search of seconds."""
        return tuple(replace(plan, confidence=self.confidence) for plan in planned_before(self.earlier))

    @property
    def _first(self) -> TrainPlan:
        return self.candidates[0]

    @property
    def dataset(self) -> str:
        """The dataset's name, as the ledger knows it."""
        return self._first.dataset

    @property
    def unit(self) -> Unit:
        """What is protected."""
        return self._first.unit

    @property
    def allotment(self) -> Allotment:
        """The allotment that pays."""
        return self._first.allotment

    @property
    def delta(self) -> Fraction:
        """The delta of the whole."""
        return self._first.delta

    @property
    def cost(self) -> Loss:
        """The price of all runs and of the choice."""
        return self.search.cost_at(self.delta)

    @cached_property
    def charge(self) -> Charge:
        """The price in the currency of the allotment."""
        return self.allotment.price(self.cost, self.delta)

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        if self.search.runs is not None:
            return (
                f"a random number of runs, such as with {self._first.mechanism}; the one with the best noisy score kept"
            )
        return f"{len(self.candidates)} runs, the first with {self._first.mechanism}; one kept by permute-and-flip"

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        return {
            "search": [plan.query["train"] for plan in self.candidates],
            "choice": str(self.search.choice),
            "held_out": str(self.held_out),
            **(
                {}
                if (runs := self.search.runs) is None
                else {"runs": {"mean": str(runs.mean), "shape": str(runs.shape)}}
            ),
        }

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content = {"schema": self._first.schema.to_dict(), "query": self.query}
        return digest_of(content)

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        return self._first.columns

    def explained(self) -> Explanation:
        """What there is to know before it is paid: the candidates, and how one is chosen."""
        share = f"{float(self.held_out):.3g}"
        return Explanation(
            title=f"Plan for a search over {len(self.candidates)} settings on {self.dataset!r}",
            unit=str(self.unit),
            shape=(
                self.search.text(self.delta),
                f"Each row is held out for the choice with probability {share}; the others are trained on.",
            ),
            errors=(self._shortfall(),),
            confidence=self.confidence,
            notes=(
                "All runs are charged before the first one, whichever is chosen. Stopping early refunds nothing.",
                *(() if self.search.runs is None else (_TIME,)),
            ),
            facts={"candidates": [plan.recipe.to_dict() for plan in self.candidates]},
        )

    def _shortfall(self) -> Accuracy:
        """How far the chosen candidate may be behind the best one, in right answers on the held-out rows."""
        if self.search.runs is not None:
            # Two scores, each within so much of its count with probability above (1 + confidence)/2.
            reach = float(gaussian_half_width(1 / self.search.choice, (1 + self.confidence) / 2))
            noise = f"discrete Gaussian on each score, deviation {readable(1 / self.search.choice)}"
            return Accuracy(
                "the chosen run, compared with another",
                noise,
                2 * reach,
                unit="right answers on held-out rows",
                of="shortfall",
            )
        choice = PermuteAndFlip(self.search.choice, sensitivity=1, monotone=True)
        behind = float(choice.error(self.confidence, len(self.candidates)))
        noise = f"permute-and-flip, epsilon = {readable(self.search.choice)}"
        return Accuracy("the chosen candidate", noise, behind, unit="right answers on held-out rows", of="shortfall")

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Lay out the examples, hold some out, train every candidate, keep one. Called by the one door only."""
        notify("laying out the examples in the engine")
        secret, plan = new_secret(bits), self._first
        x, y = examples_of(plan.encoding, plan.schema, data, bits_of(secret, "rows"), plan.condition)
        held = bernoulli(self.held_out, len(y), bits=bits_of(secret, "held out"))
        if self.search.runs is not None:
            best, model = self._best_of_random(self.search.runs, (x, y), held, bits)
        else:
            best, model = self._best_of_all((x, y), held, bits)
        notify("recording")
        return {
            "train": {
                **self.candidates[best].query["train"],
                "weights": pack_weights(model.params),
                "losses": model.losses,
                "unit": str(plan.schema.unit),
                "tuning": self.search.text(self.delta),
            }
        }

    def _best_of_random(self, runs: RunCount, rows: tuple[Any, Any], held: Any, bits: Bits) -> tuple[int, Any]:
        """The run with the highest noisy score, of a random number. Nothing tells how many there were."""
        (x, y), count = rows, runs.draw(bits)
        notify("training a random number of candidates")
        best: tuple[int, int, Any] | None = None
        with listening(_nobody):
            for _ in range(count):
                index = uniform(len(self.candidates), bits=bits)
                candidate = self.candidates[index]
                trained = candidate.resume(bits).go((x[~held], y[~held]))
                outputs = np.asarray(outputs_alone(predictor(candidate.model.apply), trained.params, x[held]))
                (right,) = right_answers([outputs], y[held])
                score = right + gaussian(1 / self.search.choice, bits=bits)
                best = (score, index, trained) if best is None or score > best[0] else best
        if best is None:
            raise InputError("runs", Phrase("none"), "at least one")
        return best[1:]

    def _best_of_all(self, rows: tuple[Any, Any], held: Any, bits: Bits) -> tuple[int, Any]:
        """The candidate that a private choice keeps, of all of them."""
        (x, y), kept = rows, []
        for place, candidate in enumerate(self.candidates):
            notify(f"candidate {place + 1} of {len(self.candidates)}")
            kept.append(candidate.resume(bits).go((x[~held], y[~held])))
        outputs = [
            np.asarray(outputs_alone(predictor(candidate.model.apply), one.params, x[held]))
            for candidate, one in zip(self.candidates, kept, strict=True)
        ]
        best = self.search.best(right_answers(outputs, y[held]), bits)
        return best, kept[best]

    def publish(self, measured: dict[str, Any]) -> dict[str, Any]:
        """As it was measured: weights with noise in every step are what is published."""
        return measured


def plan_search(
    plan: TrainPlan,
    settings: Sequence[Mapping[str, Any]],
    epsilon: Fraction,
    *,
    choice: Number | None = None,
    held_out: Number = _HELD_OUT,
    runs: Number | None = None,
    former: bool = False,
) -> SearchPlan:
    """The search over `settings`, changes to the recipe of `plan`, with as little noise as `epsilon` allows.

    With `runs`, so many runs on average, of a random number that is not told. With `former` noise, as little as was
    found before grids of losses were narrowed, for a price of runs and choice together.
    """
    if plan.count is not None:
        raise InputError("examples", MISSING, "declared for a search")
    if not plan.encoding.classes:
        raise InputError("target", plan.encoding.target.name, "a category or a boolean: right answers are counted")
    part = as_written(held_out, "held_out")
    if not 0 < part < 1:
        raise InputError("held_out", held_out, "more than 0 and less than 1")
    listed = list(settings)
    if len(listed) < 2:
        raise InputError(
            "settings", Phrase(f"{len(listed)} of them"), "at least two candidates", "For one, plan it as it is."
        )
    fixed = {"examples", "multiplier", "report_loss", "rows"}
    for one in listed:
        if not isinstance(one, Mapping) or fixed & set(one):
            raise InputError("settings", one, 'changes to the recipe, such as {"rate": 0.5, "steps": 200}')
    known = [one.name for one in fields(type(plan.recipe)) if one.name not in fixed]
    if unknown := [name for one in listed for name in one if name not in known]:
        raise InputError.unknown(f"settings.{unknown[0]}", known)
    recipes = [evolve(plan.recipe, **one) for one in listed]
    for recipe in recipes:
        check_trainable(plan.model, plan.encoding, recipe, plan.augment)
    count = read_runs(runs)
    if choice is not None and as_written(choice, "choice") <= 0:
        raise InputError("choice", choice, "more than zero: held-out rows are private too")
    if count is not None:
        price = score_precision(epsilon, plan.delta, count) if choice is None else as_written(choice, "choice")
        search = Search.within(epsilon, plan.delta, recipes, price, disjoint=True, runs=count)
    else:
        share = CHOICE if former else Fraction(1)  # rows are disjoint: a choice up to the whole price adds nothing
        price = epsilon * share if choice is None else as_written(choice, "choice")
        search = Search.within(epsilon, plan.delta, recipes, price, former=former, disjoint=not former)
    again = partial(plan_search, plan, listed, epsilon, choice=choice, held_out=held_out, former=True)
    candidates = tuple(replace(plan, recipe=recipe) for recipe in search.recipes)
    return SearchPlan(candidates, search, part, earlier=None if former or count is not None else again)


def _nobody(stage: str, done: float | None) -> None:
    """Hears nothing: progress would tell how many runs there are."""
