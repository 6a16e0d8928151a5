"""Losses and other plain values as JSON, exactly: a fraction travels as the string it is.

What is written here is hashed, signed off and read back years later, so there is one way to write each value and
nothing is guessed when reading: an unknown name, a missing field or a float where a fraction belongs is refused.
"""

from __future__ import annotations

import functools
import json
import re
from fractions import Fraction
from typing import Any, assert_never

from discreet.core.loss import (
    ZCDP,
    Approx,
    BoundedRange,
    Composed,
    GaussianNoise,
    LaplaceNoise,
    Loss,
    Pure,
    RealGaussianNoise,
    Repeated,
    Sampled,
)
from discreet.errors import InputError, Phrase, kind_of

__all__ = ["Json", "canonical", "fraction", "loss_from_json", "loss_to_json"]

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

_DEEPEST = 100  # losses nested deeper than this are built by a mistake or by an enemy
_RATIO = re.compile(r"-?[0-9]+(/[1-9][0-9]*)?")


def canonical(value: Json, field: str = "value") -> str:
    """The one JSON text of a value: keys sorted, no spaces, ASCII only, no NaN.

    >>> canonical({"b": [1, 2.5], "a": None})
    '{"a":null,"b":[1,2.5]}'
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        pass
    # Outside the handler and without the value: what could not be written may be private.
    raise InputError(
        field,
        Phrase("other values"),
        "JSON: null, true, false, finite numbers, strings, lists, objects with string keys",
    )


def fraction(value: object, field: str) -> Fraction:
    """Read a fraction as `str(Fraction)` wrote it.

    >>> fraction("-1/3", "shift")
    Fraction(-1, 3)
    """
    if isinstance(value, str) and len(value) <= 4000 and _RATIO.fullmatch(value):
        return _read_fraction(value)
    raise InputError(field, value, "a fraction written as a string, such as '3' or '1/3'")


@functools.lru_cache(maxsize=256)  # a ledger reads the same few amounts over and over
def _read_fraction(text: str) -> Fraction:
    return Fraction(text)


def loss_to_json(loss: Loss) -> dict[str, Json]:
    """A loss as plain values.

    >>> loss_to_json(Repeated(Pure(0.1), 3))
    {'loss': 'repeated', 'of': {'loss': 'pure', 'epsilon': '1/10'}, 'times': 3}
    """
    return _write(loss, _DEEPEST)


def _write(loss: Loss, depth: int) -> dict[str, Json]:
    if depth == 0:
        raise InputError("loss", kind_of(loss), f"nested at most {_DEEPEST} deep")
    match loss:
        case Pure(epsilon):
            return {"loss": "pure", "epsilon": str(epsilon)}
        case BoundedRange(epsilon):
            return {"loss": "bounded-range", "epsilon": str(epsilon)}
        case ZCDP(rho, delta):
            return {"loss": "zcdp", "rho": str(rho), "delta": str(delta)}
        case Approx(epsilon, delta):
            return {"loss": "approx", "epsilon": str(epsilon), "delta": str(delta)}
        case LaplaceNoise(scale, shift):
            return {"loss": "laplace", "scale": str(scale), "shift": shift}
        case GaussianNoise(sigma, shift):
            return {"loss": "gaussian", "sigma": str(sigma), "shift": shift}
        case RealGaussianNoise(multiplier):
            return {"loss": "real-gaussian", "multiplier": str(multiplier)}
        case Sampled(each, probability):
            return {"loss": "sampled", "of": _write(each, depth - 1), "probability": str(probability)}
        case Repeated(each, times):
            return {"loss": "repeated", "of": _write(each, depth - 1), "times": times}
        case Composed(losses):
            return {"loss": "composed", "of": [_write(each, depth - 1) for each in losses]}
        case _:
            assert_never(loss)


def loss_from_json(value: object) -> Loss:
    """Read back what `loss_to_json` wrote; anything else is an `InputError`.

    >>> loss_from_json({"loss": "zcdp", "rho": "1/2", "delta": "0"})
    ZCDP(rho=Fraction(1, 2), delta=Fraction(0, 1))
    """
    return _read(value, _DEEPEST)


def _read(value: object, depth: int) -> Loss:
    if depth == 0:
        raise InputError("loss", Phrase("..."), f"nested at most {_DEEPEST} deep")
    fields: dict[str, Any] = dict(value) if isinstance(value, dict) else {}
    match fields.pop("loss", None):
        case "pure":
            return Pure(*_numbers(fields, "epsilon"))
        case "bounded-range":
            return BoundedRange(*_numbers(fields, "epsilon"))
        case "zcdp":
            return ZCDP(*_numbers(fields, "rho", "delta"))
        case "approx":
            return Approx(*_numbers(fields, "epsilon", "delta"))
        case "laplace":
            shift = _whole(fields, "shift")
            return LaplaceNoise(_numbers(fields, "scale")[0], shift)
        case "gaussian":
            shift = _whole(fields, "shift")
            return GaussianNoise(_numbers(fields, "sigma")[0], shift)
        case "real-gaussian":
            return RealGaussianNoise(*_numbers(fields, "multiplier"))
        case "sampled":
            inside = fields.pop("of", None)
            return Sampled(_read(inside, depth - 1), *_numbers(fields, "probability"))
        case "repeated":
            inside, times = fields.pop("of", None), _whole(fields, "times")
            _numbers(fields)
            return Repeated(_read(inside, depth - 1), times)
        case "composed":
            parts = fields.pop("of", None)
            _numbers(fields)
            if not isinstance(parts, list):
                raise InputError("loss.of", parts, "a list of losses")
            return Composed(_read(each, depth - 1) for each in parts)
        case other:
            raise InputError("loss", other, "the name of a loss, as loss_to_json writes it")


def _numbers(fields: dict[str, Any], *names: str) -> list[Fraction]:
    """The fractions of exactly these fields."""
    if set(fields) != set(names):
        raise InputError("loss", sorted(map(str, fields)), "an object with the fields " + ", ".join(sorted(names)))
    return [fraction(fields[name], f"loss.{name}") for name in names]


def _whole(fields: dict[str, Any], name: str) -> int:
    number = fields.pop(name, None)
    if isinstance(number, bool) or not isinstance(number, int):
        raise InputError(f"loss.{name}", number, "a whole number")
    return number
