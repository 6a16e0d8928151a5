"""`discreet calibrate`: noise for a budget, the budget for an accuracy, what an epsilon means."""

import json

import pytest
from shell import run


def test_calibrate_answers_in_all_directions():
    noise = json.loads(run("calibrate", "noise", "--epsilon", "0.1", "--json").stdout)
    assert (noise["mechanism"], noise["exact"], noise["error"]) == ("laplace", "10", 30)
    gaussian = json.loads(run("calibrate", "noise", "--epsilon", "1", "--delta", "1e-6", "--json").stdout)
    assert 4.2 < gaussian["sigma"] < 4.3
    budget = json.loads(run("calibrate", "budget", "--within", "30", "--json").stdout)
    assert 0.098 < budget["epsilon"] <= 0.1
    odds = json.loads(run("calibrate", "odds", "--epsilon", "1.0986122886681098", "--prior", "0.02", "--json").stdout)
    assert odds["posteriors"][0]["high"] == pytest.approx(0.0577, abs=1e-3)
    assert odds["best_guess"] == pytest.approx(0.75)
    turned = json.loads(run("calibrate", "convert", "--rho", "0.1", "--delta", "1e-6", "--json").stdout)
    assert 2.1 < turned["epsilon"] < 2.2
    assert (
        "noise multiplier"
        in run("calibrate", "training", "--epsilon", "2", "--delta", "1e-5", "--rate", "0.01", "--steps", "100").stdout
    )
    run("calibrate", "noise", "--epsilon", "nan", code=2)
    run("calibrate", "noise", code=2)


def told(*words):
    return json.loads(run("calibrate", *words, "--json").stdout)


def test_an_epsilon_may_be_written_as_a_logarithm():
    assert told("odds", "--epsilon", "ln3", "--prior", "0.02")["posteriors"][0]["high"] == pytest.approx(
        0.0577, abs=1e-4
    )
    assert told("noise", "--epsilon", "log(3)")["scale"] == pytest.approx(0.91024, abs=1e-5)
    assert "ln3" in run("calibrate", "noise", "--epsilon", "three", code=2).stderr


def test_the_odds_of_a_logarithm_are_exact():
    """Two coins, ln 3: at 50:50 someone is right three times in four, and not a hair more that is rounded to 76%."""
    found = told("odds", "--epsilon", "ln3", "--prior", "0.5")
    assert (found["posteriors"][0]["low"], found["posteriors"][0]["high"], found["best_guess"]) == (0.25, 0.75, 0.75)
    shown = run("calibrate", "odds", "--epsilon", "log(3)", "--prior", "1/2").stdout
    assert "is right at most 75% of the time" in shown
    assert "76%" not in shown


def test_the_errors_and_the_sigma_of_the_lectures_are_told():
    """Ten answers at epsilon 0.01 are off by 1,000 in sum; the textbook's sigma is 4.845 where 3.740 will do."""
    assert told("noise", "--epsilon", "0.01", "--outputs", "10")["expected_l1"] == pytest.approx(1000, rel=1e-4)
    both = told("noise", "--epsilon", "1", "--delta", "1e-5")
    assert (round(both["classic_sigma"], 3), round(both["sigma"], 2)) == (4.845, 3.74)
    assert "more than is needed" in run("calibrate", "noise", "--epsilon", "1", "--delta", "1e-5").stdout
    assert "too little" in run("calibrate", "noise", "--epsilon", "12", "--delta", "1e-5").stdout
    assert "expected_l1" not in told("noise", "--rho", "1")


def test_a_choice_is_told_with_its_chances_its_error_and_the_rows_it_takes():
    price = told("choose", "--epsilon", "1", "--scores", "2.1,3.9,0", "--sensitivity", "4.1")
    assert [round(chance, 3) for chance in price["chances"]] == [0.331, 0.412, 0.256]
    assert price["rows_needed"] == {"0.1": 73, "0.01": 728}
    assert price["behind"] == pytest.approx(29.83, abs=0.01)
    vaccine = ("choose", "--epsilon", "1", "--scores", "8,3")
    assert round(told(*vaccine)["chances"][0], 3) == 0.924
    assert told(*vaccine, "--method", "permute-and-flip")["chances"][0] > 0.95
    assert told(*vaccine, "--monotone")["behind"] == pytest.approx(told(*vaccine)["behind"] / 2)
    assert "at most" in run("calibrate", "choose", "--epsilon", "1", "--options", "10").stdout
    for wrong in (
        ["--options", "3", "--scores", "1,2"],
        [],
        ["--scores", "a,b"],
        ["--options", "3", "--sensitivity", "0"],
    ):
        run("calibrate", "choose", "--epsilon", "1", *wrong, code=2)
    run("calibrate", "choose", "--epsilon", "1", "--options", "3", "--method", "best", code=2)


def test_releases_of_a_lecture_are_added_up():
    """200 times .1: 20 by sums, 9.54 by the textbook, less by the whole law; disjoint parts cost the largest."""
    many = told("compose", "--epsilon", "0.1", "--times", "200", "--delta", "1e-6")
    ways = {way["way"]: (way["epsilon"], way["delta"]) for way in many["same_people"]}
    assert (many["releases"], ways["added up"], many["disjoint"]) == (200, (20, 0), 0.1)
    assert round(ways["the textbook's advanced composition"][0], 2) == 9.54
    assert 7 < ways["the least that is proven"][0] <= ways["added up as zCDP"][0] < 9
    side = run("calibrate", "compose", "--epsilon", "0.1", "--epsilon", "0.2", "--epsilon", "0.1").stdout
    assert "0.4" in side
    assert "the largest, epsilon = 0.2" in side
    mixed = told("compose", "--epsilon", "0.1", "--rho", "0.01", "--delta", "1e-6")
    assert {way["way"] for way in mixed["same_people"]} == {"added up as zCDP", "the least that is proven"}
    for wrong in ([], ["--rho", "0.1"], ["--epsilon", "1", "--times", "0"], ["--epsilon", "x"]):
        run("calibrate", "compose", *wrong, code=2)


def test_a_group_is_told_what_it_is_promised():
    three = told("group", "--epsilon", "1", "--delta", "1e-6", "--people", "3")
    assert three == {"people": 3, "epsilon": 3, "delta": pytest.approx(1.11073e-5, abs=5e-11)}
    assert told("group", "--epsilon", "0.1", "--people", "40")["epsilon"] == 4
    assert told("group", "--rho", "0.1", "--people", "3")["rho"] == pytest.approx(0.9)
    assert "1.110734e-5" in run("calibrate", "group", "--epsilon", "1", "--delta", "1e-6", "--people", "3").stdout
    for wrong in (["--epsilon", "1", "--people", "0"], ["--people", "2"], ["--rho", "1", "--delta", "0.1"]):
        run("calibrate", "group", *wrong, *([] if "--people" in wrong else ["--people", "2"]), code=2)


def test_a_prior_may_be_a_percentage():
    assert told("odds", "--epsilon", "ln3", "--prior", "2%") == told("odds", "--epsilon", "ln3", "--prior", "0.02")
    assert "200%" in run("calibrate", "odds", "--epsilon", "1", "--prior", "200%", code=2).stderr
    run("calibrate", "odds", "--epsilon", "1", "--prior", "%", code=2)


def test_a_number_of_options_is_refused_by_its_name():
    assert "--options" in run("calibrate", "choose", "--epsilon", "1", "--options", "0", code=2).stderr
