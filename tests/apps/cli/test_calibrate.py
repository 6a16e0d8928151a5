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
