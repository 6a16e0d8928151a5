"""What a membership attack found is said beside what an epsilon allows, and drawn on logarithmic scales."""

import numpy as np

from discreet.apps.attacks.exposure import Exposed, Exposure
from discreet.risk.membership import judge_membership, most_named


def judged(gap, many=2000):
    return judge_membership(np.arange(float(many)), np.arange(float(many)) - gap * many)


def both():
    targets = (
        Exposed("no budget", None, judged(0.4), "LiRA", judged(0.1), "a threshold", 0.9),
        Exposed("epsilon = 1", 1.0, judged(0.005), "LiRA", use=0.7),
    )
    return Exposure("A network", targets, 1.0, 1e-5, "accuracy", "noise covers anyone")


def test_every_target_is_said_with_what_it_is_good_for():
    first, second = both().details()
    assert first.startswith("A network, no budget (accuracy 90.0%), by LiRA.")
    assert "A threshold identifies 11.0% there." in first
    assert "accuracy 70.0%" in second


def test_the_conclusion_has_what_no_attack_exceeds_and_why():
    found = both()
    assert found.most_named == most_named(0.01, 1, 1e-5)
    said = found.conclusion()
    assert "identifies 41.0% of the members (no budget), and 1.5% under epsilon = 1" in said
    assert "no attack identifies more than 2.72% on average: noise covers anyone." in said
    assert found.to_dict()["most"] == found.targets[0].found.at_most(1, 1e-5)


def test_scores_of_ones_own_are_compared_with_a_claim_and_refute_nothing_by_themselves():
    def own(gap):
        return Exposure("Your model", (Exposed("as given", None, judged(gap), "scores"),), 1.0, 0.0, "", "")

    assert "and this is more: a reason to audit" in own(0.4).conclusion()
    assert "which shows nothing of other attacks" in own(0.001).conclusion()


def test_curves_begin_where_a_few_are_accused_and_the_edge_is_a_broken_line():
    drawn = both().picture()
    svg = drawn.to_svg()
    assert "the most that epsilon = 1 allows" in svg
    assert "no budget: a threshold" in svg
    assert "dashed" in svg
    rates = [float(row[1]) for row in drawn.table.rows if row[0] == "no budget"]
    assert min(rates) == 0.005  # ten of two thousand; five of them would be 0.0025
    assert max(rates) == 1
