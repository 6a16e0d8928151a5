"""How a model is trained in private: lot, steps, clipping, noise and optimiser, all fixed before the first step.

Everything in a recipe is public. Its cost follows from it alone, by the privacy loss distribution of the whole run.
Proof: docs/proofs/training.md.
"""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

from attrs import evolve, field, fields, frozen

from discreet.accounting.convert import approx
from discreet.accounting.training import (
    former_noise_multiplier,
    former_training_steps,
    noise_multiplier,
    sampling_probability,
    training_loss,
    training_steps,
)
from discreet.core.check import at_least, exact, named, one_of, plain, real, real_or_none, whole, whole_or_none, within
from discreet.core.exact import Number, as_written
from discreet.core.loss import Approx, Composed, Loss
from discreet.errors import MISSING, InputError

__all__ = [
    "DEVICE_DELTA",
    "LARGEST_LOT",
    "LOSS_WEIGHT",
    "MOST_BANDED",
    "MOST_BANDS",
    "MOST_EXACT",
    "STABILITY",
    "Recipe",
    "weak_delta",
]

_MOST_STEPS = 10**8
_SAMPLER = "lattice"  # how "device" draws: entries without it are of 0.1
MOST_EXACT = 2**19
"""The largest multiplier of exact noise: times 2**20, the length of an example, it is what the sampler reaches."""

LARGEST_LOT = 2**14
"""Beyond it one rounding of a single-precision sum may exceed the 1/1024 of the bound allowed for on the device."""

LOSS_WEIGHT = Fraction(1, 8)
"""How long an entry beside the gradient of an example is: its loss, and whether its gradient is within the bound."""

STABILITY = 0.01
"""What `clipping="normalise"` adds to a norm before it divides by it: gradients much shorter than this stay short."""

_LATER = ("rows", "clipping", "quantile", "bands")  # left out of what is stored where they are as before

MOST_BANDS, MOST_BANDED = 128, 2**12
"""The most bands, and the largest multiplier with them: sums of noise stay within 64 bits."""

_UNEVEN = Fraction(1, 10**40)
"""What noise on the integers costs beyond real noise: docs/proofs/training.md, "Exact noise"."""

DEVICE_DELTA = Fraction(2**40, 10**34)
"""What a step with noise drawn on the device adds to delta: 1e-34 an entry, for up to 2^40 entries.

The distance of the law it has from the law it should have: docs/proofs/training.md, "Noise on the device"."""


@frozen(kw_only=True, field_transformer=named)
class Recipe:
    """A run of DP-SGD: in each of `steps` steps every example joins the lot with probability `lot / examples`.

    The gradient of each example is clipped to length `bound`; their sum gets Gaussian noise of standard deviation
    `multiplier * bound` in every entry, is divided by `lot` (the expected one) and handed to the optimiser.

    `examples` is the number of examples as the public knows it. `copies` of an example (augmentations) are averaged
    before clipping. So are up to `rows` rows of a person, where examples are persons: a person is one example.
    `microbatch` examples are held in memory at once; a lot may need several. `ema` is the decay of the average of the
    parameters, 0 for none. `noise` is "exact" (integers, exact bits), "device" (integers, drawn by table on the device
    and added to single-precision sums), or "auto": exact on a CPU up to a million parameters and elsewhere up to a
    thousand, else device. "float" is what 0.1 called "device": it can be read, and not trained with.
    `how` is for `clipped_sum`; "ghost", a choice of 0.1, is read as "auto".
    `report_loss` is the largest loss of an example that counts in a noisy mean loss shown at each step; the noise is
    then about 0.8% larger and the loss costs nothing more. `operands` is for `clipped_sum`: "bfloat16" is faster on
    a GPU.
    `clipping` is "fixed"; "normalise": every gradient is scaled to length bound |g| / (|g| + 0.01), so that the bound
    need not be tuned; or "adaptive": `bound` is the first one, and it follows the `quantile` of norms by a noisy share
    of the examples within it at each step. That share is one more entry beside the gradient, as the loss is: the noise
    is about 0.8% larger, and it costs nothing more.
    With `bands` of more than 1 the noise is correlated: a step takes back a part of the noise of the bands - 1 before
    it, and every example is in one of `bands` groups, of which each step draws its lot from one, in turn (banded
    matrix factorisation). It is counted as steps / bands steps of `bands` times the probability. Exact noise only.

    Guarantee
        With noise "exact", a run costs `cost`, whatever the examples are: one example is added or removed. With noise
        "device" the same holds, what the noise is short of its ideal being in `cost` (`noise_delta`), as long as sums
        of neighbours, as single precision computes them, differ by at most the bound and a thousandth of it.
        Proof: docs/proofs/training.md.

    >>> recipe = Recipe(examples=60_000, lot=600, steps=100, bound=1, multiplier=1.1)
    >>> recipe.probability
    Fraction(1, 100)
    """

    examples: int = field(converter=whole, validator=at_least(1))
    lot: Fraction = field(converter=exact, validator=within(above=0))
    steps: int = field(converter=whole, validator=at_least(1))
    bound: float = field(converter=real, validator=within(least=1e-9, below=1e30))
    multiplier: Fraction = field(converter=exact, validator=within(above=0, hint="Without noise there is no privacy."))
    optimizer: str = field(default="sgd", validator=one_of("sgd", "adam", "adam-corrected"))
    rate: float = field(default=0.1, converter=real, validator=within(above=0, below=1e30))
    momentum: float = field(default=0.0, converter=real, validator=within(least=0, below=1))
    schedule: str = field(default="constant", validator=one_of("constant", "cosine", "linear"))
    warmup: int = field(default=0, converter=whole, validator=at_least(0))
    how: str = field(default="auto", validator=one_of("auto", "ghost", "vmap", "microbatch"))
    copies: int = field(default=1, converter=whole, validator=at_least(1))
    microbatch: int | None = field(default=None, converter=whole_or_none, validator=at_least(1))
    ema: float = field(default=0.0, converter=real, validator=within(least=0, below=1))
    noise: str = field(default="auto", validator=one_of("auto", "device", "exact", "float"))
    report_loss: float | None = field(default=None, converter=real_or_none, validator=within(above=0, below=1e30))
    operands: str | None = field(default=None, validator=one_of(None, "bfloat16"))
    rows: int = field(default=1, converter=whole, validator=at_least(1))
    clipping: str = field(default="fixed", validator=one_of("fixed", "normalise", "adaptive"))
    quantile: float = field(default=0.5, converter=real, validator=within(above=0, below=1))
    bands: int = field(default=1, converter=whole, validator=at_least(1))

    def __attrs_post_init__(self) -> None:
        if self.lot > self.examples:
            hint = "A lot is a part of the examples: name a smaller one, or all of them."
            raise InputError("lot", plain(self.lot), f"at most the {self.examples:,} examples there are", hint)
        if self.noise == "exact" and self.multiplier > MOST_EXACT:
            hint = "The exact sampler goes no further."
            raise InputError("multiplier", plain(self.multiplier), "at most 2**19 with exact noise", hint)
        if self.noise == "device" and self.lot > LARGEST_LOT:
            hint = "Use noise='exact': sums of whole numbers are right at any size."
            allowed = f"at most {LARGEST_LOT:,} with noise drawn on the device, whose sums are single-precision"
            raise InputError("lot", plain(self.lot), allowed, hint)
        if self.clipping != "adaptive" and self.quantile != 0.5:
            raise InputError("quantile", self.quantile, "left out unless clipping is adaptive")
        if self.clipping == "adaptive" and self.optimizer == "adam-corrected":
            hint = "With adaptive clipping the variance of the noise changes from step to step. Use adam."
            raise InputError("optimizer", self.optimizer, "sgd or adam with adaptive clipping", hint)
        if self.bands > 1:
            self._check_bands()

    def _check_bands(self) -> None:
        """Refuse bands that the lots, the noise or the optimiser cannot have."""
        most = min(MOST_BANDS, math.floor(1 / self.probability))
        if self.bands > most:
            hint = "A lot is drawn from one of so many groups, and cannot be larger than it."
            raise InputError("bands", self.bands, f"at most {most} for this lot", hint)
        if self.noise not in ("auto", "exact"):
            raise InputError(
                "noise", self.noise, "exact with bands", "Noise on the device is not correlated over steps."
            )
        if self.multiplier > MOST_BANDED:
            raise InputError("multiplier", plain(self.multiplier), f"at most {MOST_BANDED:,} with bands")
        if self.clipping == "adaptive":
            raise InputError(
                "clipping", self.clipping, "fixed or normalise with bands", "Noise of several steps has one scale."
            )
        if self.optimizer == "adam-corrected":
            raise InputError("optimizer", self.optimizer, "sgd or adam with bands")

    @classmethod
    def within(
        cls,
        epsilon: Number,
        delta: Number,
        *,
        examples: int,
        lot: Number | None = None,
        steps: int | None = None,
        multiplier: Number | None = None,
        former: bool = False,
        **others: Any,
    ) -> Recipe:
        """The recipe of a run within (epsilon, delta): of lot, steps and multiplier two are given, one is found.

        The least noise, the most steps or the largest lot; counted by privacy loss distribution, rounded to be safe.
        A delta of 1/examples or more is warned about. `former` noise and steps are those that were found before grids
        of losses were narrowed, for runs that were paid then.
        """
        given = {"lot": lot, "steps": steps, "multiplier": multiplier}
        missing = [name for name, value in given.items() if value is None]
        if len(missing) != 1:
            allowed = "given exactly two of lot, steps and multiplier: the third is computed"
            raise InputError("recipe", [name for name in given if name not in missing], allowed)
        if "bound" not in others:
            raise InputError("bound", MISSING, "given: the length that gradients are clipped to, such as 1.0")
        # Whatever is wrong elsewhere is said before a search that takes seconds.
        stand_in = {"lot": 1, "steps": 1, "multiplier": 1, missing[0]: 1}
        known: dict[str, Any] = {name: stand_in[name] if value is None else value for name, value in given.items()}
        if others.get("bands", 1) != 1 and missing[0] != "multiplier":
            raise InputError(missing[0], None, "given with bands: the noise is computed")
        draft = cls(examples=examples, **known, **others)
        if note := weak_delta(delta, draft.examples):
            warnings.warn(note, UserWarning, stacklevel=2)
        longest = _MOST_STEPS if missing[0] == "steps" else draft.steps
        left = as_written(delta, "delta") - draft.noise_delta(longest)
        if left <= 0:
            raise InputError("delta", delta, "more than noise on the device adds to it", "Use noise='exact'.")
        match missing[0]:
            case "multiplier":
                noise = (former_noise_multiplier if former else noise_multiplier)(
                    epsilon, left, draft.bands * draft.probability, draft.rounds(draft.steps)
                )
                return evolve(draft, multiplier=noise)
            case "steps":
                most = (former_training_steps if former else training_steps)(
                    epsilon, left, draft.multiplier, draft.probability
                )
                return evolve(draft, steps=most)
            case _:
                share = sampling_probability(epsilon, left, draft.multiplier, draft.steps)
                return evolve(draft, lot=share * draft.examples)

    def refuse_long_warmup(self) -> None:
        """Refuse a run that ends before its rate has risen. What was stored so before can still be read."""
        if self.warmup > self.steps:
            hint = "The rate would never be reached. A tenth of the steps is usual."
            raise InputError("warmup", self.warmup, f"at most the {self.steps:,} steps of the run", hint)

    @property
    def probability(self) -> Fraction:
        """The chance of an example to be in a lot."""
        return self.lot / self.examples

    @property
    def cost(self) -> Loss:
        """What the whole run costs."""
        return self.cost_of(self.steps)

    def cost_of(self, steps: int) -> Loss:
        """What the first `steps` steps cost."""
        ideal, added = self.ideal_cost(steps), self.noise_delta(steps)
        return Composed([ideal, Approx(0, added)]) if added else ideal

    def ideal_cost(self, steps: int | None = None) -> Loss:
        """What the run, or its first `steps`, would cost with noise of the ideal law: without `noise_delta`."""
        many = self.steps if steps is None else steps
        return training_loss(self.multiplier, self.bands * self.probability, self.rounds(many))

    def rounds(self, steps: int) -> int:
        """How often at most an example can be in a lot in so many steps: each step, or each so many of them."""
        return -(-steps // self.bands)

    def noise_delta(self, steps: int | None = None) -> Fraction:
        """The part of delta that covers how far the noise of the run, or of its first `steps`, is from its ideal."""
        match self.noise:
            case "exact":
                return _UNEVEN
            case "float":
                return Fraction(0)  # 0.1 charged nothing for a tail that was cut off
        return (self.steps if steps is None else steps) * DEVICE_DELTA

    @property
    def noise_words(self) -> str:
        """What adds the noise, for the record."""
        match self.noise:
            case "exact":
                return "exact discrete Gaussian"
            case "float":
                return "floating-point Gaussian"
        return "discrete Gaussian (drawn on the device)"

    def epsilon(self, delta: Number, steps: int | None = None) -> Fraction:
        """The epsilon of the run, or of its first `steps`, at `delta`; rounded up."""
        many = self.steps if steps is None else steps
        return approx(self.cost_of(many), delta).epsilon if many else Fraction(0)

    @property
    def views(self) -> int:
        """How many gradients are averaged for one example: of each copy of each of its rows."""
        return self.copies * self.rows

    @property
    def beside(self) -> int:
        """How many entries stand beside the gradient: the loss, and whether the gradient is within the bound."""
        return (self.report_loss is not None) + (self.clipping == "adaptive")

    @property
    def widened(self) -> float:
        """How much longer an example's part is than `bound`, by the entries beside the gradient."""
        return math.sqrt(1 + self.beside * float(LOSS_WEIGHT) ** 2) * (1 + 2.0**-50) if self.beside else 1.0

    @property
    def gradient_noise(self) -> float:
        """The standard deviation that noise on each entry of the mean gradient of a step is accounted with.

        What is drawn is a little wider: `noise.drawn_noise`. With adaptive clipping it is that of the first step.
        """
        return float(self.multiplier) * self.bound * self.widened / float(self.lot)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, exact."""
        values = {
            one.name: getattr(self, one.name)
            for one in fields(Recipe)
            if one.name not in _LATER or getattr(self, one.name) != one.default
        }
        plain = {name: str(value) if isinstance(value, Fraction) else value for name, value in values.items()}
        return {**plain, "sampler": _SAMPLER}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Recipe:
        """What `to_dict` wrote, of 0.1 too: there "device" was floating-point noise that ended at 5.42 deviations."""
        known = {name: value for name, value in entry.items() if name != "sampler"}
        if "sampler" not in entry and known.get("noise", "device") == "device":
            known["noise"] = "float"
        return cls(**known)


def weak_delta(delta: Number, examples: int) -> str:
    """Why a delta promises too little for so many examples; empty if it does not."""
    missed = as_written(delta, "delta")
    if missed * examples < 1:
        return ""
    return (
        f"delta = {float(missed):.3g} is not below 1/examples = {1 / examples:.3g}: a mechanism that publishes one "
        f"example in {math.ceil(1 / missed):,} outright would be within it. Choose a delta well below 1/examples."
    )
