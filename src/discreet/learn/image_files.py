"""Images with labels out of files: a folder for each class, or arrays in .npz and .npy files. PNG needs no library.

| what | how it is laid out |
|---|---|
| a folder of folders | one folder for each class, with its images in it: .png, .npy of one image, .npz of several |
| a folder of two files | `images.npy` and `labels.npy` |
| a file | .npz with `images` and `labels` (or `x` and `y`) |

Which classes there are is declared by the caller, never read from the files: a class of one person would be gone with
the person. Images are all of one size, as bytes (0 to 255) or numbers from 0 to 1.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.learn.png import read_png

__all__ = ["Images", "read_images"]

_FIELD = "images"
_UNREADABLE = (OSError, EOFError, ValueError, TypeError, AttributeError, MemoryError, BadZipFile, zlib.error)
"""What numpy raises on files that are cut off, empty, packed in another way, or say that they are huge."""
_NAMES = (("images", "labels"), ("x", "y"))


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """Images [many, height, width, colours] as numbers around zero, and for each the number of its class."""

    x: NDArray[np.float32]
    y: NDArray[np.int32]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of an image: height, width, colours."""
        height, width, colours = self.x.shape[1:]
        return height, width, colours

    def __len__(self) -> int:
        return len(self.y)


def read_images(path: str | Path, classes: Sequence[str], field: str = _FIELD) -> Images:
    """The images at a path. Labels are names of the classes or their numbers, in the order in which they are given."""
    place = Path(path)
    if len(set(classes)) < 2 or len(set(classes)) != len(classes):
        raise InputError("classes", list(classes), "two or more names, each once")
    if place.is_dir():
        pair = (place / "images.npy", place / "labels.npy")
        both = all(one.is_file() for one in pair)
        pixels, labels = (_array(pair[0]), _array(pair[1])) if both else _folders(place, classes, field)
    elif place.is_file() and place.suffix.lower() == ".npz":
        pixels, labels = _pair(place, field)
    else:
        raise InputError(field, str(path), "a folder of images, or a .npz file with images and labels")
    return Images(_scaled(pixels, field), _numbered(labels, classes, len(pixels), field))


def _array(path: Path) -> NDArray[Any]:
    try:
        with path.open("rb") as file:
            found: NDArray[Any] = np.load(file, allow_pickle=False)
            if not isinstance(found, np.ndarray):
                raise ValueError("an archive")
    except _UNREADABLE:
        raise InputError(_FIELD, str(path), "an array that numpy reads, without objects") from None
    return found


def _pair(path: Path, field: str) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as held:
            for images, labels in _NAMES:
                if images in held and labels in held:
                    return held[images], held[labels]
    except _UNREADABLE:
        raise InputError(field, str(path), "a .npz file that numpy reads, without objects") from None
    raise InputError(field, str(path), "a .npz file with arrays images and labels, or x and y")


def _folders(home: Path, classes: Sequence[str], field: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Images out of a folder for each class."""
    there = sorted(one.name for one in home.iterdir() if one.is_dir() and not one.name.startswith("."))
    if unknown := [name for name in there if name not in classes]:
        raise InputError(field, unknown[0], "a folder of one of the classes", among=classes)
    parts: list[NDArray[Any]] = []
    labels: list[int] = []
    for number, name in enumerate(classes):
        files = sorted((home / name).glob("*")) if (home / name).is_dir() else []
        for file in (one for one in files if one.suffix.lower() in (".png", ".npy", ".npz")):
            found = _several(file, field)
            if parts and found.shape[1:] != parts[0].shape[1:]:
                given = Phrase(f"{file.name} of shape {found.shape[1:]}")
                raise InputError(field, given, f"images of one size: the first is of shape {parts[0].shape[1:]}")
            parts.append(found)
            labels += [number] * len(found)
    if not parts:
        raise InputError(field, str(home), f"a folder with images in folders named {', '.join(classes)}")
    return np.concatenate(parts), np.array(labels, dtype=np.int32)


def _several(file: Path, field: str) -> NDArray[Any]:
    """The images of one file, along the first axis."""
    if file.suffix.lower() == ".png":
        return read_png(file)[None]
    if file.suffix.lower() == ".npy":
        found = _array(file)
        return found[None] if found.ndim == 2 or (found.ndim == 3 and found.shape[2] in (1, 3)) else found
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as held:
            return np.concatenate([held[name] for name in held])
    except _UNREADABLE:
        raise InputError(field, str(file), "a .npz file that numpy reads, of images of one size") from None


def _scaled(pixels: NDArray[Any], field: str) -> NDArray[np.float32]:
    """Around zero: from -2 to 2."""
    if pixels.ndim == 3:
        pixels = pixels[..., None]
    if pixels.ndim != 4 or pixels.shape[3] not in (1, 3):
        given = Phrase(f"an array of shape {pixels.shape}")
        raise InputError(field, given, "images of height and width, grey or of three colours, along the first axis")
    if pixels.dtype == np.uint8:
        return (pixels.astype(np.float32) / np.float32(255) - np.float32(0.5)) * np.float32(4)
    usual = pixels.dtype.kind == "f" and pixels.size > 0 and bool(np.isfinite(pixels).all())
    if not usual or pixels.min() < 0 or pixels.max() > 1:
        raise InputError(field, Phrase(f"pixels of type {pixels.dtype}"), "bytes, or numbers from 0 to 1")
    return (pixels.astype(np.float32) - np.float32(0.5)) * np.float32(4)


def _numbered(labels: NDArray[Any], classes: Sequence[str], many: int, field: str) -> NDArray[np.int32]:
    """The number of the class of each image."""
    if labels.shape != (many,):
        raise InputError(field, Phrase(f"labels of shape {labels.shape}"), f"one label for each of {many:,} images")
    if labels.dtype.kind in "iub":
        numbers = labels.astype(np.int64)
        if many and not ((numbers >= 0) & (numbers < len(classes))).all():
            raise InputError(field, Phrase("a label out of range"), f"labels from 0 to {len(classes) - 1}")
        return numbers.astype(np.int32)
    places = {name: number for number, name in enumerate(classes)}
    if labels.dtype.kind != "U" or any(name not in places for name in set(labels.tolist())):
        raise InputError(field, Phrase("a label that is no class"), "labels that are names of classes or their numbers")
    return np.array([places[name] for name in labels.tolist()], dtype=np.int32)
