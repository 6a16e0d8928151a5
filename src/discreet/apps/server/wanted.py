"""What a program may send to have a long job done: a hierarchy, synthetic rows, a model.

Everything is plain values: no path is opened, no code is taken, and what would fill the machine is refused here.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from discreet.apps.server.asked import Amount, Plain, Text
from discreet.apps.server.modest import check_key, check_lists
from discreet.curator import Curator
from discreet.errors import InputError
from discreet.query.key import Key
from discreet.query.notation import read_key
from discreet.query.predicate import Predicate, predicate_from
from discreet.trees.rules import Rules

__all__ = ["STEPS", "Kind", "SynthAsked", "TrainAsked", "TreeAsked", "Wanted"]

Kind = Literal["tree", "synth", "train"]
Names = Annotated[list[Text], Field(max_length=1000)]
Condition = Annotated[Text | dict[str, Any], Field(description="As text, 'age >= 18', or in the JSON form of a query.")]
_NUMBERS = 4_000_000
_SEARCHED = 100_000  # numbers of a hierarchy priced by accuracy: that takes some twenty plans, and planning is free
STEPS = 100_000
"""The most steps of a training run: pricing takes time that grows with them, and planning is free."""
_FORM = re.compile(r"[^{}]*\{(:0?[0-9]{0,2}d?)?\}[^{}]*")  # a place for a number, and no more than that


class Wanted(Plain):
    """A job and its price. `release` is an id of the caller's choice, under which asking again is free."""

    kind: ClassVar[Kind]

    where: Condition | None = None
    epsilon: Amount = None
    share: Amount = None
    allotment: str | None = None
    release: Annotated[str, Field(min_length=1, max_length=200, pattern="^[^/]+$")] | None = None
    why: Annotated[str, Field(max_length=1000)] = ""

    def offer(self, curator: Curator) -> Any:
        """The plan, priced; nothing is read and nothing is spent."""
        raise NotImplementedError

    def _priced(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("epsilon", "share", "allotment", *names)}


class RulesAsked(BaseModel):
    """Public facts about the true counts, by level: see `discreet.Rules`. Numbers, or nested lists of them."""

    model_config = ConfigDict(extra="forbid")

    lower: dict[str, Any] = {}
    upper: dict[str, Any] = {}
    totals: dict[str, list[StrictInt]] = {}
    weights: dict[str, Any] = {}

    def read(self) -> Rules:
        """As the room of hierarchies has them, which checks them."""
        return Rules(self.lower, self.upper, self.totals, self.weights)


class TreeAsked(Wanted):
    """A hierarchy. `levels` are names, the widest first, or names with the length of their codes.

    `by` is written as on the command line (`sex`, `age/10`) or in the JSON form of a query. `geography` is a public
    table of columns, or a list of leaf codes; without it the schema declares the regions.
    """

    kind: ClassVar[Kind] = "tree"

    levels: (
        Annotated[list[Text], Field(min_length=1, max_length=20)]
        | Annotated[dict[str, StrictInt], Field(min_length=1, max_length=20)]
    )
    by: list[Text | dict[str, Any]] = Field(default_factory=list, max_length=20)
    column: Text | None = None
    geography: dict[str, list[str]] | list[str] | None = None
    sizes: Text | None = None
    largest: Annotated[StrictInt, Field(ge=1, le=10_000)] | None = None
    cumulative: StrictBool = True
    method: Text = "auto"
    split: Text | dict[str, Amount] = "auto"
    rules: RulesAsked | None = None
    rho: Amount = None
    within: Amount = None
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    noise: Text = "auto"

    def offer(self, curator: Curator) -> Any:
        """The plan, priced; nothing is read and nothing is spent."""
        question = curator.tree(
            self.levels,
            by=[_key(one, curator) for one in self.by],
            column=self.column,
            geography=self.geography,
            where=_condition(self.where),
            sizes=self.sizes,
            largest=self.largest,
            cumulative=self.cumulative,
            rules=None if self.rules is None else self.rules.read(),
        )
        many = question.counted.tree.leaves * question.counted.cells
        if many > _NUMBERS:
            raise InputError("by", f"{many:,} numbers", f"at most {_NUMBERS:,} over HTTP")
        if self.within is not None and many > _SEARCHED:
            hint = "Give epsilon, rho or share: the plan says how far each level may be off. Nothing was spent."
            raise InputError("within", f"for {many:,} numbers", f"for at most {_SEARCHED:,} over HTTP", hint)
        price = self._priced("rho", "within", "confidence", "noise", "method", "split")
        return question.plan(**price)


class SynthAsked(Wanted):
    """Synthetic rows. `marginals` are columns whose joint counts to preserve, with `weights` if some matter more."""

    kind: ClassVar[Kind] = "synth"

    method: Text = "auto"
    workload: Text | None = None
    marginals: list[Annotated[list[Text], Field(min_length=1, max_length=10)]] = Field(
        default_factory=list, max_length=5000
    )
    weights: Annotated[list[Annotated[float, Field(gt=0)]], Field(max_length=5000)] | None = None
    columns: Names | None = None
    bins: Annotated[StrictInt, Field(ge=1)] | dict[str, StrictInt] = 64
    rows: StrictInt | None = None
    impossible: list[Condition] = Field(default_factory=list, max_length=100)
    keys: Annotated[dict[str, Text | StrictInt], Field(max_length=100)] | None = None
    rho: Amount = None
    within: Amount = None
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95

    def offer(self, curator: Curator) -> Any:
        """The plan, priced; nothing is read and nothing is spent."""
        for name, form in (self.keys or {}).items():
            if isinstance(form, str) and not (len(form) <= 100 and _FORM.fullmatch(form)):
                raise InputError(f"keys.{name}", form, "text with one place for a number, such as P{:06d}")
        question = curator.synthesize(
            self.method,
            workload=self._workload(),
            columns=self.columns,
            bins=self.bins,
            rows=self.rows,
            where=_condition(self.where),
            impossible=[one for text in self.impossible if (one := _condition(text)) is not None],
            keys=self.keys,
        )
        return question.plan(**self._priced("rho", "within", "confidence"))

    def _workload(self) -> Any:
        if not self.marginals:
            if self.weights is not None:
                raise InputError("weights", self.weights, "one for each of marginals, which are absent")
            return self.workload
        if self.workload is not None:
            raise InputError("workload", self.workload, "absent where marginals are given")
        named = [tuple(one) for one in self.marginals]
        if self.weights is None:
            return named
        if len(self.weights) != len(named):
            raise InputError("weights", self.weights, f"{len(named)} of them, one for each of marginals")
        return dict(zip(named, self.weights, strict=True))


_SETTINGS = ("multiplier", "rate", "momentum", "optimizer", "schedule", "ema", "noise", "report_loss")


class TrainAsked(Wanted):
    """A model known by name, of a `target`. No code is taken from a caller."""

    kind: ClassVar[Kind] = "train"

    model: Literal["logistic", "mlp"] = "logistic"
    target: Text
    features: Names | None = None
    hidden: list[Annotated[StrictInt, Field(ge=1, le=1024)]] = Field(default_factory=list, max_length=4)
    examples: StrictInt | None = None
    lot: Amount = None
    probability: Amount = None
    steps: Annotated[StrictInt, Field(ge=1)] | None = None
    epochs: Amount = None
    bound: Amount = 1.0
    multiplier: Amount = None
    rate: Amount = None
    momentum: Amount = None
    optimizer: Text | None = None
    schedule: Text | None = None
    ema: Amount = None
    noise: Text | None = None
    report_loss: Amount = None
    delta: Amount = None

    def offer(self, curator: Curator) -> Any:
        """The plan, priced; nothing is read and nothing is spent."""
        question = curator.train(
            self.model,
            target=self.target,
            features=self.features,
            where=_condition(self.where),
            examples=self.examples,
            lot=self.lot,
            probability=self.probability,
            steps=self.steps,
            epochs=self.epochs,
            hidden=self.hidden,
            bound=1.0 if self.bound is None else self.bound,  # type: ignore[arg-type]
            **{name: value for name in _SETTINGS if (value := getattr(self, name)) is not None},
        )
        steps = question.settings.get("steps")
        if steps is None:  # a search for the number of steps that a price allows takes many times as long as a price
            raise InputError("steps", steps, "given over HTTP, or epochs are", "Nothing was spent.")
        if steps > STEPS:  # also those that follow from passes over many examples
            raise InputError("steps", f"{steps:,}", f"at most {STEPS:,} over HTTP", "Nothing was spent.")
        return question.plan(**self._priced("delta"))


def _key(one: str | dict[str, Any], curator: Curator) -> Key:
    if isinstance(one, str):
        return check_key(read_key(one, curator.schema), curator.schema)
    check_lists(one, "by", curator.schema)
    return Key.from_dict(one, curator.schema)


def _condition(one: str | dict[str, Any] | None) -> str | Predicate | None:
    return predicate_from(one) if isinstance(one, dict) else one
