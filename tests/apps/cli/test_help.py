"""`discreet help`: the glossary at a terminal."""

import json

from shell import run

from discreet.core.glossary import TERMS


def test_a_term_is_explained_and_its_page_named():
    said = run("help", "privacy", "budget").stdout
    assert said.startswith(f"Privacy budget: {TERMS['privacy budget'].short}")
    assert "docs/guides/budget.md" in said
    assert json.loads(run("help", "rho", "--json").stdout)["also"] == ["zcdp"]


def test_all_terms_are_listed_and_a_misspelt_one_suggested():
    listed = run("help").stdout
    assert all(name in listed for name in TERMS)
    assert [one["term"] for one in json.loads(run("help", "--json").stdout)] == list(TERMS)
    assert "Did you mean `delta`?" in run("help", "dleta", code=2).stderr
