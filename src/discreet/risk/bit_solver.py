"""Solving for secret bits that fit many counts: by least squares, or by the linear program of Dinur and Nissim.

A count over a half is half of the number of all bits set and half of a sum over signs, +1 for people asked about and -1
for others. Signs of different people are nearly orthogonal; the number of all is one more unknown, whose sign is +1
everywhere. Bits are sought as numbers from -1/2 to 1/2, so that zero is no opinion.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.risk.subset_counts import Halves

__all__ = ["WAYS", "rebuild_bits", "solve_program", "solve_squares"]

Floats = NDArray[np.float64]
WAYS = ("squares", "program")

_TURNS, _SMALL = 100, 1e-10  # of conjugate gradients, and how small the rest is when they end
_STEPS, _EVERY = 600, 25  # of the linear program, and how often it is asked whether it is good enough
_GAP = 0.005  # how far the largest miss may be from the least there is, relatively


def rebuild_bits(asked: Halves, answers: Floats, way: str = "squares") -> NDArray[np.bool_]:
    """Bits that fit the answers: by least squares, or by the linear program that makes the largest miss least."""
    if way not in WAYS:
        raise InputError("way", way, among=WAYS)
    if not np.isfinite(answers).all():
        raise InputError("answers", Phrase("NaN or infinity"), "finite numbers")
    solve = solve_squares if way == "squares" else solve_program
    return np.asarray(solve(asked, answers) > 0)


def _system(asked: Halves, answers: Floats) -> tuple[Halves, Floats]:
    """The people with the number of all before them, and what their signs add up to, had every bit been a half less."""
    sizes = (asked.people + asked.sums(np.ones(asked.people))) / 2
    return replace(asked, columns=np.concatenate([[0], asked.columns])), 2 * answers - sizes


def solve_squares(asked: Halves, answers: Floats) -> Floats:
    """The least sum of squares, by conjugate gradients: no matrix is needed, and few turns."""
    wider, sums = _system(asked, answers)
    return _least_squares(wider, sums)[1:]


def _least_squares(wider: Halves, sums: Floats) -> Floats:
    found = np.zeros(wider.people)
    rest = wider.shares(sums)
    turn, size = rest.copy(), float(rest @ rest)
    least = _SMALL * size
    for _ in range(_TURNS):
        if size <= least:
            break
        pushed = wider.shares(wider.sums(turn))
        step = size / float(turn @ pushed)
        found += step * turn
        rest -= step * pushed
        size, before = float(rest @ rest), size
        turn = rest + (size / before) * turn
    return found


def solve_program(asked: Halves, answers: Floats) -> Floats:
    """The least largest miss of bits from 0 to 1: a linear program with two rows a question.

    Solved by primal and dual steps in turn (Chambolle and Pock, 2011), which need the two transforms alone. The dual
    says how far the largest miss is from the least: it ends within half a percent, or after so many steps.
    """
    wider, sums = _system(asked, answers)
    high = np.full(wider.people, 0.5)
    high[0] = np.inf
    here = np.clip(_least_squares(wider, sums), -high, high)
    ahead, weights = here, np.zeros(len(sums))
    width = math.sqrt(wider.order)  # the transforms lengthen nothing by more
    balance = math.sqrt(asked.people)
    for step in range(_STEPS):
        weights = _onto_ball(weights + (wider.sums(ahead) - sums) / (balance * width))
        slope = wider.shares(weights)
        moved = np.clip(here - balance / width * slope, -high, high)
        ahead, here = 2 * moved - here, moved
        if step % _EVERY == _EVERY - 1:
            miss = float(np.abs(wider.sums(here) - sums).max())
            least = -float(weights @ sums) - 0.5 * float(np.abs(slope[1:]).sum())
            if miss - least <= _GAP * miss:
                break
    return here[1:]


def _onto_ball(values: Floats) -> Floats:
    """The nearest numbers whose sizes add up to at most one."""
    sizes = np.abs(values)
    if sizes.sum() <= 1:
        return values
    falling = -np.sort(-sizes)
    over = (np.cumsum(falling) - 1) / np.arange(1, len(falling) + 1)
    cut = over[np.flatnonzero(falling > over)[-1]]
    return np.asarray(np.sign(values) * np.maximum(sizes - cut, 0))
