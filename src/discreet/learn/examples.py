"""Examples that a caller holds: a pair of arrays, or an iterator of chunks of such pairs, and whose rows they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase, kind_of
from discreet.learn.persons import by_person, read_persons

__all__ = ["Examples", "count_rows"]

Tree = Any
_PAIR = "a pair (x, y) of arrays, or an iterator of chunks (x, y)"


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Rows of x and y, checked: arrays of finite numbers, as many rows in each."""

    x: Tree
    y: Tree
    persons: NDArray[Any] | None = None
    """Who each row belongs to; None where every row is another example."""

    @classmethod
    def read(cls, data: Any, persons: Any = None) -> Self:
        """Of a pair (x, y), or of chunks (x, y), or (x, y, persons), which are put together here, in memory.

        `InputError` shows no value.
        """
        if isinstance(data, tuple):
            if len(data) != 2:
                raise InputError("data", Phrase(f"a tuple of {len(data)}"), _PAIR)
            x, y = data
        else:
            x, y, persons = _put_together(data, persons)
        _check_numbers(x, "x")
        _check_numbers(y, "y")
        many = count_rows((x, y))
        return cls(x, y, None if persons is None else read_persons(persons, many))

    @property
    def pair(self) -> tuple[Tree, Tree]:
        """Both, row by row."""
        return self.x, self.y

    @property
    def arrays(self) -> list[Any]:
        """What a fingerprint of the rows is made from."""
        known = [np.asarray(leaf) for leaf in jax.tree.leaves(self.pair)]
        return known if self.persons is None else [*known, self.persons]

    def laid_out(self, rows: int, secret: bytes) -> Tree:
        """What steps of training take: row by row, or person by person with up to `rows` rows of each."""
        return self.pair if self.persons is None else by_person(self.pair, self.persons, rows, secret)


def count_rows(data: Tree) -> int:
    """How many rows all arrays of a tree have."""
    leaves = jax.tree.leaves(data)
    sizes = {np.shape(leaf)[:1] for leaf in leaves}
    if not leaves or len(sizes) != 1 or sizes == {()}:
        raise InputError(
            "data", Phrase(f"shapes {sorted(map(str, sizes))}"), "arrays with as many rows each, one for each example"
        )
    return int(next(iter(sizes))[0])


def _put_together(data: Any, persons: Any) -> tuple[Tree, Tree, Any]:
    if hasattr(data, "dtype") or isinstance(data, (str, bytes, Mapping)) or not isinstance(data, Iterable):
        raise InputError("data", kind_of(data), _PAIR)
    chunks = list(data)
    if isinstance(data, list) and any(hasattr(chunk, "dtype") for chunk in chunks):
        raise InputError("data", Phrase("a list of arrays"), _PAIR, "Write (x, y) with round brackets.")
    sizes = {len(chunk) if isinstance(chunk, (tuple, list)) else 0 for chunk in chunks}
    if not chunks or not sizes <= {2, 3} or len(sizes) != 1:
        given = Phrase("no chunk" if not chunks else "chunks of another kind")
        raise InputError("data", given, f"{_PAIR}, all of one kind; with a third array, whose rows they are")
    if sizes == {3} and persons is not None:
        raise InputError("persons", kind_of(persons), "left out where each chunk has its own")
    parts = list(zip(*chunks, strict=True))
    try:
        x, y, *own = [
            jax.tree.map(lambda *leaves: np.concatenate([np.asarray(one) for one in leaves]), *part) for part in parts
        ]
    except (TypeError, ValueError):
        pass  # what it says may show a value
    else:
        if own and _written(own[0], parts[2]):
            # NumPy has written 1 as "1", which may be somebody else.
            raise InputError("persons", Phrase("numbers and texts"), "of one kind in all chunks")
        return x, y, own[0] if own else persons
    raise InputError("data", Phrase("chunks that do not fit together"), "chunks whose rows have one shape and type")


def _written(persons: NDArray[Any], parts: Iterable[Any]) -> bool:
    """Whether these texts, put together from parts, were something else in one of them."""
    kind = persons.dtype.kind
    return kind in "US" and any(np.asarray(one).dtype.kind != kind for one in parts)


def _check_numbers(tree: Tree, name: str) -> None:
    """Refuse what is no array of finite real numbers. No value is shown."""
    leaves = jax.tree.leaves(tree)
    if not leaves:
        raise InputError(name, Phrase("no array"), "an array of numbers with one row for each example")
    for leaf in leaves:
        if np.ndim(leaf) == 0 and isinstance(leaf, (bool, int, float, complex, str)):
            raise InputError(name, kind_of(tree), "an array", f"Use numpy.asarray({name}).")
        if isinstance(leaf, np.ma.MaskedArray):
            raise InputError(name, kind_of(leaf), "an array without a mask", "Fill in or leave out what is missing.")
        if hasattr(leaf, "toarray"):
            raise InputError(name, Phrase("a sparse matrix"), "an array of numbers", f"Use {name}.toarray().")
        if not hasattr(leaf, "dtype"):
            raise InputError(name, kind_of(leaf), "an array of numbers", f"Of a DataFrame take {name}.to_numpy().")
        real = jnp.issubdtype(leaf.dtype, jnp.floating) or leaf.dtype.kind in "biu"
        if not real:
            allowed = "an array of real numbers, whole numbers or booleans"
            raise InputError(name, Phrase(f"{leaf.dtype} values"), allowed, "Encode words as declared codes.")
        array = np.asarray(leaf)
        if array.dtype.kind not in "biuf":  # bfloat16, say
            array = array.astype(np.float32)
        if not np.isfinite(array).all():
            hint = "Fill in or leave out what is missing, by a rule that does not look at other examples."
            raise InputError(name, Phrase("NaN or infinity"), "finite numbers", hint)
