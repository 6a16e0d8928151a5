"""Members are told from others without a budget; under one, no better than its epsilon allows."""

import numpy as np
import pytest

pytest.importorskip("jax")

import jax.numpy as jnp

from discreet.apps.attacks import membership
from discreet.apps.attacks.membership import attack_fit, attack_model, judge_scores
from discreet.errors import InputError
from discreet.learn.shadow_scores import Lira


@pytest.fixture(scope="module")
def model():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(membership, "PRIVATE_STEPS", 20)
        return attack_model(people=100, epsilon=1, shadows=8)


def test_a_model_without_a_budget_gives_its_members_away(model):
    plain, control, private = model.targets
    assert plain.found.area > 0.75  # .88 of 900 members and others
    assert plain.found.area > plain.weaker.area  # LiRA against a threshold
    assert plain.found.members + plain.found.others == 9 * 200
    assert [one.epsilon for one in model.targets] == [None, None, 1]
    # The advantage of a guess is below 0.3, seven deviations and more, beyond what epsilon allows.
    assert private.found.advantage < model.most + 0.3
    assert private.found.area < plain.found.area
    assert control.use is not None


def test_what_was_found_is_said_with_what_no_attack_exceeds(model):
    told = model.to_dict()
    assert told["most"] == model.most
    assert "clipping and fewer steps alone leave" in model.conclusion()
    assert "LiRA with 8 shadow models" in model.explain()
    assert "DP-SGD, 1/1000 of the noise" in model.picture().to_svg()


def rows(count=60, width=80):
    chance = np.random.default_rng(5)
    return chance.normal(size=(count, width)), chance.choice([-1.0, 1.0], count)


def losses(weights, data):
    x, y = data
    return jnp.logaddexp(0, -4 * y * (x @ weights))


def test_a_model_of_ones_own_is_attacked_whatever_it_is_made_with():
    def alone(data):
        """The shortest weights that fit every row it was shown."""
        return np.linalg.lstsq(*data, rcond=None)[0]

    def together(data, weights):
        x, y = data
        return jnp.linalg.lstsq(x * weights[:, None], y * weights)[0]

    for fit, at_once in ((alone, False), (together, True)):
        found = attack_fit(fit, losses, rows(), epsilon=2, delta=1e-5, shadows=8, together=at_once, name="Mine")
        assert found.target == "Mine"
        assert found.targets[0].found.area > 0.9
        assert "a reason to audit" in found.conclusion()


def test_a_threshold_is_judged_where_losses_are_known():
    scores, members = np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, True, False, False])
    assert judge_scores(Lira(scores, members))[1] is None
    strong, weak = judge_scores(Lira(scores, members, scores))
    assert (strong.area, weak.area) == (1, 0)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("people", {"people": 10}),
        ("people", {"people": True}),
        ("epsilon", {"epsilon": 0}),
        ("shadows", {"shadows": 2}),
    ],
)
def test_an_attack_that_makes_no_sense_is_refused(field, wrong):
    with pytest.raises(InputError, match=field):
        attack_model(**wrong)
