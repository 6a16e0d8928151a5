"""PNG files as bytes: every filter and kind of pixel comes back as it was written."""

from __future__ import annotations

import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from png_files import chunk, written

from discreet.errors import InputError
from discreet.learn.png import read_png


@pytest.mark.parametrize("way", range(5))
@pytest.mark.parametrize("colours", [1, 2, 3, 4])
def test_every_filter_of_every_kind_of_pixel_is_read(tmp_path, colours, way):
    pixels = np.random.default_rng(way).integers(0, 256, (5, 4, colours), dtype=np.uint8)
    found = read_png(written(tmp_path / "one.png", pixels, way))
    assert np.array_equal(found, pixels[..., : 3 if colours > 2 else 1])


def test_a_palette_is_looked_up(tmp_path):
    palette = np.arange(12, dtype=np.uint8)
    pixels = np.array([[[0], [3]], [[2], [1]]], dtype=np.uint8)
    file = written(tmp_path / "one.png", pixels, kind=3, more=chunk(b"PLTE", palette.tobytes()))
    assert np.array_equal(read_png(file), palette.reshape(4, 3)[pixels[..., 0]])


@pytest.mark.parametrize("wrong", [{"depth": 16}, {"interlaced": 1}, {"kind": 5}])
def test_other_files_are_refused(tmp_path, wrong):
    pixels = np.zeros((2, 2, 1), dtype=np.uint8)
    with pytest.raises(InputError, match="8 bits a colour"):
        read_png(written(tmp_path / "one.png", pixels, **wrong))
    whole = written(tmp_path / "two.png", pixels).read_bytes()
    for number, cut in enumerate((b"", whole[:30], whole[:-20], b"GIF89a")):
        (tmp_path / f"{number}.png").write_bytes(cut)
        with pytest.raises(InputError, match="8 bits a colour"):
            read_png(tmp_path / f"{number}.png")


def test_a_file_that_says_or_unpacks_to_far_more_than_it_holds_is_refused(tmp_path):
    def file(width, height, data):
        head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
        body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
        (tmp_path / "one.png").write_bytes(b"\x89PNG\r\n\x1a\n" + body)
        return tmp_path / "one.png"

    for width, height in ((2**31, 2**31), (0, 4), (4, 0)):
        with pytest.raises(InputError, match="pixels"):
            read_png(file(width, height, b"\0" * 20))
    bomb = file(2, 2, b"\0" * 30_000_000)
    tracemalloc.start()
    with pytest.raises(InputError, match="8 bits a colour"):
        read_png(bomb)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 3_000_000
