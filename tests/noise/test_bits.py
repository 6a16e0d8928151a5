"""Randomness is the operating system's, never repeated: not by threads, not after a fork."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from chance import fits
from discreet import noise
from discreet.noise.bits import SystemBits, words

FORK = """
import os, sys
from discreet import noise
noise.laplace(1e6, 100_000); noise.gaussian(1e6, 100_000)      # warm-up: tables and ciphers exist
readers = []
for child in range(4):
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, (str(noise.laplace(1e6, 5000).tolist()[-8:]) + str(noise.gaussian(1e6, 4).tolist())).encode())
        os._exit(0)
    readers.append(read)
answers = [os.read(r, 10_000) for r in readers] + [str(noise.laplace(1e6, 5000).tolist()[-8:]).encode()]
sys.exit(0 if len(set(answers)) == 5 and all(answers) else 1)
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this platform has no fork")
def test_parent_and_children_differ_after_a_fork():
    assert subprocess.run([sys.executable, "-c", FORK], timeout=600, check=False).returncode == 0


def test_threads_draw_different_noise():
    results = []
    threads = [threading.Thread(target=lambda: results.append(noise.laplace(1e6, 50_000))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({tuple(r[:20]) for r in results}) == 8


@pytest.mark.parametrize("count", [0, 1, 7, 2048, 2049, 100_000, (1 << 18) + 5])
def test_reads_have_the_length_asked_for(count):
    assert len(SystemBits().read(count)) == count


def test_bytes_are_uniform_across_cipher_blocks():
    data = SystemBits().read(1_000_000)
    assert fits(data.astype(np.int64), lambda v: np.full(len(v), 1 / 256))


def test_consecutive_reads_do_not_repeat():
    bits = SystemBits()
    first, second = bits.read(4096), bits.read(4096)
    assert not np.array_equal(first, second)
    assert not np.array_equal(words(bits, 600), words(bits, 600))
