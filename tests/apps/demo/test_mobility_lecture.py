"""Trips: as many pairs as the lecture has, which add up and are nearer than plain noise."""

from discreet.apps.demo.mobility_lecture import show


def test_pairs_add_up_and_are_nearer_than_plain_noise():
    pairs, line, sums, error = show().numbers
    assert pairs.here.startswith("30,276")
    assert sums.here == "yes"
    released, true = line.here.replace(" invented ones", "").split(", of ")
    assert abs(int(released) - int(true)) < 60
    off, plain = error.here.removesuffix(")").split(" (plain noise: ")
    assert float(off) < float(plain)
