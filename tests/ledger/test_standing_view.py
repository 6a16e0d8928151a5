"""Where budgets stand, as parts of pages and notebooks."""

from discreet import Allotment, Budget, Ledger, Pure, Unit
from discreet.ledger.standing_view import budget_meter, ledger_cell, standing_table


def opened(folder):
    ledger = Ledger.temporary(folder)
    parts = [Allotment("asks", "pure", epsilon=1), Allotment("models", "zcdp", epsilon=2, delta="1e-6")]
    ledger.create("visits", Budget(5, delta="1e-5", allotments=parts), unit=Unit(), who="ann")
    return ledger


def paid(ledger, many=1):
    for each in range(many):
        told = {"release": f"first-{each}", "who": "ann", "why": "<a> & b", "digest": f"d{each}", "allotment": "asks"}
        ledger.spend("visits", Pure("0.03"), **told)


def test_what_is_left_stands_in_words_and_as_a_bar(tmp_path):
    ledger = opened(tmp_path)
    paid(ledger, 31)
    asks, models = ledger.standing("visits")
    low = budget_meter(asks)
    assert '<b class="figure">0.07</b> of 1 epsilon left</span>' in low
    assert 'class="fill low" width="7.00%"' in low
    named = budget_meter(models, named=True, several=True)
    assert "<b>visits</b> models" in named
    assert "left <small>(rho" in named
    assert "delta" in named


def test_every_allotment_is_a_row_and_a_delta_is_said_where_there_is_one(tmp_path):
    table = standing_table(opened(tmp_path).standing("visits")).__html__()
    assert table.count("<tr>") == 3
    assert "pure epsilon" in table
    assert table.count("<small>delta") == 3


def test_a_ledger_in_a_notebook_lists_budgets_and_the_last_charges(tmp_path):
    ledger = opened(tmp_path)
    assert "Nothing was spent yet." in ledger_cell(ledger)
    paid(ledger, 25)
    shown = ledger._repr_html_()
    assert "The last 20 charges" in shown
    assert shown.count("&lt;a&gt; &amp; b") == 20
    assert "first-24" in shown
    assert "first-4<" not in shown
    assert str(tmp_path) in shown
    assert repr(ledger).startswith("Ledger(SqliteStore(")
