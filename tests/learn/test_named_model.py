"""Code that a person names: imported from their own folder, and refused with what it raised."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import sys

from discreet.errors import InputError
from discreet.learn.model import Model
from discreet.learn.named_model import load_model, load_optimizer

CODE = """
import optax
from discreet.learn import Model

def apply(params, x):
    return x @ params

net = Model(apply, lambda inputs, outputs: 0 * __import__("jax").numpy.ones((inputs, outputs)), name="mine")
pace = optax.adam(optax.cosine_decay_schedule(0.1, 20))

class Nets:
    small = net

def make():
    return net

def fails():
    raise ValueError("no weights here")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "own_code_of_a_test.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("own_code_of_a_test", None)


@pytest.mark.parametrize("name", ["net", "Nets.small", "make"])
def test_a_model_is_found_by_its_name(folder, name):
    before = list(sys.path)
    model = load_model(f"own_code_of_a_test:{name}")
    assert isinstance(model, Model)
    assert model.name == "mine"
    assert sys.path == before


def test_an_optimizer_is_found_by_its_name(folder):
    assert load_optimizer("own_code_of_a_test:pace").init is not None
    with pytest.raises(InputError, match="one of optax"):
        load_optimizer("own_code_of_a_test:net")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no_such_module:net", "No module named"),
        ("own_code_of_a_test:absent", "has no attribute"),
        ("own_code_of_a_test:", "MODULE:OBJECT"),
        (":net", "MODULE:OBJECT"),
        ("own_code_of_a_test:fails", "no weights here"),
        ("own_code_of_a_test:pace", "the name of a discreet.learn.Model"),
        ("own_code_of_a_test:apply", "missing 2 required"),
    ],
)
def test_what_is_no_model_is_refused_with_its_own_words(folder, name, said):
    with pytest.raises(InputError, match=said) as caught:
        load_model(name)
    assert caught.value.field == "model"
