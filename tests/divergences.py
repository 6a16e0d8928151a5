"""Divergences and curves of known laws with many digits: what conversions are compared with."""

from hypothesis import strategies as st
from mpmath import MPContext

mp = MPContext()  # one of our own: 60 digits whatever other tests set
mp.dps = 60

deltas = st.sampled_from([1e-12, 1e-9, 1e-6, 1e-5, 1e-3, 0.1])
shifts = st.integers(1, 40)


def real(value):
    return mp.mpf(value.numerator) / value.denominator


def laplace_pair(scale, shift):
    """The shifted and the unshifted discrete Laplace law over all but e^-150 of their mass."""
    ratio = mp.exp(-1 / real(scale))
    reach = int(150 * scale) + shift + 2
    top = (1 - ratio) / (1 + ratio)
    return [(top * ratio ** abs(x - shift), top * ratio ** abs(x)) for x in range(-reach, reach + shift + 1)]


def hockey_stick(pair, epsilon):
    factor = mp.exp(real(epsilon))
    return mp.fsum(p - factor * q for p, q in pair if p > factor * q)
