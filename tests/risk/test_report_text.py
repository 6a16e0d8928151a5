"""The report in words: a sentence for what matters most, a section for the rest."""

from discreet.risk.attackers import Attacker
from discreet.risk.information_loss import ColumnLoss
from discreet.risk.report import NOT_A_RELEASE, report_risk
from discreet.risk.report_text import attacker_cells, findings, group_words, report_text
from hospital import hospital


def test_the_words_begin_with_whose_report_it_is_and_end_with_what_is_not_promised():
    report, _ = report_risk(hospital(), seconds=0.5)
    text = report_text(report)
    assert text.split("\n")[1] == NOT_A_RELEASE
    assert "does not promise" in text.split("\n")[-1]
    for title in ("In short", "Columns", "What singles people out", "Who looks alike", "What attackers reach"):
        assert f"\n{title}\n" in text
    assert "under a privacy budget would cost instead" in text


def test_the_findings_name_what_to_remove_and_who_is_found():
    report, _ = report_risk(hospital(), seconds=0.5)
    said = findings(report)
    assert "patient_id, name and mail" in said[0]
    assert any("look like nobody else" in line for line in said)
    assert any("Coarsening to k = 5, l = 2, t = 0.2" in line for line in said)
    assert any("epsilon" in line for line in said)


def test_what_is_not_known_is_called_that():
    assert attacker_cells(Attacker("j", "", 0.2)) == ["not known"] * 3
    cells = attacker_cells(Attacker("m", "", 0.2, average=0.25, average_range=(0.2, 0.3)))
    assert cells[1] == "25.00% [20.00%, 30.00%]"


def test_what_became_of_a_column():
    assert group_words(ColumnLoss("a", 0, 9, 9, 0, 0, ())) == "as it is"
    assert group_words(ColumnLoss("a", 2, 9, 1, 1, 1, ("*",))) == "one group of all"
    assert group_words(ColumnLoss("a", 1, 9, 3, 0.2, 0.3, ("0-4",))) == "9 values in 3 groups"
