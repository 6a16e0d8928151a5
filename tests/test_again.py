"""Failed tests are run again only after a run that got to its end: what was never run has not passed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture
def again(tmp_path, monkeypatch):
    """`.ci/again.py` in an empty folder; `monkeypatch` keeps it from running anything."""
    place = Path(__file__).parent.parent / ".ci" / "again.py"
    spec = importlib.util.spec_from_file_location("again", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for file, text in ((module.ENDED, "1"), (module.FAILED, '{"tests/test_a.py::test_b": true}')):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module.subprocess, "run", lambda command: module.subprocess.CompletedProcess(command, 0))
    return module


def test_a_few_failures_of_a_whole_run_are_run_again(again, capsys):
    assert again.main() == 0
    assert "tests/test_a.py::test_b" in capsys.readouterr().out


@pytest.mark.parametrize("ended", ["2", "3", None], ids=["interrupted", "internal error", "killed"])
def test_a_run_that_did_not_get_to_its_end_fails(again, ended):
    again.ENDED.unlink() if ended is None else again.ENDED.write_text(ended)
    assert "did not get to its end" in again.main()


@pytest.mark.parametrize("failed", [0, 4])
def test_none_and_many_failures_fail(again, failed):
    again.FAILED.write_text(str([f"{number}" for number in range(failed)]).replace("'", '"'))
    assert f"{failed} tests failed" in again.main()
