"""Mechanisms to audit, planted bugs to catch, and what a page of an audit must be."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from discreet.audit import Pair
from discreet.audit.gate import _attack, _of


class Tags(HTMLParser):
    """Counts tags and whatever could leave the page."""

    def __init__(self):
        super().__init__()
        self.open, self.outside = [], []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)
        self.outside += [value for name, value in attrs if name in ("src", "href", "onload", "xlink:href")]

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def check(text):
    """A page is whole, and nothing on it leads elsewhere."""
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert tags.outside == []
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")
    assert re.search(r"default-src 'none'; style-src 'sha256-", text)


def noisy(noise, moved):
    return Pair(lambda runs: noise.release([moved] * runs), lambda runs: noise.release([0] * runs), "<one> & none")


def additive(noise, moved, width=1):
    """Noise on `width` numbers that the person moves by `moved` each."""
    return Pair(
        lambda runs: noise.release(np.full(runs * width, moved)).reshape(runs, width),
        lambda runs: noise.release(np.zeros(runs * width, dtype=np.int64)).reshape(runs, width),
    )


def float_laplace(runs):
    return np.random.default_rng().laplace(size=runs)


def each_planted(module):
    """A mark: once for every bug that is planted in a module of subjects."""
    bugs = {place: subject for place, subject in enumerate(_of(module)) if subject.planted}
    names = [f"{one.name}, {one.planted}".replace(" ", "-") for one in bugs.values()]
    return pytest.mark.parametrize("place", bugs, ids=names)


def caught(module, place):
    """Whether an audit catches a planted bug.

    The weakest has 300 runs: at 1 - 1e-11 it was four deviations from being missed, here it is about eight.
    """
    finding = _attack((module, place, 1, 0.999))
    return finding.violated and bool(finding.planted)
