"""A release of synthetic rows, its public report and its owner's."""

import pytest
from report_desk import ASKS, SCHEMA, table

import discreet
from discreet import Budget


@pytest.fixture(scope="session")
def curator(tmp_path_factory):
    place = tmp_path_factory.mktemp("books") / "books.db"
    return discreet.open(table(), SCHEMA, ledger=place, budget=Budget(30), who="ann", create=True)


@pytest.fixture(scope="session")
def release(curator):
    return curator.synthesize(impossible=["age < 16 and works"]).plan(epsilon=4).release(release="twins")


@pytest.fixture(scope="session")
def public(release):
    return release.report(ASKS, copies=3)


@pytest.fixture(scope="session")
def owners(release):
    return release.compare(table(), ASKS, not_private=True, target="works", copies=2)
