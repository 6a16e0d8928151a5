"""PNG files for tests, written straight from the definition of the format."""

from __future__ import annotations

import struct
import zlib

import numpy as np

KINDS = {1: 0, 2: 4, 3: 2, 4: 6}  # by colours


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def filtered(pixels: np.ndarray, way: int) -> bytes:
    """Lines as a filter writes them, straight from its definition."""
    height, width, step = pixels.shape
    flat = np.zeros((height + 1, (width + 1) * step), dtype=int)
    flat[1:, step:] = pixels.reshape(height, -1)
    lines = b""
    for row in range(1, height + 1):
        here, left = flat[row, step:], flat[row, :-step]
        up, corner = flat[row - 1, step:], flat[row - 1, :-step]
        guess = left + up - corner
        apart = np.stack([abs(guess - left), abs(guess - up), abs(guess - corner)])
        paeth = np.choose(apart.argmin(axis=0), [left, up, corner])
        known = [0, left, up, (left + up) // 2, paeth][way]
        lines += bytes([way]) + ((here - known) % 256).astype(np.uint8).tobytes()
    return lines


def written(path, pixels: np.ndarray, way: int = 0, *, kind=None, depth=8, interlaced=0, more=b""):
    height, width, step = pixels.shape
    head = struct.pack(">IIBBBBB", width, height, depth, KINDS[step] if kind is None else kind, 0, 0, interlaced)
    data = zlib.compress(filtered(pixels, way))
    body = chunk(b"IHDR", head) + more + chunk(b"IDAT", data[:9]) + chunk(b"IDAT", data[9:]) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    return path
