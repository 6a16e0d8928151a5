"""A clinic at a large price, released once."""

import pytest
from clinic_desk import clinic


@pytest.fixture(scope="session")
def curator(tmp_path_factory):
    return clinic(tmp_path_factory.mktemp("clinic"))


@pytest.fixture(scope="session")
def release(curator):
    return curator.relate(["age", "sex"], order="day", limit=6).plan(epsilon=100).release(release="clinic")
