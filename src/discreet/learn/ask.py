"""Asking for a trained model: which columns, which model, how long. Nothing is spent by asking.

It is read without JAX, so that it can be described and sent where JAX is not installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import frozen

from discreet.core.exact import Number
from discreet.core.unit import Neighbours
from discreet.data.schema import Schema
from discreet.errors import InputError, MissingExtraError, Phrase, kind_of
from discreet.ledger.budget import Allotment, Budget
from discreet.query.ask import Ask, Form, option, options
from discreet.query.forms import AMOUNT, COLUMN, CONDITION, NAMES, TEXT, WHOLE, names_in
from discreet.query.predicate import Predicate
from discreet.query.price import Price

if TYPE_CHECKING:
    from discreet.learn.model import Model
    from discreet.learn.training import CheckedSearch, CheckedTrain

__all__ = ["SETTINGS", "SearchAsk", "TrainAsk", "paying_plan"]

_DIVIDE = (
    "A model is charged as one fixed plan: give the budget an allotment of kind plan, in discreet.toml as "
    "[budget.allotments.models] kind = 'plan', epsilon = 2, delta = 1e-6, beside [budget.allotments.questions] for the "
    "rest, or in Python Budget(epsilon=3, delta=2e-6, allotments=[Allotment('questions', 'zcdp', epsilon=1, "
    "delta=1e-6), Allotment('models', 'plan', epsilon=2, delta=1e-6)])."
)
_NAMED = ("logistic", "mlp")
SETTINGS = (
    "multiplier",
    "optimizer",
    "rate",
    "momentum",
    "schedule",
    "warmup",
    "how",
    "copies",
    "microbatch",
    "ema",
    "noise",
    "report_loss",
    "operands",
    "rows",
    "augment",
    "clipping",
    "quantile",
    "bands",
)
"""Fields that are those of a `discreet.learn.recipe.Recipe`, which has their defaults; and the maker of copies."""


def _named(value: str | Model) -> str:
    if not isinstance(value, str):
        raise InputError("model", kind_of(value), "logistic or mlp: a server takes no code from a caller")
    return value


def _code_of(field: str) -> Callable[[str], Any]:
    def load(text: str) -> Any:
        if find_spec("jax") is None:
            raise MissingExtraError("learn", "jax")
        from discreet.learn.named_model import load_model, load_optimizer

        return load_model(text) if field == "model" else load_optimizer(text)

    return load


MODEL = Form(str, write=_named, code=_code_of("model"))


def _named_optimizer(value: Any) -> str:
    if not isinstance(value, str):
        raise InputError("optimizer", kind_of(value), "sgd or adam: a server takes no code from a caller")
    return value


OPTIMIZER = Form(str, write=_named_optimizer, code=_code_of("optimizer"))
CODE = Form(str)
"""A function of Python, which has no JSON."""


def _parse_sizes(text: str) -> list[int]:
    if not all(one.isdecimal() for one in names_in(text)):
        raise InputError("hidden", text, "sizes of layers, such as 64 or 128,64")
    return [int(one) for one in names_in(text)]


SIZES = Form(list[int], settle=tuple, write=list, parse=_parse_sizes)
FILE = Form(str)


def _parse_candidates(texts: list[str]) -> list[dict[str, Any]]:
    """rate=0.5,momentum=0.9: one candidate a text."""
    found = []
    for text in texts:
        pairs = [part.partition("=") for part in names_in(text)]
        if not pairs or not all(name and sign and value for name, sign, value in pairs):
            raise InputError("settings", text, "NAME=VALUE, separated by commas, such as rate=0.5,momentum=0.9")
        found.append({name.strip(): value.strip() for name, _, value in pairs})
    return found


CANDIDATES = Form(
    list[dict[str, Any]],
    settle=lambda value: tuple(dict(one) for one in value),
    write=list,
    parse=_parse_candidates,
    repeated=True,
)


def _setting(form: Form, help: str, **more: Any) -> Any:
    return option(form, None, help=help, **more)


def paying_plan(budget: Budget, name: str | None) -> Allotment:
    """The allotment of kind plan that is named, or the only one: a run is charged as one fixed plan."""
    plans = [part for part in budget.allotments if part.kind == "plan"]
    part = plans[0] if name is None and len(plans) == 1 else budget.allotment(name)
    if part.kind != "plan":
        raise InputError("allotment", Phrase(f"{part.name} ({part.kind})"), "an allotment of kind plan", _DIVIDE)
    return part


@frozen(eq=False)
class TrainAsk(Ask):
    """A model of `target`, trained so that its weights may be published."""

    kind: ClassVar[str] = "train"
    prices: ClassVar[tuple[str, ...]] = ("epsilon", "share", "within", "confidence")

    model: str | Model = option(
        MODEL,
        "logistic",
        help="logistic or mlp; on a command line also MODULE:OBJECT, a Model of your own",
        choices=_NAMED,
    )
    target: str = option(
        COLUMN, help="The column, or expression, to predict from the others", names_columns=True, kw_only=True
    )
    features: Sequence[str] | None = option(
        NAMES,
        None,
        help="Columns and expressions the model sees, age,sex,pay; all other columns by default",
        names_columns=True,
    )
    hidden: Sequence[int] = option(SIZES, (), help="Sizes of an mlp's hidden layers: 64 or 128,64")
    where: str | Predicate | None = option(CONDITION, None, help="Which rows of the data count")
    examples: int | None = option(
        WHOLE,
        None,
        help="About how many rows there are, if that is public; otherwise leave it out and set probability: a noisy "
        "count is bought",
    )
    lot: Number | None = option(AMOUNT, None, help="How many examples a step is expected to use")
    probability: Number | None = option(AMOUNT, None, help="Instead of lot: the probability of an example in a step")
    steps: int | None = option(WHOLE, None, help="How many steps")
    epochs: Number | None = option(AMOUNT, None, help="Instead of steps: passes over the data (20 by default)")
    bound: Number = option(AMOUNT, 1.0, help="Clipping bound: the largest norm of one example's gradient")
    clipping: str | None = _setting(
        TEXT,
        "fixed; normalise: all gradients have about that length; adaptive: the bound follows a quantile of norms",
        choices=("fixed", "normalise", "adaptive"),
    )
    quantile: Number | None = _setting(AMOUNT, "With adaptive clipping: the share of gradients that are not clipped")
    bands: int | None = _setting(
        WHOLE, "Steps over which noise is correlated (banded matrix factorisation); 1 by default"
    )
    multiplier: Number | None = _setting(AMOUNT, "Noise, in clipping bounds; by default as the price allows")
    rate: Number | None = _setting(AMOUNT, "Learning rate")
    momentum: Number | None = _setting(AMOUNT, "Momentum of sgd")
    optimizer: Any = _setting(
        OPTIMIZER,
        "sgd, adam, or adam-corrected (without the variance of the noise in its second moment); on a command line also "
        "MODULE:OBJECT, one of optax",
        choices=("sgd", "adam", "adam-corrected"),
    )
    schedule: str | None = _setting(TEXT, "constant, cosine or linear", choices=("constant", "cosine", "linear"))
    warmup: int | None = _setting(WHOLE, "Steps over which the learning rate rises")
    ema: Number | None = _setting(AMOUNT, "Decay of the average of the weights, such as 0.99")
    noise: str | None = _setting(
        TEXT,
        "exact, device (quicker for large models) or auto: exact for small models and on a CPU",
        choices=("auto", "device", "exact"),
    )
    report_loss: Number | None = _setting(
        AMOUNT, "Largest loss that counts: shows a noisy mean loss, for 0.8% more noise"
    )
    how: str | None = _setting(TEXT, "How gradients are clipped: auto, vmap or microbatch", here_only=True, shell=False)
    copies: int | None = _setting(WHOLE, "Augmented copies of each example", here_only=True, shell=False)
    microbatch: int | None = _setting(WHOLE, "Examples that are clipped at once", here_only=True, shell=False)
    operands: str | None = _setting(TEXT, "bfloat16: faster on some accelerators", here_only=True, shell=False)
    rows: int | None = _setting(
        WHOLE, "How many rows of a person count: their gradients are averaged before clipping; 1 by default"
    )
    augment: Any = _setting(CODE, "Makes the copies of an example", here_only=True, shell=False)
    delta: Number | None = option(
        AMOUNT, None, help="Its delta; by default the same share of the allotment's delta as of its epsilon", late=True
    )
    checkpoint: str | Path | None = option(
        FILE, None, help="File to keep the run in, so that it survives a crash", late=True, here_only=True
    )

    def recipe_settings(self) -> dict[str, Any]:
        """What is said of the recipe."""
        said = {name: getattr(self, name) for name in SETTINGS if name != "augment"}
        if not isinstance(self.optimizer, str):
            del said["optimizer"]  # one of optax is no part of a recipe
        return {name: value for name, value in said.items() if value is not None}

    @property
    def code(self) -> dict[str, Any]:
        """What is said in functions: an optimiser of optax, an augmentation."""
        return {"optimizer": None if isinstance(self.optimizer, str) else self.optimizer, "augment": self.augment}

    def paying(self, budget: Budget, name: str | None) -> Allotment:
        """The allotment of kind plan that is named, or the only one."""
        return paying_plan(budget, name)

    def price(self, **words: Any) -> Price | None:
        """The price, if one is named: steps and multiplier may fix it.

        As an accuracy it is how large the noise may be on each entry of a step's mean gradient; of a search, how many
        right answers the chosen candidate may be behind the best.
        """
        if any(value is not None for word, value in words.items() if word not in ("confidence", "noise")):
            return super().price(**words)
        if words.get("confidence", 0.95) != 0.95:
            raise InputError("confidence", words["confidence"], "left out where no price is named")
        return None

    def checked(self, schema: Schema) -> CheckedTrain | CheckedSearch:
        """The same, read against a schema."""
        schema.unit.check_named("a model is trained: rows of one person count together")
        if schema.unit.neighbours is not Neighbours.ADD_REMOVE:
            hint = "Sampling is accounted for where a unit is added or removed. Declare neighbours = 'add-remove'."
            raise InputError("unit.neighbours", Phrase(schema.unit.neighbours), "add-remove", hint)
        if find_spec("jax") is None:
            raise MissingExtraError("learn", "jax")
        from discreet.learn.training import check_training

        return check_training(self, schema)

    def search(self, settings: Sequence[Mapping[str, Any]], **terms: Any) -> SearchAsk:
        """A search among settings, each trained and paid for."""
        mine = {name: getattr(self, name) for name in options(type(self)) if name != "checkpoint"}
        return SearchAsk(**mine, settings=settings, **terms)


@frozen(eq=False)
class SearchAsk(TrainAsk):
    """A search: every one of some settings is trained and paid for, and the best one is kept by a private choice."""

    kind: ClassVar[str] = "search"

    settings: Sequence[Mapping[str, Any]] = option(
        CANDIDATES, help="One candidate, such as rate=0.5; repeat for more", flags=("try",), kw_only=True
    )
    choice: Number | None = option(
        AMOUNT, None, help="What the choice costs; epsilon by default, on rows of its own", late=True
    )
    held_out: Number = option(
        AMOUNT, Fraction(1, 10), help="The share of the rows on which candidates are compared", late=True
    )
    runs: Number | None = option(
        AMOUNT,
        None,
        help="A random number of runs, so many on average, of candidates picked at random; else each once",
        late=True,
    )

    def checked(self, schema: Schema) -> CheckedSearch:
        """The same, read against a schema."""
        training: Any = super().checked(schema)
        found: CheckedSearch = training.search(self)
        return found
