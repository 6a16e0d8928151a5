"""The model card: what a model may give away, how that is known, and what is not known. Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from discreet import __version__
from discreet.accounting.words import readable
from discreet.core.exact import Number, as_written
from discreet.core.release import inline
from discreet.errors import InputError, kind_of
from discreet.learn.attack_risk import AttackRisk
from discreet.learn.group_accuracy import GroupAccuracy
from discreet.learn.recipe import Recipe, weak_delta
from discreet.show import cell, element, facts

if TYPE_CHECKING:
    from discreet.learn.release import ModelRelease


class CanaryRun(Protocol):
    """What an audit from one run found: `discreet.audit.OneRun` is one."""

    canaries: int
    guesses: int
    correct: int

    def epsilon(self, delta: float = 0.0, confidence: float = 0.95) -> float:
        """A lower bound on epsilon."""
        ...


__all__ = ["Card"]

_NO_SEARCH = "No search over settings was charged."
_ALWAYS = (
    "The guarantee is about the training data of this release alone, and holds whatever else an attacker knows.",
    "The charge is for the whole plan. Stopping early refunds nothing.",
    "What was chosen by looking at the private data outside the ledger is not covered.",
)
_FLOATS = (
    "Noise is floating point on the device: single-precision Gaussian numbers of a generator keyed with 64 bits a "
    "step, cut off at 5.42 standard deviations, added to rounded sums. What that gives away was not charged: of a "
    "single step no delta below 1e-7 holds. Train again to have it counted."
)
_DEVICE = (
    "Noise is discrete Gaussian on a lattice, drawn on the device by a generator keyed with twice 64 bits a step; how "
    "far its law is from the ideal is in delta. Sums are single precision: that those of neighbours are within a "
    "thousandth of the clipping bound of what they should be is a premise, not a proof."
)
_CLIPPED = {"fixed": "", "normalise": ", gradients normalised to it", "adaptive": " at first, adaptive"}
_EXACT = "Noise is exact: discrete Gaussian on the integers, added to sums of integers; nothing rests on rounding."


@dataclass(frozen=True, slots=True)
class Card:
    """What is to be known of a trained model. `audit` is the result of an attack on it, where one was made."""

    name: str
    dataset: str
    target: str
    epsilon: str
    delta: str
    unit: str
    recipe: Recipe
    accountant: str
    release: str = ""
    tuning: str = _NO_SEARCH
    audit: Mapping[str, Any] | None = None
    counted: bool = False
    data: str = ""
    groups: tuple[GroupAccuracy, ...] = ()
    """How often it is right about public rows, group by group, where that was found."""

    @classmethod
    def of(cls, release: ModelRelease) -> Card:
        """The card of a release."""
        return cls(
            name=str(release.described["name"]),
            dataset=release.dataset,
            target=release.target,
            epsilon=readable(release.epsilon),
            delta=readable(release.delta),
            unit=release.unit,
            recipe=release.recipe,
            accountant=_accountant(),
            release=release.id,
            counted=release.counted,
            tuning=release.tuning or _NO_SEARCH,
            data=release.data,
        )

    @classmethod
    def of_recipe(cls, recipe: Recipe, delta: Number, *, name: str, dataset: str, target: str = "") -> Card:
        """The card of a model trained without a ledger: the unit is one example, added or removed."""
        return cls(
            name=name,
            dataset=dataset,
            target=target,
            epsilon=readable(recipe.epsilon(delta)),
            delta=readable(as_written(delta, "delta")),
            unit="one example, added or removed",
            recipe=recipe,
            accountant=_accountant(),
        )

    def with_audit(self, audit: Mapping[str, Any]) -> Card:
        """The card with the result of an audit: plain values, such as {"epsilon at least": 0.8, "canaries": 1000}."""
        try:
            plain = json.loads(json.dumps(dict(audit), allow_nan=False))
        except (TypeError, ValueError):
            raise InputError("audit", kind_of(audit), "a dictionary of plain values") from None
        return replace(self, audit=plain)

    def with_groups(self, groups: Iterable[GroupAccuracy]) -> Card:
        """The card with how often the model is right about public rows of each group: `release.accuracy_by`."""
        found = tuple(groups)
        if not found or not all(isinstance(one, GroupAccuracy) for one in found):
            raise InputError("groups", kind_of(groups), "a GroupAccuracy for each group")
        return replace(self, groups=found)

    def with_canaries(self, run: CanaryRun) -> Card:
        """The card with what canaries in the run showed: an epsilon that it has at least, with 95% confidence."""
        least = run.epsilon(float(as_written(self.delta, "delta")))
        found = {"canaries": run.canaries, "guesses": run.guesses, "right": run.correct}
        return self.with_audit({**found, "epsilon at least": float(readable(least, 3, "down")) if least else 0.0})

    @property
    def attack_risk(self) -> AttackRisk:
        """The most that any attack could gain; from the loss of the run where that is all that was paid for."""
        alone = self.tuning == _NO_SEARCH and not self.counted and self.recipe.noise != "float"
        epsilon, delta = as_written(self.epsilon, "epsilon"), as_written(self.delta, "delta")
        return AttackRisk.of(epsilon, delta, self.recipe.cost if alone else None)

    def with_tuning(self, text: str) -> Card:
        """The card with what the search for settings cost."""
        return replace(self, tuning=text)

    @property
    def limits(self) -> list[str]:
        """What is known not to be covered."""
        found = list(_ALWAYS)
        found.append({"float": _FLOATS, "exact": _EXACT}.get(self.recipe.noise, _DEVICE))
        if not self.counted and (note := weak_delta(self.delta, self.recipe.examples)):
            found.append(note)
        if self.audit is None:
            found.append("No audit was made: the guarantee rests on its proof and on the code alone.")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        recipe = self.recipe
        return {
            "model": self.name,
            "dataset": self.dataset,
            "target": self.target,
            "release": self.release,
            "data": self.data,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbours": "add or remove one unit",
            "unit": self.unit,
            "sampling": "Poisson",
            "sampling_probability": str(recipe.probability),
            "examples": recipe.examples,
            "examples_are": "a noisy count" if self.counted else "declared",
            "lot": str(recipe.lot),
            "steps": recipe.steps,
            "noise_multiplier": str(recipe.multiplier),
            "clipping_bound": recipe.bound,
            "noise": recipe.noise,
            "delta_of_noise": readable(recipe.noise_delta()),
            "accountant": self.accountant,
            "tuning": self.tuning,
            "attack_risk": self.attack_risk.to_dict(),
            "audit": None if self.audit is None else dict(self.audit),
            **({"accuracy_by_group": [one.to_dict() for one in self.groups]} if self.groups else {}),
            "limits": self.limits,
            "recipe": recipe.to_dict(),
            "discreet": __version__,
        }

    def to_json(self) -> str:
        """The card for programs."""
        return json.dumps(self.to_dict(), indent=2)

    def rows(self) -> list[tuple[str, str]]:
        """What is known, by name, in words."""
        recipe = self.recipe
        many = f"{recipe.examples:,} ({'a noisy count' if self.counted else 'declared'})"
        rows = [
            ("epsilon", self.epsilon),
            ("delta", f"{self.delta}, of which {readable(recipe.noise_delta())} for the law of the noise"),
            ("protects", self.unit),
            ("sampling", f"Poisson, probability {readable(recipe.probability, 5, 'near')} of {many} examples"),
            ("steps (T)", f"{recipe.steps:,}"),
            ("noise multiplier (sigma)", f"{readable(recipe.multiplier, 6, 'near')}, {recipe.noise}"),
            ("clipping bound (C)", f"{recipe.bound:g}{_CLIPPED[recipe.clipping]}"),
            *([("rows of one unit", _averaged(recipe))] if recipe.rows > 1 else []),
            ("accountant", self.accountant),
            ("search over settings", self.tuning),
            ("attack risk", self.attack_risk.text()),
            ("audit", "none" if self.audit is None else "; ".join(f"{k}: {v}" for k, v in self.audit.items())),
        ]
        if self.groups:
            told = "; ".join(one.text() for one in self.groups)
            paid = {one.paid for one in self.groups if one.paid}
            of = f"private rows, paid: {', '.join(sorted(paid))}" if paid else "public rows"
            rows.append((f"right, by group ({of})", f"{told}; largest gap {_gap(self.groups):.1%}"))
        return rows

    def shown(self) -> tuple[Any, ...]:
        """The card as parts of a page: what is known, and its limits."""
        limits = [element("li", None, limit) for limit in self.limits]
        return facts(dict(self.rows())), element("h3", None, "Limits"), element("ul", {"class": "plainlist"}, *limits)

    def _repr_html_(self) -> str:
        name = f"{self.name} of {self.target}" if self.target else self.name
        return cell(name, *self.shown(), kind=f"Model card, trained on {self.dataset}")

    def to_markdown(self) -> str:
        """The card for people."""
        title = f"# Model card: {inline(f'{self.name} of {self.target}' if self.target else self.name)}"
        lines = [title, "", f"Trained on {inline(repr(self.dataset))} with discreet {__version__}.", ""]
        lines += [
            "| | |",
            "|---|---|",
            *(f"| {name} | {inline(str(text))} |" for name, text in self.rows()),
            "",
            "## Limits",
            "",
        ]
        return "\n".join([*lines, *(f"- {limit}" for limit in self.limits)]) + "\n"

    def save(self, path: str | Path) -> None:
        """Write it beside a file as .md and .json."""
        place = Path(path)
        place.with_suffix(".md").write_text(self.to_markdown(), encoding="utf-8")
        place.with_suffix(".json").write_text(self.to_json() + "\n", encoding="utf-8")


def _accountant() -> str:
    return f"privacy loss distribution (dp-accounting {version('dp-accounting')}), rounded up"


def _gap(groups: Iterable[GroupAccuracy]) -> float:
    """Between the group it is right about most often and the one least often."""
    found = [one.accuracy for one in groups]
    return max(found) - min(found)


def _averaged(recipe: Recipe) -> str:
    return f"up to {recipe.rows} count, their gradients averaged before clipping"
