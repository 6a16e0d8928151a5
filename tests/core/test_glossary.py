"""One glossary: in order, with pages that exist, and the same in the documentation."""

import re
from pathlib import Path

import pytest

from discreet.core.glossary import TERMS, find_term, glossary_page
from discreet.errors import InputError

DOCS = Path(__file__).parents[2] / "docs"


def test_terms_are_in_order_and_short():
    assert list(TERMS) == sorted(TERMS)
    assert len(TERMS) > 30
    for term in TERMS.values():
        assert 20 < len(term.short) < 140, term.name
        assert term.short.endswith(".")
        assert re.fullmatch(r"[a-z-]+", term.anchor)
    assert len({term.anchor for term in TERMS.values()}) == len(TERMS)


def test_every_term_leads_to_a_page_that_exists():
    assert [term.page for term in TERMS.values() if not (DOCS / term.page).is_file()] == []


def test_the_documentation_has_the_same_words():
    """If a change is meant: `from discreet.core.glossary import glossary_page`, and write what it returns there."""
    assert (DOCS / "glossary.md").read_text("utf-8") == glossary_page()


@pytest.mark.parametrize(("said", "meant"), [("EPSILON", "epsilon"), ("budget", "privacy budget"), (" zCDP ", "rho")])
def test_a_term_is_found_by_any_of_its_names(said, meant):
    assert find_term(said).name == meant


def test_a_misspelt_term_is_suggested():
    with pytest.raises(InputError, match="Did you mean `epsilon`"):
        find_term("epsilom")
