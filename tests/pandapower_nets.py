"""Cases that pandapower ships: each is loaded once, which takes a second, and copied for every test."""

import copy
import warnings
from functools import cache

import pytest


def case(name):
    """A case that pandapower ships, to be changed at will."""
    pytest.importorskip("pandapower", reason="needs discreet[power]")
    return copy.deepcopy(loaded(name))


@cache
def loaded(name):
    """What pandapower warns of while a case is loaded is not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pandapower import networks

        return getattr(networks, name)()
