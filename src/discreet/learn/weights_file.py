"""Weights in files: .npz for numpy, .safetensors for everybody else; written, and read back in the shape of a model.

A .safetensors file is the length of a header (8 bytes), the header (JSON: kind, shape and place of each array), and the
arrays. Nothing in it is ever run.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase, kind_of

__all__ = ["ENDINGS", "names_of", "read_weights", "write_weights"]

Tree = Any
ENDINGS = (".npz", ".safetensors")
_KINDS = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint64": "U64",
    "uint32": "U32",
    "uint16": "U16",
    "uint8": "U8",
    "bool": "BOOL",
}
_LONGEST = 100_000_000  # bytes of a header, as other readers have it
_ABOUT = "__metadata__"
_NUMBERS = "biuf"  # kinds of numpy that stand in a .npz file as themselves


def names_of(params: Tree) -> list[str]:
    """What the arrays of a tree are called, in its order: where each is, with / between.

    >>> names_of({"head": {"w": 1, "b": 2}, "body": [3]})
    ['body/0', 'head/b', 'head/w']
    """
    paths = jax.tree_util.tree_flatten_with_path(params)[0]
    return [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in paths]


def write_weights(path: str | Path, weights: Mapping[str, Any], about: Mapping[str, str] | None = None) -> Path:
    """Write arrays by name, as the ending of the file says; `about` is kept in a .safetensors file beside them."""
    target = _path(path)
    if not target.absolute().parent.is_dir():
        raise InputError("path", str(target), "a file in a folder that exists")
    arrays = {name: np.asarray(array) for name, array in weights.items()}
    match target.suffix:
        case ".npz":
            _write_numpy(target, arrays)
        case ".safetensors":
            target.write_bytes(_packed(arrays, about or {}))
        case _:
            raise InputError("path", str(target), f"a file that ends in {' or '.join(ENDINGS)}")
    return target


def read_weights(path: str | Path, like: Tree = None) -> Any:
    """The arrays of a file by name; or, with parameters of the same names and shapes (`like`), a tree as they are.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> written = write_weights(folder / "line.safetensors", {"w": np.ones(2, np.float32)})
    >>> read_weights(written)["w"].tolist()
    [1.0, 1.0]
    """
    source = _path(path)
    if source.suffix not in ENDINGS or not source.is_file():
        raise InputError("path", str(source), f"a file of weights that exists, with the ending {' or '.join(ENDINGS)}")
    found = _unpacked(source) if source.suffix == ".safetensors" else _from_numpy(source)
    return found if like is None else _in_shape(found, like)


def _path(path: str | Path) -> Path:
    if not isinstance(path, (str, Path)):
        raise InputError("path", kind_of(path), "the path of a file")
    return Path(path)


def _in_shape(found: Mapping[str, NDArray[Any]], like: Tree) -> Tree:
    leaves, shape = jax.tree.flatten(like)
    names = names_of(like)
    if sorted(names) != sorted(found):
        missing, extra = sorted(set(names) - set(found))[:5], sorted(set(found) - set(names))[:5]
        given = Phrase(f"without {missing}" if missing else f"with {extra}")
        raise InputError("path", given, "weights with the names of the parameters they are read for")
    for name, leaf in zip(names, leaves, strict=True):
        if found[name].shape != np.shape(leaf):
            allowed = f"weights of the shapes of the parameters: {name} is of shape {np.shape(leaf)}"
            raise InputError("path", Phrase(f"{name} of shape {found[name].shape}"), allowed)
    return jax.tree.unflatten(shape, [found[name] for name in names])


def _packed(arrays: Mapping[str, NDArray[Any]], about: Mapping[str, str]) -> bytes:
    header: dict[str, Any] = {_ABOUT: dict(about)} if about else {}
    parts: list[bytes] = []
    start = 0
    # The widest kinds first: every array then begins where its kind may.
    for name, array in sorted(arrays.items(), key=lambda one: (-one[1].dtype.itemsize, one[0])):
        kind = _KINDS.get(str(array.dtype))
        if kind is None or name == _ABOUT:
            raise InputError("weights", kind_of(array.dtype) if kind is None else name, "arrays of numbers, by name")
        content = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False)).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [start, start + len(content)]}
        parts.append(content)
        start += len(content)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def _unpacked(path: Path) -> dict[str, NDArray[Any]]:
    content = path.read_bytes()
    kinds = {kind: name for name, kind in _KINDS.items()}
    try:
        size = int.from_bytes(content[:8], "little")
        if len(content) < 8 or size > min(_LONGEST, len(content) - 8):
            raise ValueError
        header = json.loads(content[8 : 8 + size], object_pairs_hook=_once_each)
        body, used = memoryview(content)[8 + size :], []
        found: dict[str, NDArray[Any]] = {}
        for name, entry in header.items():
            if name == _ABOUT:
                continue
            kind, (start, end) = jnp.dtype(kinds[entry["dtype"]]), entry["data_offsets"]
            if not 0 <= start <= end <= len(body) or math.prod(entry["shape"]) * kind.itemsize != end - start:
                raise ValueError
            found[name] = np.frombuffer(body[start:end], kind).reshape(entry["shape"])
            used.append((start, end))
        # Without overlaps and gaps, as the format says: each byte is of one array.
        ends = [0, *(end for _, end in sorted(used))]
        if ends != [*(start for start, _ in sorted(used)), len(body)]:
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        pass  # what it says may show what the file holds
    else:
        return found
    raise InputError("path", str(path), "an undamaged .safetensors file")


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The names and values of a JSON object, each name once: readers differ in which of two they take."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _write_numpy(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """As `numpy.savez`, whose own arguments are names that no array can have. bfloat16 is written as float32."""
    with zipfile.ZipFile(path, "w", allowZip64=True) as file:
        for name, array in arrays.items():
            plain = array if array.dtype.kind in _NUMBERS else array.astype(np.float32)
            with file.open(f"{name}.npy", "w", force_zip64=True) as out:
                np.lib.format.write_array(out, plain, allow_pickle=False)


def _from_numpy(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
        if all(isinstance(array, np.ndarray) and array.dtype.kind in _NUMBERS for array in found.values()):
            return found
    except Exception:  # whatever a damaged archive makes numpy raise
        pass
    raise InputError("path", str(path), "an undamaged .npz file of arrays")
