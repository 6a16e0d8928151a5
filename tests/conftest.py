"""Options of the whole suite."""

import pytest
from hypothesis import HealthCheck, settings

from browser import browser  # noqa: F401 - a fixture for every room
from servers import place  # noqa: F401 - a fixture for every room: each test runs once for each ledger store

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
