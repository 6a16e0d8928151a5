"""Options of the whole suite."""

import os

import pytest
from hypothesis import HealthCheck, settings

from browser import browser  # noqa: F401 - a fixture for every room
from servers import place  # noqa: F401 - a fixture for every room: each test runs once for each ledger store

# A program of JAX is compiled here to be run a few times: making it fast takes longer than running it.
QUICK = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {QUICK}".lstrip()

# No example has a deadline: how long one takes says how busy the machine is.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


def pytest_addoption(parser):
    parser.addoption("--large", action="store_true", help="also run the larger statistical tier")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--large"):
        return
    skip = pytest.mark.skip(reason="larger tier: run with --large")
    for item in items:
        if "large" in item.keywords:
            item.add_marker(skip)
