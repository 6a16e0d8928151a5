"""Arrays at the door: a fingerprint tells whether rows are the same for one id, and nothing to who has no key."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")
pytest.importorskip("sklearn")

import hashlib
from dataclasses import replace

import numpy as np
from estimator_rows import rows
from train_steps import examples

from discreet.core.version import DataVersion
from discreet.learn.array_data import ArrayData
from discreet.learn.estimators.rows import Rows
from discreet.learn.examples import Examples

X, Y = rows(60)
KEY = bytes(range(32))


def fingerprint(release, features=X, key=KEY):
    return ArrayData(Rows(features, Y), release).version(key).value


def nothing_is_told(told) -> bool:
    """What is on record for two ids is two different texts whether their rows were the same or not, and none of them
    can be worked out without the key."""
    other = X[1:]
    texts = {told("one"), told("two"), told("two", other), told("one", key=KEY[::-1])}
    plain = {hashlib.sha256(X.tobytes()).hexdigest()[:32], told("one", key=b"")}
    return len(texts) == 4 and not texts & plain


def test_the_record_tells_nothing_of_the_rows():
    assert nothing_is_told(fingerprint)
    assert fingerprint("one") == fingerprint("one", X.copy())
    assert ArrayData(Rows(X, Y)).version(KEY) == DataVersion()  # no id was chosen: there is nothing to compare


def test_a_fingerprint_without_the_id_is_found_out():
    """The planted bug: two releases of the same rows would say so, and of neighbours that they are not the same."""
    assert not nothing_is_told(lambda release, features=X, key=KEY: fingerprint("always", features, key))


def test_a_fingerprint_without_the_key_is_found_out():
    assert not nothing_is_told(lambda release, features=X, key=KEY: fingerprint(release, features, bytes(32)))


def test_versions_of_rows_are_read_back():
    version = DataVersion.of_rows("one", [X, None], KEY)
    assert DataVersion.from_json(version.to_json()) == version
    assert version.same(version) is True
    assert version.same(replace(version, value="0" * 32)) is False
    assert DataVersion().same(version) is None  # recorded before there were fingerprints


def test_examples_of_any_kind_have_a_fingerprint_of_all_their_arrays():
    x, y = examples(20)
    whose = np.arange(20) // 2
    given = [Examples(x, y), Examples(x, y, whose), Examples(x, y, whose[::-1]), Examples({"a": x, "b": x[:, :1]}, y)]
    assert len({ArrayData(one, "id").version(KEY).value for one in given}) == 4
    with ArrayData(given[0]).open() as opened:
        assert opened is given[0]
