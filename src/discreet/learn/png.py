"""PNG images as arrays of bytes: grey or colours, eight bits each, without interlacing."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

__all__ = ["LARGEST", "read_png"]

LARGEST = 2**24
"""Pixels of an image."""

_HEAD = b"\x89PNG\r\n\x1a\n"
_GREY, _COLOURS, _PALETTE, _GREY_ALPHA, _COLOURS_ALPHA = 0, 2, 3, 4, 6
_BYTES = {_GREY: 1, _COLOURS: 3, _PALETTE: 1, _GREY_ALPHA: 2, _COLOURS_ALPHA: 4}
_ALLOWED = "a PNG file of 8 bits a colour, not interlaced"


def read_png(path: str | Path) -> NDArray[np.uint8]:
    """The pixels of a file [height, width, 1 or 3]. Transparency is left out."""
    data = Path(path).read_bytes()
    try:
        chunks = _chunks(data)
        width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
        if depth != 8 or kind not in _BYTES or interlaced:
            raise InputError("images", str(path), _ALLOWED)
        step = _BYTES[kind]
        if not 0 < width * height <= LARGEST:
            raise InputError("images", str(path), f"a PNG file of 1 to {LARGEST:,} pixels")
        size = height * (1 + width * step)
        lines = zlib.decompressobj().decompress(chunks[b"IDAT"], size + 1)  # a small file may unpack to anything
        raw = np.frombuffer(lines, np.uint8).reshape(height, 1 + width * step)
        pixels = _unfiltered(raw, step).reshape(height, width, step)
        if kind == _PALETTE:
            return np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)[pixels[..., 0]]
    except (KeyError, IndexError, ValueError, struct.error, zlib.error) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError("images", str(path), _ALLOWED) from None
    return pixels[..., : 3 if step >= 3 else 1]


def _chunks(data: bytes) -> dict[bytes, bytes]:
    """The parts of a file by name; of those that come several times, all in one."""
    if not data.startswith(_HEAD):
        raise ValueError("no PNG file")
    found: dict[bytes, bytes] = {}
    at = len(_HEAD)
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at : at + 8])
        found[name] = found.get(name, b"") + data[at + 8 : at + 8 + size]
        at += size + 12
    return found


def _unfiltered(raw: NDArray[np.uint8], step: int) -> NDArray[np.uint8]:
    """Lines of pixels, each of which was written as its difference from its neighbours, in one of five ways."""
    lines = np.zeros((len(raw) + 1, raw.shape[1] - 1 + step), dtype=np.uint8)  # a line above, pixels to the left
    for row, line in enumerate(raw):
        way, values = int(line[0]), line[1:]
        above, here = lines[row], lines[row + 1]
        match way:
            case 0:
                here[step:] = values
            case 1:
                here[step:] = np.cumsum(values.reshape(-1, step), axis=0, dtype=np.uint8).reshape(-1)
            case 2:
                here[step:] = values + above[step:]
            case 3 | 4:
                for place, value in enumerate(values.tolist(), start=step):
                    left, up = int(here[place - step]), int(above[place])
                    guess = (left + up) // 2 if way == 3 else _nearest(left, up, int(above[place - step]))
                    here[place] = (value + guess) & 255
            case _:
                raise ValueError("an unknown filter")
    found: NDArray[Any] = lines[1:, step:]
    return np.ascontiguousarray(found)


def _nearest(left: int, up: int, corner: int) -> int:
    """Which of three neighbours is nearest to left + up - corner; in this order if they are as near."""
    guess = left + up - corner
    return min((left, up, corner), key=lambda one: abs(guess - one))
