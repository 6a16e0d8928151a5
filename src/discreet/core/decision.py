"""What a decision by published numbers gets wrong: a fund dealt by them, or a limit that regions are above or below.

Noise and post-processing alone are counted: how far what is decided by published numbers is from what the true ones
would have decided, by region and by group. It is post-processing of numbers that are published (or assumed), and free.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.effect import Effect
from discreet.core.release import csv_text, number, plural
from discreet.core.trials import Trials, Within, region_name
from discreet.errors import MISSING, InputError, Phrase, kind_of

if TYPE_CHECKING:
    from discreet.show.picture import Picture

__all__ = ["Decision", "decide"]

Floats = NDArray[np.float64]
_EDGES = (0, 1, 10, 100, 1000, math.inf)
_SHOWN = 12
_MOST = 1e300
_NAMED = 5
_LEAST = 0.0005  # of a fund, or regions: what is less is not told of a class of sizes that holds no region


@dataclass(frozen=True, eq=False)
class Decision:
    """What is decided by published numbers, and what that gets wrong: in all, by region and by group.

    `columns` has a row for each region: what was published, and of a fund what is `allotted`, with the ends between
    which its due lies, and how far off that is on average; of a limit whether it is `above`, and the chance that it is
    on the wrong side.
    """

    fund: float | None
    threshold: float | None
    by: str
    columns: Mapping[str, list[Any]]
    groups: tuple[Effect, ...]
    misallocated: float | None
    """The part of the fund that goes elsewhere than it would by the true numbers, on average."""
    wrong: float | None
    """How many regions are on the wrong side of the limit, on average."""
    simulated: bool
    """Whether it is about numbers that are not published yet."""
    repair: str = ""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        said = {"fund": self.fund, "threshold": self.threshold, "by": self.by, "repair": self.repair}
        found = {"misallocated": self.misallocated, "wrong": self.wrong, "simulated": self.simulated}
        groups = [effect.to_dict() for effect in self.groups]
        return {**said, **found, "groups": groups, "columns": dict(self.columns)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Decision:
        """The same from plain values, as a server sends them."""
        groups = tuple(Effect.from_dict(one) for one in values["groups"])
        return cls(**{**values, "groups": groups, "columns": dict(values["columns"])})

    def to_csv(self, path: str | Path | None = None) -> str:
        """Its regions as CSV text, or as a file."""
        text = csv_text(self.columns)
        if path is not None:
            Path(path).write_bytes(text.encode())
        return text

    def plot(self) -> Picture:
        """Bars: what groups get beside their due, or how many of their regions are on the wrong side."""
        from discreet.show import Bar, bars

        if not self.groups:
            raise InputError("by", MISSING, "given: a picture is about groups")
        if self.fund is None:
            data = [Bar(one.group, (one.wrong or 0) / max(one.regions, 1e-9)) for one in self.groups]
            return bars(
                f"Part of regions on the wrong side of {number(self.threshold)}", data, format=_part, ticks=_part
            )
        data = [Bar(one.group, one.shift, one.lower, one.upper) for one in self.groups if one.shift is not None]
        return bars("What each group gets above or below its due share", data, format=_part, ticks=_part)

    def lines(self) -> list[str]:
        """In words."""
        when = "would be" if self.simulated else "is"
        found = []
        if self.misallocated is not None:
            amount = _three(self.misallocated * (self.fund or 0))
            of_fund = f"{self.misallocated:.1%} of the fund ({amount} of {number(self.fund)})"
            found.append(f"About {of_fund} {when} misallocated: the true numbers would give it to others.")
        if self.wrong is not None:
            many = _three(self.wrong)
            every, limit = plural(len(self), "region"), number(self.threshold)
            found.append(f"About {many} of {every} {when} on the wrong side of {limit}.")
        if self.repair:
            found.append(f"Repaired: {self.repair}.")
        return found

    def __repr__(self) -> str:
        found = self.lines()
        for effect in self.groups[:_SHOWN]:
            found.append(f"  {effect.group}: {self._said(effect)}")
        if (more := len(self.groups) - _SHOWN) > 0:
            found.append(f"  ... {plural(more, 'more group')}")
        return "\n".join(found)

    def _said(self, effect: Effect) -> str:
        many = plural(round(effect.regions), "region")
        said = []
        if effect.got is not None:
            said.append(f"{effect.got:.1%} of the fund")
            if effect.shift is not None:
                ends = "" if effect.lower is None else f" [{effect.lower:+.1%}, {effect.upper:+.1%}]"
                said.append(f"{effect.shift:+.1%} of its due{ends}")
            else:
                said.append("nothing is due")
        if effect.wrong is not None:
            said.append(f"{_three(effect.wrong)} on the wrong side")
        return f"{many}; {', '.join(said)}"


def decide(
    trials: Trials,
    *,
    fund: float | None = None,
    threshold: float | None = None,
    by: str | Mapping[Any, Any] | None = None,
    repair: str | None = None,
    blend: float = 0.0,
    confidence: float = 0.95,
) -> Decision:
    """What a decision by the published numbers of some trials gets wrong.

    `by` is a name of labels that the regions have, "size" for classes of the true numbers, or a label for each region.
    A fund may be dealt by repaired numbers: `repair="groups"` gives every group what it is due by unbiased estimates,
    and `blend` moves numbers by that part towards what a method with less bias and more variance publishes.
    """
    if (fund is None) == (threshold is None):
        given = MISSING if fund is None else Phrase("both")
        raise InputError("fund", given, "given, or a threshold: one of the two")
    labels = _labels(trials, by)
    if repair not in (None, "groups"):
        raise InputError("repair", repair, among=("groups",))
    if repair and labels is None:
        raise InputError("by", "size" if by else MISSING, "public groups, where these are to get their due")
    part = _amount(blend, "blend", zero=True)
    if part > 1:
        raise InputError("blend", blend, "from 0 to 1")
    if threshold is not None:
        if repair or part:
            raise InputError("repair" if repair else "blend", repair or blend, "left out with a threshold")
        return _limit(trials, _amount(threshold, "threshold", zero=True), _named(by), labels, sized=by == "size")
    used = _repaired(trials, labels if repair else None, part)
    if trials.again is not None:
        tried = _repaired(trials.again, labels if repair else None, part), trials.again.truths
    elif trials.within is not None:
        tried = used, _agreeing(trials.truths, trials.within, labels, confidence)
    else:
        tried = used, trials.truths
    said = ["every group gets what unbiased estimates give it"] if repair else []
    said += [f"numbers are moved {part:.0%} of the way to rougher ones"] if part else []
    amount = _amount(fund, "fund")
    if trials.simulated and not trials.truths.any():
        raise InputError("sizes", Phrase("zero for every group"), "more than zero somewhere, where a fund is dealt")
    shares = _shares(used), _shares(tried[0]), _shares(tried[1])
    return _deal(trials, shares, amount, _named(by), labels, " and ".join(said), confidence, sized=by == "size")


def _deal(
    trials: Trials,
    shares: tuple[Floats, Floats, Floats],
    fund: float,
    by: str,
    labels: Sequence[str] | None,
    repair: str,
    confidence: float,
    *,
    sized: bool,
) -> Decision:
    allotted, got, due = shares
    off = got - due
    ends = trials.ends
    if ends is None:
        low, high = np.quantile(_shares(trials.truths), [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
        ends = low, high
    columns = {
        trials.column: list(trials.regions),
        "published": trials.published.mean(axis=0).tolist(),
        "allotted": (fund * allotted.mean(axis=0)).tolist(),
        "due_lower": (fund * ends[0]).tolist(),
        "due_upper": (fund * ends[1]).tolist(),
        "expected_error": (fund * np.abs(off).mean(axis=0)).tolist(),
    }
    groups = _by_size(trials, got, due) if sized else _by_label(trials, allotted, due, labels)
    misallocated = float(np.abs(off).sum(axis=1).mean() / 2)
    return Decision(fund, None, by, columns, tuple(groups), misallocated, None, trials.simulated, repair)


def _limit(trials: Trials, limit: float, by: str, labels: Sequence[str] | None, *, sized: bool) -> Decision:
    above, tried = trials.published >= limit, trials.again or trials
    wrong = (tried.published >= limit) != (tried.truths >= limit)
    chance = wrong.mean(axis=0)
    columns = {
        trials.column: list(trials.regions),
        "published": trials.published.mean(axis=0).tolist(),
        "above": above[0].tolist() if len(above) == 1 else above.mean(axis=0).tolist(),
        "wrong_side": chance.tolist(),
    }
    groups = []
    if sized:
        for name, inside in _classes(trials):
            groups.append(
                Effect(name, float(inside.sum(axis=1).mean()), wrong=float((wrong & inside).sum(axis=1).mean()))
            )
    for name, chosen in _grouped(labels):
        groups.append(Effect(name, int(chosen.sum()), wrong=float(chance[chosen].sum())))
    found = [effect for effect in groups if round(effect.regions) or (effect.wrong or 0) >= _LEAST]
    return Decision(None, limit, by, columns, tuple(found), None, float(chance.sum()), trials.simulated)


def _by_label(trials: Trials, got: Floats, due: Floats, labels: Sequence[str] | None) -> list[Effect]:
    found = []
    for name, chosen in _grouped(labels):
        share = got[:, chosen].sum(axis=1)
        if trials.within is not None:
            true, low, high = trials.within(chosen)
            mean = float(share.mean())
            # The larger the true share, the less a group gets of its due.
            ends = [mean / end - 1 if end > 0 else None for end in (high, low)]
            found.append(Effect(name, int(chosen.sum()), mean, true, *(ends if None not in ends else (None, None))))
            continue
        true = due[:, chosen].sum(axis=1)
        found.append(Effect(name, int(chosen.sum()), float(share.mean()), float(true.mean())))
    return found


def _by_size(trials: Trials, got: Floats, due: Floats) -> list[Effect]:
    found = []
    for name, inside in _classes(trials):
        many = float(inside.sum(axis=1).mean())
        if many:
            parts = [float((np.broadcast_to(share, inside.shape) * inside).sum(axis=1).mean()) for share in (got, due)]
            found.append(Effect(name, many, *parts))
    return [effect for effect in found if round(effect.regions) or (effect.got or 0) >= _LEAST]


def _classes(trials: Trials) -> list[tuple[str, NDArray[np.bool_]]]:
    """Regions by how large they truly are, in each trial."""
    tried = trials.again or trials
    truths = np.broadcast_to(tried.truths, np.broadcast_shapes(tried.published.shape, tried.truths.shape))
    found = [("empty", truths < 1)]
    for low, high in pairwise(_EDGES[1:]):
        name = f"{low:,} and more" if high == math.inf else f"{low:,} to {high - 1:,}"
        found.append((name, (truths >= low) & (truths < high)))
    return found


def _repaired(trials: Trials, labels: Sequence[str] | None, blend: float) -> Floats:
    """Numbers to deal a fund by."""
    used = np.maximum(trials.published, 0.0)
    if blend:
        if trials.rougher is None:
            hint = "Numbers of a question have no bias to begin with."
            raise InputError("blend", blend, "left out: there is no rougher method than the one published", hint)
        used = (1 - blend) * used + blend * np.maximum(trials.rougher, 0.0)
    return _raked(used, trials.unbiased, labels)


def _raked(numbers: Floats, totals: Floats, labels: Sequence[str] | None) -> Floats:
    """The same numbers, scaled in every group to the sum of other ones in it."""
    found = np.array(np.broadcast_to(numbers, (max(len(numbers), len(totals)), numbers.shape[1])), dtype=float)
    for _, chosen in _grouped(labels):
        wanted = np.maximum(totals[:, chosen].sum(axis=1, keepdims=True), 0.0)
        here = found[:, chosen]
        whole = here.sum(axis=1, keepdims=True)
        scale = wanted / np.where(whole > 0, whole, 1.0)
        found[:, chosen] = np.where(whole > 0, here * scale, wanted / chosen.sum())
    return found


def _agreeing(truths: Floats, within: Within, labels: Sequence[str] | None, confidence: float) -> Floats:
    """Shares that might be true, where groups have what unbiased estimates give them, with the noise of these.

    Of a public group more is known than what might be true of each of its regions alone.
    """
    shares = _shares(truths)
    found = shares.copy()
    order = (np.arange(len(truths)) + 0.5) / len(truths)
    normal = np.array([NormalDist().inv_cdf(one) for one in order.tolist()])
    for _, chosen in _grouped(labels):
        share, low, high = within(chosen)
        if math.isnan(share):
            continue
        spread = (high - low) / 2 / NormalDist().inv_cdf(0.5 + confidence / 2)
        own = shares[:, chosen].sum(axis=1)
        drawn = np.empty(len(truths))
        drawn[np.argsort(own, kind="stable")] = np.maximum(share + spread * normal, 0.0)
        scale = drawn / np.where(own > 0, own, 1.0)
        found[:, chosen] = shares[:, chosen] * scale[:, None]
    return found


def _shares(numbers: Floats) -> Floats:
    """What each region has of the whole; the same for all where nobody has anything."""
    used = np.maximum(numbers, 0.0)
    whole = used.sum(axis=1, keepdims=True)
    return np.asarray(np.where(whole > 0, used / np.where(whole > 0, whole, 1.0), 1 / used.shape[1]))


def _grouped(labels: Sequence[str] | None) -> list[tuple[str, NDArray[np.bool_]]]:
    if labels is None:
        return []
    every = np.array(labels, dtype=object)
    return [(name, every == name) for name in dict.fromkeys(labels)]


def _labels(trials: Trials, by: Any) -> list[str] | None:
    """A label for each region; None where there are none, or where they follow from true sizes."""
    if by is None or by == "size":
        return None
    if isinstance(by, str):
        if by not in trials.groups:
            raise InputError("by", by, among=("size", *trials.groups))
        return [region_name(label) for label in trials.groups[by]]
    if not isinstance(by, Mapping):
        raise InputError("by", kind_of(by), 'a name, "size", or a label for each region: {"A": "north"}')
    known = {region_name(region): label for region, label in by.items()}
    missing = [name for name in map(region_name, trials.regions) if name not in known]
    if missing:
        few = ", ".join(missing[:_NAMED]) + (" and others" if len(missing) > _NAMED else "")
        raise InputError("by", Phrase(f"none for {few}"), f"a label for each {trials.column}")
    return [region_name(known[region_name(region)]) for region in trials.regions]


def _named(by: Any) -> str:
    return by if isinstance(by, str) else "" if by is None else "group"


def _amount(value: Any, field: str, *, zero: bool = False) -> float:
    allowed, known = "zero or more" if zero else "more than zero", isinstance(value, (int, float, np.number))
    given: Any = value
    if isinstance(value, (bool, complex, np.complexfloating)) or not known or not abs(given) < _MOST:
        raise InputError(field, value, f"a finite number, {allowed}")
    if given < 0 or (given == 0 and not zero):
        raise InputError(field, value, allowed)
    return float(given)


def _three(value: float) -> str:
    """About a number: three digits of it."""
    return f"{float(f'{value:.3g}'):,.15g}"


def _part(value: float) -> str:
    return f"{value:.1%}"
