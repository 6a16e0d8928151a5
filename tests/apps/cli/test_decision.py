"""Every decision of a custodian needs a reason and a yes."""

from pathlib import Path

import pytest
from custodian import (
    books,
    folder_fixture,  # noqa: F401
    run,
)


def test_a_reason_is_needed(folder):
    assert "--why" in run("raise", "people", "--epsilon", "2", "--yes", code=2)
    assert "a reason" in run("raise", "people", "--epsilon", "2", "--why", " ", "--yes", code=2)


# The same for all three: asked first, unless told not to.


@pytest.mark.parametrize("words", [["raise", "people", "--epsilon", "2"], ["move", "books.db"]], ids=lambda w: w[0])
def test_someone_is_asked_first(folder, words):
    before = books().head()
    assert "--yes" in run(*words, "--why", "w", code=2)
    run(*words, "--why", "w", typed="n\n", code=1)
    assert books().head() == before
    assert not Path("books.db").exists()
    run(*words, "--why", "w", typed="y\n")
    assert (books() if words[0] == "raise" else books("books.db")).head() != before
