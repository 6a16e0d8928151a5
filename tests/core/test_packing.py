"""Packed columns: they come back exactly, take as few bytes as they need, and are plain JSON."""

import base64
import json
import zlib

import numpy as np
import pytest

from discreet.core.packing import pack, pack_words, unpack, unpack_words


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], "int8"),
        ([0, -128, 127], "int8"),
        ([128], "int16"),
        ([-129], "int16"),
        ([2**15], "int32"),
        ([-(2**31) - 1], "int64"),
        ([2**63 - 1, -(2**63)], "int64"),
    ],
)
def test_integers_come_back_from_the_narrowest_type_that_holds_them(values, kind):
    packed = json.loads(json.dumps(pack(values)))
    assert packed["kind"] == kind
    back = unpack(packed)
    assert back.dtype == np.int64
    assert back.tolist() == values


def test_an_array_keeps_its_shape():
    values = np.arange(-12, 12).reshape(2, 3, 4)
    assert np.array_equal(unpack(pack(values)), values)
    assert unpack(pack(np.zeros((0, 5), dtype=np.int64))).shape == (0, 5)


def test_the_bytes_are_little_end_first_whatever_the_machine():
    data = zlib.decompress(base64.b64decode(pack([1, 256])["data"]))
    assert data == b"\x01\x00\x00\x01"
    written_elsewhere = base64.b64encode(zlib.compress(b"\x02\x00\xff\xff", 9)).decode()
    assert unpack({"kind": "int16", "shape": [2], "data": written_elsewhere}).tolist() == [2, -1]


@pytest.mark.parametrize("words", [[], [""], ["01", "", "Zoë", 'a"b\n', "\u2028"]])
def test_words_come_back(words):
    text = pack_words(words)
    assert text.isascii()
    assert unpack_words(text) == words
