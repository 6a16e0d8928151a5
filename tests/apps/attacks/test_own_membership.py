"""Scores, losses and models of somebody's own are attacked from a file, a mapping or a module."""

import numpy as np
import pytest

from discreet.apps.attacks.own_membership import attack_module, attack_scores
from discreet.errors import InputError

MODULE = """
import numpy as np
chance = np.random.default_rng(5)
rows = chance.normal(size=(60, 80)), chance.choice([-1.0, 1.0], 60)
name = "Shortest weights"
def fit(data):
    return np.linalg.lstsq(*data, rcond=None)[0]
def losses(weights, data):
    return np.logaddexp(0, -4 * data[1] * (data[0] @ weights))
"""


def test_scores_and_losses_are_read_from_a_file(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("member,score\n1,3\nyes,2\nTRUE,2\n0,0\nno,2\nfalse,1\n")
    found = attack_scores(path, epsilon=1, delta=1e-5)
    assert found.targets[0].found.area == pytest.approx((3 + 2 * 2.5) / 9)
    losses = attack_scores({"member": [1, 1, 0, 0], "loss": [0.1, 0.2, 0.3, 0.4]})
    assert losses.targets[0].found.area == 1
    assert losses.targets[0].attack == "a threshold on the loss"


def shadowed(models=12, rows=80):
    """Losses that are lower for rows that were in, in any order."""
    chance = np.random.default_rng(3)
    inside = chance.random((models, rows)) < 0.5
    hard = chance.uniform(0.5, 3, rows)  # which hides it from a threshold
    losses = hard * np.where(inside, 0.8, 1.0)
    order = chance.permutation(models * rows)
    model, row = np.divmod(order, rows)
    return {
        "model": [f"m{one}" for one in model],
        "row": row.tolist(),
        "member": inside.ravel()[order].astype(int).tolist(),
        "loss": losses.ravel()[order].tolist(),
    }


def test_losses_of_several_models_are_attacked_with_shadows():
    found = attack_scores(shadowed()).targets[0]
    assert found.attack == "LiRA with 11 shadow models"
    assert found.found.area > 0.95
    assert found.weaker.area < 0.8


def test_a_module_is_attacked(tmp_path):
    pytest.importorskip("jax")
    path = tmp_path / "mine.py"
    path.write_text(MODULE)
    found = attack_module(str(path), epsilon=2, shadows=8)
    assert found.target == "Shortest weights"
    assert found.targets[0].found.area > 0.9
    path.write_text(MODULE.replace("def fit(data)", "def fit(data, more, most)"))
    with pytest.raises(InputError, match=r"module\.fit.*3 arguments"):
        attack_module(str(path))
    path.write_text("rows = ()")
    with pytest.raises(InputError, match=r"module\.losses"):
        attack_module(str(path))


def without(name):
    return {key: value for key, value in shadowed().items() if key != name}


@pytest.mark.parametrize(
    ("field", "table", "settings"),
    [
        ("scores", without("loss"), {}),
        ("scores", {key: value[1:] for key, value in shadowed().items()}, {}),
        ("scores", shadowed(models=5), {}),
        ("member", {"member": [1, 7, 0], "score": [1, 2, 3]}, {}),
        ("score", {"member": [1, 1, 0], "score": ["a", "b", "c"]}, {}),
        ("members", {"member": [0, 0, 0], "score": [1, 2, 3]}, {}),
        ("epsilon", {"member": [1, 1, 0, 0], "score": [1, 2, 3, 4]}, {"epsilon": 0}),
        ("delta", {"member": [1, 1, 0, 0], "score": [1, 2, 3, 4]}, {"delta": 1}),
    ],
)
def test_what_cannot_be_judged_is_refused(field, table, settings):
    with pytest.raises(InputError, match=field):
        attack_scores(table, **settings)


def test_no_value_of_a_table_stands_in_an_error():
    with pytest.raises(InputError) as problem:
        attack_scores({"member": ["secretly", "1", "0"], "score": [1, 2, 3]})
    assert "secretly" not in str(problem.value)
