"""Things that take a while to make are made once."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")

from discreet.apps.web.cache import Cache


def test_things_are_made_once_and_a_few_are_kept():
    shelf, made = Cache(2), []

    def make(name):
        return lambda: made.append(name) or len(made)

    with pytest.raises(ZeroDivisionError):
        shelf.get("a", lambda: 1 / 0)
    assert [shelf.get(name, make(name)) for name in "aabca"] == [1, 1, 2, 3, 4]
    assert made == ["a", "b", "c", "a"]
