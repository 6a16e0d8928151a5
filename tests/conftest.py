"""Options of the whole suite."""

import pytest

from browser import browser  # noqa: F401 - a fixture for every room
from servers import place  # noqa: F401 - a fixture for every room: each test runs once for each ledger store


def pytest_addoption(parser):
    parser.addoption("--large", action="store_true", help="also run the larger statistical tier")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--large"):
        return
    skip = pytest.mark.skip(reason="larger tier: run with --large")
    for item in items:
        if "large" in item.keywords:
            item.add_marker(skip)
