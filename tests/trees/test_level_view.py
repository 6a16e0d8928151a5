"""A hierarchy at a glance."""

import pyarrow as pa

import discreet
from discreet import Ledger


def test_its_levels_and_the_totals_of_the_lowest_that_can_be_taken_in(tmp_path):
    counties = [f"c{i:02d}" for i in range(70)]
    regions = {"part": [f"p{i % 3}" for i in range(70)], "county": counties}
    table = pa.table({"county": counties * 2})
    columns = {"county": counties}
    curator = discreet.open(table, unit="row", columns=columns, epsilon=9, ledger=Ledger.temporary(tmp_path))
    release = curator.tree(["part", "county"], geography=regions).plan(epsilon=9).release()
    shown = release._repr_html_()
    assert "Hierarchy of part, county, by bayes" in shown
    assert "<dt>county</dt><dd>70 regions, each with 1 cell</dd>" in shown
    assert "Totals by part" in shown
    assert shown.count('<th scope="row"') == 3
    assert 'release["county"]' in shown
    assert repr(release).startswith("<Hierarchy of 'data'")
