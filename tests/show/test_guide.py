"""The guide's pictures are what its examples draw."""

import doctest
from pathlib import Path

import pytest

GUIDES = Path(__file__).parents[2] / "docs" / "guides"

if not GUIDES.is_dir():  # the tests may run without the documentation beside them
    pytest.skip("no documentation here", allow_module_level=True)


def test_pictures_of_the_guide_are_what_its_examples_draw(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    guide = GUIDES / "pictures.md"
    failed, tried = doctest.testfile(str(guide), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8")
    assert (failed, tried > 20) == (0, True)
    drawn = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.svg")}
    kept = {path.name: path.read_text(encoding="utf-8") for path in (GUIDES / "pictures").glob("*.svg")}
    assert drawn == kept, "copy what the examples draw to docs/guides/pictures"
    shown = guide.read_text(encoding="utf-8")
    assert all(f"](pictures/{name})" in shown for name in kept)
