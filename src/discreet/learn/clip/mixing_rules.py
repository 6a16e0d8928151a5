"""Where the axis of examples goes in each operation of JAX."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["RULES", "Lost", "Mixed", "Place", "Where", "gather"]

Shape = tuple[int, ...]
Settings = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """Entry i of `axis` belongs to example (i // inner) modulo the number of examples."""

    axis: int
    inner: int


@dataclass(frozen=True)
class Lost:
    """It depends on examples, in a way that was not followed."""


class Mixed(Exception):  # noqa: N818 - a finding, turned into an InputError where the operation is known
    """The operation mixes examples."""


Where = Place | Lost | None  # None: it depends on no example
Rule = Callable[[Settings, list[Where], list[Shape], list[Shape], int], list[Where]]

_ELEMENTWISE = [
    "abs",
    "acos",
    "acosh",
    "add",
    "add_any",
    "and",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bessel_i0e",
    "bessel_i1e",
    "cbrt",
    "ceil",
    "clamp",
    "clz",
    "conj",
    "convert_element_type",
    "copy",
    "copy_p",
    "cos",
    "cosh",
    "digamma",
    "div",
    "eq",
    "eq_to",
    "erf",
    "erf_inv",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "ge",
    "gt",
    "imag",
    "integer_pow",
    "is_finite",
    "le",
    "lgamma",
    "log",
    "log1p",
    "logistic",
    "lt",
    "max",
    "min",
    "mul",
    "ne",
    "neg",
    "nextafter",
    "not",
    "or",
    "polygamma",
    "population_count",
    "pow",
    "real",
    "reduce_precision",
    "regularized_incomplete_beta",
    "rem",
    "round",
    "rsqrt",
    "select_n",
    "sharding_constraint",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "stop_gradient",
    "sub",
    "tan",
    "tanh",
    "threefry2x32",
    "xor",
    "name",
    "optimization_barrier",
    "mesh_cast",
    "igamma",
    "igammac",
]
_REDUCE = [
    "reduce_sum",
    "reduce_max",
    "reduce_min",
    "reduce_prod",
    "reduce_and",
    "reduce_or",
    "reduce_xor",
    "argmax",
    "argmin",
    "reduce",
]
_ALONG = ["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp", "sort"]
_WINDOW = ["reduce_window", "reduce_window_sum", "reduce_window_max", "reduce_window_min"]


def _place(given: Sequence[Where]) -> Place:
    found = [place for place in given if isinstance(place, Place)]
    if any(place != found[0] for place in found):
        raise Mixed("brings together different examples")
    return found[0]


def _elementwise(
    settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int
) -> list[Where]:
    if len(made) > 1:  # several values at once, each on its own
        return list(given)
    return [_place(given)]


def _reduce(settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int) -> list[Where]:
    place = _place(given)
    axes: tuple[int, ...] = tuple(settings["axes"] if "axes" in settings else settings["dimensions"])
    if place.axis in axes:
        raise Mixed("over the examples")
    return [Place(place.axis - sum(axis < place.axis for axis in axes), place.inner)] * len(made)


def _along(settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int) -> list[Where]:
    place = _place(given)
    if place.axis == settings.get("axis", settings.get("dimension")):
        raise Mixed("along the examples")
    return [place] * len(made)


def _window(settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int) -> list[Where]:
    place = _place(given)
    if settings["window_dimensions"][place.axis] != 1 or shapes[0][place.axis] != made[0][place.axis]:
        raise Mixed("over the examples")
    return [place] * len(made)


def _broadcast(
    settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int
) -> list[Where]:
    place = _place(given)
    return [Place(settings["broadcast_dimensions"][place.axis], place.inner)]


def _reshape(settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int) -> list[Where]:
    place = _place(given)
    if settings.get("dimensions") is not None:
        return [Lost()]
    stride = math.prod(shapes[0][place.axis + 1 :]) * place.inner  # numbers between one example and the next
    for axis in range(len(made[0])):
        after = math.prod(made[0][axis + 1 :])
        inner, left = divmod(stride, after)
        if left == 0 and inner and made[0][axis] % (inner * many) == 0:
            return [Place(axis, inner)]
    return [Lost()]


def _transpose(
    settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int
) -> list[Where]:
    place = _place(given)
    return [Place(tuple(settings["permutation"]).index(place.axis), place.inner)]


def _squeeze(settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int) -> list[Where]:
    place = _place(given)
    axes = [axis % len(shapes[0]) for axis in settings["dimensions"]]
    return [Place(place.axis - sum(axis < place.axis for axis in axes), place.inner)]


def _expand(settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int) -> list[Where]:
    place = _place(given)
    kept = [axis for axis in range(len(made[0])) if axis not in settings["dimensions"]]
    return [Place(kept[place.axis], place.inner)]


def _slice(settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int) -> list[Where]:
    if any(place is not None for place in given[1:]):
        return [Lost()]
    place = _place(given)
    if shapes[0][place.axis] != made[0][place.axis]:
        raise Mixed("picks some of the examples")
    return [place] * len(made)


def _reverse(settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int) -> list[Where]:
    place = _place(given)
    if place.axis in settings["dimensions"]:
        raise Mixed("turns the examples round")
    return [place]


def _split(settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int) -> list[Where]:
    place = _place(given)
    if settings["axis"] == place.axis:
        raise Mixed("parts the examples")
    return [place] * len(made)


def _concatenate(
    settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int
) -> list[Where]:
    place = _place(given)
    if settings["dimension"] == place.axis:
        raise Mixed("along the examples")
    return [place]


def _pad(settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int) -> list[Where]:
    place = _place(given[:1])
    if tuple(settings["padding_config"][place.axis]) != (0, 0, 0):
        raise Mixed("along the examples")
    return [place]


def _dot(settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int) -> list[Where]:
    contract, batch = settings["dimension_numbers"]
    results = []
    for side, place in enumerate(given):
        if not isinstance(place, Place):
            continue
        if place.axis in contract[side]:
            raise Mixed("over the examples")
        if place.axis in batch[side]:
            at = list(batch[side]).index(place.axis)
            results.append((True, Place(at, place.inner)))
            continue
        free = [axis for axis in range(len(shapes[side])) if axis not in (*contract[side], *batch[side])]
        before = len(batch[0]) + (len(shapes[0]) - len(contract[0]) - len(batch[0]) if side else 0)
        results.append((False, Place(before + free.index(place.axis), place.inner)))
    if len(results) == 2 and (not results[0][0] or results[0] != results[1]):
        raise Mixed("brings together different examples")
    return [results[0][1]]


def _convolution(
    settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int
) -> list[Where]:
    if given[1] is not None:
        return [Lost()]
    place, numbers = _place(given), settings["dimension_numbers"]
    if place.axis != numbers.lhs_spec[0]:
        raise Mixed("over the examples")
    return [Place(numbers.out_spec[0], place.inner)] if settings["batch_group_count"] == 1 else [Lost()]


def _leading(settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int) -> list[Where]:
    place = _place(given)
    if place.axis >= min(len(shape) for shape in (*shapes, *made)) - 2:
        return [Lost()] * len(made)
    return [place] * len(made)


def _recast(settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int) -> list[Where]:
    """The same bits under another type: what is split or joined is the last axis, which must not hold examples."""
    place = _place(given)
    return [place if shapes[0][: place.axis + 1] == made[0][: place.axis + 1] else Lost()]


def _draw(settings: Settings, given: list[Where], shapes: list[Shape], made: list[Shape], many: int) -> list[Where]:
    """Numbers from keys: each key's own lie behind the axes of keys. Keys that depend on no example have no axis."""
    place = _place(given)
    return [place if given[0] is not None and shapes[0] == made[0][: len(shapes[0])] else Lost()]


def gather(settings: Settings, given: list[Where], shapes: list[Shape], made: Shape, own: frozenset[int]) -> Where:
    """Reading by index; `own` are columns of the indices that hold each row's own number."""
    numbers, sizes = settings["dimension_numbers"], settings["slice_sizes"]
    offsets = tuple(numbers.offset_dims)
    rest = [axis for axis in range(len(made)) if axis not in offsets]
    source, index = given
    if isinstance(index, Place) and index.axis >= len(rest):
        raise Mixed("reads by the examples")
    from_index = Place(rest[index.axis], index.inner) if isinstance(index, Place) else None
    if not isinstance(source, Place):
        return from_index
    paired = tuple(getattr(numbers, "operand_batching_dims", ()))
    if source.axis in paired:
        at = tuple(numbers.start_indices_batching_dims)[paired.index(source.axis)]
        found = Place(rest[at], source.inner)
    elif source.axis in numbers.start_index_map and sizes[source.axis] == 1:
        column = tuple(numbers.start_index_map).index(source.axis)
        if not isinstance(index, Place) or column not in own or shapes[1][index.axis] != shapes[0][source.axis]:
            raise Mixed("reads other examples")
        found = Place(rest[index.axis], source.inner)
    elif sizes[source.axis] == shapes[0][source.axis]:
        kept = [a for a in range(len(sizes)) if a not in numbers.collapsed_slice_dims and a not in paired]
        found = Place(offsets[kept.index(source.axis)], source.inner)
    else:
        raise Mixed("picks some of the examples")
    if from_index is not None and from_index != found:
        raise Mixed("reads other examples")
    return found


RULES: dict[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE, _elementwise),
    **dict.fromkeys(_REDUCE, _reduce),
    **dict.fromkeys(_ALONG, _along),
    **dict.fromkeys(_WINDOW, _window),
    **dict.fromkeys(("slice", "dynamic_slice"), _slice),
    **dict.fromkeys(("cholesky", "triangular_solve", "eigh", "fft", "top_k"), _leading),
    "broadcast_in_dim": _broadcast,
    "concatenate": _concatenate,
    "conv_general_dilated": _convolution,
    "dot_general": _dot,
    "expand_dims": _expand,
    "pad": _pad,
    "reshape": _reshape,
    "rev": _reverse,
    "split": _split,
    "squeeze": _squeeze,
    "transpose": _transpose,
    **dict.fromkeys(("bitcast_convert_type", "random_wrap", "random_unwrap"), _recast),
    **dict.fromkeys(("random_bits", "random_split", "random_fold_in"), _draw),
}
