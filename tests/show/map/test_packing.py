"""Numbers in a page: short text, and the same numbers again."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from map_layers import unpacked

from discreet.show.map.packing import pack, unpack

whole = st.integers(-(2**53) + 1, 2**53 - 1)


@given(st.lists(whole | st.integers(-200, 200), min_size=1, max_size=30))
def test_numbers_come_back_as_they_were(numbers):
    packed = pack(np.array(numbers))
    assert unpack(packed, len(numbers)).tolist() == numbers
    assert unpacked(packed, len(numbers)) == numbers


def test_a_small_count_takes_a_byte_and_a_constant_nothing():
    assert len(pack(np.arange(64))) == 64 * 4 // 3 + 3
    assert pack(np.full(1000, 3)) == 3
