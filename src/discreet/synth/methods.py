"""Ways from a meter to synthetic rows, by name.

| name | what it does |
|---|---|
| `mosaic` | discreet's own: codes merged where noise hides them, pairs or chosen marginals, a tree, weights, factors |
| `aim` | picks the marginal that the model gets most wrong, measures it, fits a graphical model, again and again |
| `mst` | the tree of pairs that matter most, measured once |
| `rap` | a relaxed table fitted to adaptively chosen answers by gradient descent |
| `independent` | every column alone: a baseline |

A method is a function of its module's name: `method(meter, workload, rows) -> Synthetic`. Its options are keyword
arguments of that function, listed as `OPTIONS` of its module; what it says beforehand (`outline`, `column_prices`)
takes the same ones. It sees private counts through the meter only. What it says on its way (`core.progress.notify`)
must be public before the run, such as a stage or a number of rounds that was fixed: a run that is stopped may be made
again under the same charge, so nobody may have seen what came out of the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from discreet.errors import InputError, MissingExtraError
from discreet.marginals.counts import Columns
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Currency, Meter
from discreet.synth.method_option import MethodOption, Options
from discreet.synth.synthetic import Synthetic
from discreet.synth.workload import Workload

__all__ = [
    "METHODS",
    "Method",
    "Outline",
    "chosen_method",
    "column_prices_of",
    "method_named",
    "options_of",
    "outline_of",
    "with_options",
]

Method = Callable[[Meter, Workload, int | None], Synthetic]
Outline = Callable[[Meter, Workload, float], list[str]]

_KNOWN = ("mosaic", "aim", "mst", "rap", "independent")
_NEEDS = {"rap": ("synth", "jax")}  # an extra, and a module of it
_MANY_PAIRS, _TOO_MANY_PAIRS = 200, 2_000  # of a workload, between which `aim` is taken: beyond them it takes minutes
METHODS = tuple(name for name in _KNOWN if find_spec(f"discreet.synth.{name}") is not None)


def method_named(name: str) -> Method:
    """The method of that name. What it needs and is not installed is missed here: before anything is charged."""
    if name not in METHODS:
        raise InputError("method", name, among=("auto", *METHODS))
    if name in _NEEDS and find_spec(_NEEDS[name][1]) is None:
        raise MissingExtraError(*_NEEDS[name])
    found: Method = getattr(import_module(f"discreet.synth.{name}"), name)
    return found


def options_of(name: str) -> tuple[MethodOption, ...]:
    """The options of a method."""
    found: tuple[MethodOption, ...] = getattr(import_module(f"discreet.synth.{name}"), "OPTIONS", ())
    return found


def with_options(method: Method, options: Options) -> Method:
    """A method that works as its options say."""
    return partial(method, **dict[str, Any](options)) if options else method


def outline_of(name: str, options: Options = ()) -> Outline | None:
    """What a method says beforehand about what it will measure, if it says anything."""
    found: Outline | None = getattr(import_module(f"discreet.synth.{name}"), "outline", None)
    return found if found is None or not options else partial(found, **dict[str, Any](options))


def column_prices_of(name: str, meter: Meter, workload: Workload, options: Options = ()) -> list[Fraction]:
    """What a method measures each column for alone, before anything else: public."""
    prices: Callable[..., list[Fraction]] = import_module(f"discreet.synth.{name}").column_prices
    return prices(meter, workload, **dict(options))


def chosen_method(domain: Domain, workload: Mapping[Columns, float], currency: Currency) -> tuple[str, str]:
    """The method for a job and why: from what is public alone, and by what was measured (docs/benchmarks/synth.md)."""
    if len(domain) == 1:
        return "independent", "there is one column, and nothing for it to depend on"
    if all(len(columns) == 1 for columns in workload):
        return "independent", "no marginal has two columns"
    pairs = sum(len(columns) == 2 for columns in workload)
    if currency == "rho" and _MANY_PAIRS < pairs <= _TOO_MANY_PAIRS:
        return "aim", (
            "of very many pairs it measures the few that matter, and on every table of that kind that was measured its "
            "rows had smaller errors and trained better models"
        )
    return "mosaic", (
        "it measures what the price can tell apart, all pairs or the ones that matter, and had the smallest largest "
        "errors in most of the cases measured"
    )
