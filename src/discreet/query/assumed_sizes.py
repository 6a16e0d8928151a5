"""Numbers of groups as they are assumed to be before a question is paid: what its noise would make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.trials import NoiseLaw, Trials, named_regions, noisy_trials, region_name
from discreet.errors import InputError, Phrase, kind_of
from discreet.mechanisms import Gaussian

if TYPE_CHECKING:
    from discreet.query.plan import QueryPlan

__all__ = ["assumed_trials"]

_MOST = 1e18


def assumed_trials(plan: QueryPlan, sizes: Mapping[Any, float] | Sequence[float], output: str | None) -> Trials:
    """What a question would publish of one output, if its groups had these sizes."""
    errors = {one.output: one for one in plan.expected() if one.half_width is not None}
    names = [name for name, _ in plan.question.outputs]
    name = names[0] if output is None else output
    if name not in errors:
        allowed = "an output whose error is its noise alone: a count or a sum"
        raise InputError("output", name, allowed, among=errors or None)
    keys = {key: list(values) for key, values in plan.question.key_columns(plan.schema).items()}
    regions = named_regions(keys)
    values = _numbers(sizes, regions)
    half = np.full(len(regions), float(errors[name].half_width or 0))
    normal = any(isinstance(noise, Gaussian) for noise in plan.noises)
    law = NoiseLaw(half, half, plan.confidence, normal)
    key = f"decisions/{plan.digest}/{name}".encode()
    return noisy_trials(regions, values, law, key, groups=keys, column=", ".join(keys) or "group")


def _numbers(sizes: Any, regions: Sequence[str]) -> Any:
    """One number for each group, in order."""
    if isinstance(sizes, Mapping):
        known = {region_name(region): size for region, size in sizes.items()}
        missing = [region for region in regions if region not in known]
        if missing == [""]:
            hint = "Group it by a column: a decision is about groups."
            raise InputError("sizes", Phrase("a question without groups"), "numbers for the groups of a question", hint)
        if missing:
            raise InputError("sizes", Phrase(f"none for {missing[0]}"), "a number for each group")
        sizes = [known[region] for region in regions]
    elif not isinstance(sizes, (list, tuple)) or len(sizes) != len(regions):
        raise InputError("sizes", kind_of(sizes), f"a number for each group, {len(regions):,}, or by its name")
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, (int, float)) or not 0 <= size < _MOST:
            raise InputError("sizes", size, "finite numbers, zero or more")
    return np.array(sizes, dtype=float)
