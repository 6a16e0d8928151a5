"""What pages must find again after a restart."""

import pytest

from discreet.apps.web import store as module
from discreet.apps.web.store import Store


def test_values_are_found_again_by_another_process_and_the_last_one_counts(tmp_path):
    path = tmp_path / "jobs.db"
    Store(path).keep("wanted", "people", "r1", ["ann", {"epsilon": "1/3"}])
    Store(path).keep("wanted", "people", "r1", ["ann", {"epsilon": "1/2"}])
    value, when = Store(path).find("wanted", "people", "r1")
    assert value == ["ann", {"epsilon": "1/2"}]
    assert when.endswith("+00:00")


@pytest.mark.parametrize("other", [("audit", "people", "r1"), ("wanted", "towns", "r1"), ("wanted", "people", "r2")])
def test_kinds_datasets_and_names_are_apart(tmp_path, other):
    store = Store(tmp_path / "jobs.db")
    store.keep("wanted", "people", "r1", 1)
    assert store.find(*other) is None


def test_the_oldest_go_when_there_are_too_many_of_a_kind_and_a_dataset(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MOST", 3)
    store = Store(tmp_path / "jobs.db")
    store.keep("wanted", "towns", "0", 0)
    for name in range(5):
        store.keep("wanted", "people", str(name), name)
    assert [store.find("wanted", "people", str(name)) is not None for name in range(5)] == [False] * 2 + [True] * 3
    assert store.find("wanted", "towns", "0") is not None
