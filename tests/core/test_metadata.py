"""What files say of a release: everything that is known, numbers as numbers, and nothing that is not."""

from dataclasses import replace

from discreet.core.metadata import citation, metadata, released_on, source_lines
from paid_release import FACTS, MADE


def test_price_confidence_unit_filter_and_id_are_told():
    told = metadata(MADE)
    assert (told["epsilon"], told["delta"], told["rho"], told["confidence"]) == (2.5, 1e-6, 0.125, 0.9)
    assert (told["unit"], told["filter"], told["release"]) == ("one row, added or removed", "hours > 0", "r1")
    assert told["title"] == FACTS["title"]
    assert told["outputs"] == {"m": "mean pay"}
    assert told["notes"][0]["kind"] == "bounds"


def test_a_citation_names_release_data_guarantee_and_day():
    text = citation(MADE)
    for part in (FACTS["title"], "people", "rho = 0.125", "protects one row", "Release r1, 5 March 2026", "discreet "):
        assert part in text


def test_what_is_not_known_is_left_out():
    bare = replace(MADE, facts={}, notes=(), mechanism="")
    told = metadata(bare)
    assert not {"epsilon", "filter", "unit", "released", "noise", "notes"} & set(told)
    assert told["title"] == "m by sector"
    assert released_on(bare) == ""
    assert source_lines(bare) == ["Dataset people \u00b7 90% confidence intervals", "rho = 0.125", "release r1"]
