"""A ledger of one process: capped while it lasts, the same for all who ask, gone with the process."""

import subprocess
import sys
import warnings
from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet import Ledger, count
from discreet.errors import BudgetError, InputError
from discreet.ledger import session


@pytest.fixture
def fresh(monkeypatch):
    """As in a process that has none yet."""
    monkeypatch.setattr(session, "_known", {})
    with pytest.warns(UserWarning, match="lost when it ends: the next process begins with the whole budget"):
        return Ledger.in_memory()


def opened(ledger):
    table = pa.table({"sex": ["f", "m"] * 50})
    return discreet.open(table, unit="row", columns={"sex": ["f", "m"]}, epsilon=1, ledger=ledger)


def test_a_cell_that_is_run_again_finds_what_was_spent(fresh):
    opened(fresh).table().agg(n=count()).plan(epsilon="0.75").release()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was said once
        again = opened(Ledger.in_memory())
    assert again.standing()[0].left.amount == discreet.core.exact.as_written("0.25", "epsilon")
    with pytest.raises(BudgetError):
        again.table().agg(n=count()).plan(epsilon="0.5").release()
    assert fresh.verify().ok


def test_a_notebook_says_that_it_is_lost(fresh):
    assert "lost when it ends" in opened(fresh)._repr_html_()
    assert "lost when it ends" in fresh._repr_html_()


def test_its_folder_goes_with_the_process():
    code = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "from discreet import Ledger\n"
        "print(Ledger.in_memory()._store.path.parent)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    folder = Path(said.strip())
    assert folder.name.startswith("discreet-")
    assert not folder.exists()


def test_the_word_of_sqlite_is_no_file_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="in_memory"):
        Ledger.open(":memory:", create=True)
    assert not list(tmp_path.iterdir())
