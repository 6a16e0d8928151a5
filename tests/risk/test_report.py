"""A report without options: roles, risks, a proposal that holds, and honest words where something cannot be had."""

import json
from dataclasses import replace

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk.measures import anonymity
from discreet.risk.report import NOT_A_RELEASE, report_risk
from discreet.risk.singling import Telling
from hospital import hospital

QUICK = {"seconds": 0.5}


def test_a_table_without_a_word_about_it_is_reported_on():
    report, made = report_risk(hospital(), **QUICK)
    assert [one.name for one in report.identifiers] == ["patient_id", "name", "mail"]
    assert report.quasi == ("age", "zip", "sex")
    assert report.sensitive == ("diagnosis",)
    measured = anonymity(hospital(), quasi=["age", "zip", "sex"], sensitive=["diagnosis"], few=1)
    assert report.anonymity == replace(measured, telling=())
    assert report.smallest[0.5].columns == ("age", "zip")
    assert report.without["age"] < report.anonymity.alone
    assert report.attackers[0].highest == 1
    assert any("ward" in note for note in report.notes)
    assert any("missing in sex" in note for note in report.notes)
    assert "name" not in made.records.columns


def test_the_proposal_meets_what_was_asked_and_fewer_criteria_cost_no_more():
    report, made = report_risk(hospital(2000), k=4, l=2, t=0.25, redact=0.1, **QUICK)
    found = anonymity(made.records, quasi=report.quasi, sensitive=report.sensitive, few=1)
    assert (found.k >= 4, found.sensitive[0].distinct >= 2, found.sensitive[0].closeness <= 0.25) == (True,) * 3
    assert made.redacted <= 200
    assert [one.criteria for one in report.cheaper] == ["k = 4", "k = 4, l = 2"]
    assert all(one.loss.certainty <= report.proposal.loss.certainty + 1e-12 for one in report.cheaper)
    assert report.proposal.after.k == found.k
    assert report.instead.coarse > 0


def test_people_with_several_rows_are_counted_once():
    visits = hospital(200, visits=4)
    rows, _ = report_risk(visits, **QUICK)
    assert any("--person patient_id" in note for note in rows.notes)
    report, made = report_risk(visits, person="patient_id", **QUICK)
    assert (report.people, report.rows, report.unit) == (200, 800, "people")
    assert rows.anonymity.alone == 0  # four rows of everyone look alike
    assert report.anonymity.alone > 50
    assert "patient_id" not in made.records.columns
    assert report.instead.each == 4


def test_a_population_or_a_register_tells_of_journalists_and_of_presence():
    draw = np.random.default_rng(1)
    everybody = {"age": draw.integers(0, 90, 5000), "zip": draw.integers(1000, 1040, 5000)}
    pick = draw.permutation(5000)[:1000]
    table = {**{name: values[pick] for name, values in everybody.items()}, "illness": draw.integers(0, 5, 1000)}
    sampled, _ = report_risk(table, population=5000, **QUICK)
    truth = int((np.unique(everybody["age"] * 10_000 + everybody["zip"], return_counts=True)[1] == 1).sum())
    assert sampled.population.bounds[0] <= truth <= sampled.population.bounds[1]
    linked, _ = report_risk(table, register=everybody, **QUICK)
    prosecutor, journalist, marketer = linked.attackers
    assert journalist.average == marketer.average < prosecutor.average
    assert linked.presence.unmatched == 0
    assert linked.presence.people == 5000
    assert linked.linkage.placed > 1000


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"pay": [1, 2, 3, 4]}, "No column looks like something that an outsider may know"),
        ({"age": [1, 2, 3]}, "k = 5 cannot be had: there are 3 rows"),
        ({"age": [1] * 9, "sex": ["f"] * 9}, "The same for everybody"),
        ({"age": list(range(9)), "sex": ["f", "m", "f"] * 3}, "No column looks sensitive"),
        ({"age": [30, 30, 40] * 5, "sex": ["f"] * 15, "x": [1] * 15}, "exact copies"),
    ],
)
def test_what_cannot_be_had_is_said_and_the_rest_is_reported(table, said):
    report, _ = report_risk(table, **QUICK)
    assert said in " ".join(report.notes)
    assert json.loads(json.dumps(report.to_dict()))["report"] == "risk"
    assert report.explain()
    assert report.page()


def test_more_values_than_there_are_cannot_be_asked_for_and_that_is_said():
    draw = np.random.default_rng(0)
    table = {"age": draw.integers(0, 5, 400), "illness": draw.choice(["flu", "gout", "cold"], 400)}
    report, _ = report_risk(table, l=9, t=1, **QUICK)
    assert any("l = 9 cannot be had" in note and "l = 3 is taken" in note for note in report.notes)
    assert "l = 3" in report.proposal.criteria
    plain, _ = report_risk(table, l=3, t=1, **QUICK)
    assert not any("cannot be had" in note for note in plain.notes)


def test_a_wrong_population_is_refused_also_where_nothing_can_be_said_of_it():
    table = {"pay": [1, 2, 3, 4]}
    with pytest.raises(InputError, match="population"):
        report_risk(table, population=3, **QUICK)
    report, _ = report_risk(table, population=40, **QUICK)
    assert any("--population and --register say nothing here" in note for note in report.notes)


def test_criteria_that_leave_nothing_to_see_are_called_that():
    draw = np.random.default_rng(0)
    table = {"age": draw.integers(0, 90, 300), "zip": draw.integers(0, 50, 300), "illness": np.arange(300) % 150}
    report, _ = report_risk({**table, "illness": [f"i{one}" for one in table["illness"]]}, t=0.05, **QUICK)
    assert report.proposal.loss.certainty > 0.95
    assert any("of little use" in note for note in report.notes)


def test_columns_of_very_many_values_and_of_numbers_are_coarsened_too():
    draw = np.random.default_rng(0)
    table = {"age": draw.normal(40, 10, 3000), "city": [f"c{one}" for one in draw.integers(0, 2500, 3000)]}
    report, made = report_risk({**table, "illness": draw.integers(0, 4, 3000)}, quasi="age,city", **QUICK)
    assert made.records.rows >= 0.95 * 3000
    assert report.proposal.after.k >= 5


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"quasi": ["shoe"]}, "columns"),
        ({"quasi": ["age"], "sensitive": ["age"]}, "sensitive"),
        ({"person": "age", "quasi": ["age"]}, "person"),
        ({"k": 0}, "`k`"),
        ({"t": 2}, "`t`"),
        ({"threshold": 0}, "threshold"),
        ({"seconds": 0}, "seconds"),
        ({"population": 5}, "population"),
        ({"redact": 1}, "redact"),
    ],
)
def test_bad_questions_are_refused(wrong, field):
    with pytest.raises(InputError, match=field):
        report_risk(hospital(50), **{**QUICK, **wrong})


def test_the_values_say_that_they_are_private_and_hold_no_cell_of_the_identifiers():
    report, _ = report_risk(hospital(), **QUICK)
    text = json.dumps(report.to_dict())
    assert NOT_A_RELEASE in text
    assert "ward.example" not in text + report.explain() + report.page()
    assert "Ann" not in text + report.explain() + report.page()


def test_shares_that_one_set_reaches_are_one_line():
    one, other = Telling(("a",), 30), Telling(("a", "b"), 60)
    report = replace(
        report_risk({"a": [1, 2], "b": [1, 1]}, seconds=0.1)[0], smallest={0.05: one, 0.2: one, 0.5: other}
    )
    assert report.smallest_sets == [("5% and 20%", one), ("50%", other)]
