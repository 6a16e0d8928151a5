"""What people and programs see changes only where somebody meant it to: tests/snapshots.py writes the files anew."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")
pytest.importorskip("clarabel")
pytest.importorskip("fastapi")

from snapshots import FOLDER, shape, snapshots


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return snapshots(tmp_path_factory.mktemp("snapshots"))


@pytest.mark.parametrize("name", ["help.txt", "api.json", "explain.txt", "outputs.json"])
def test_nothing_that_is_seen_has_changed(name, made):
    """If it was meant to: PYTHONPATH=src python tests/snapshots.py, and look at the difference."""
    assert made[name] == (FOLDER / name).read_text(encoding="utf-8")


def test_every_file_is_compared_and_every_command_ends_well(made):
    assert {path.name for path in FOLDER.iterdir()} == set(made)
    assert "exit code" not in made["outputs.json"]


def test_a_shape_has_names_and_types():
    assert shape({"a": [1, 2], "b": {"c": "x"}, "d": []}) == {"a": ["int"], "b": {"c": "str"}, "d": []}
