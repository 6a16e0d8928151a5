"""Fixed features: the image's own, the same by both libraries, blind to what should not matter."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import InputError

# By its path: names in that folder (coverage, ...) are those of libraries too.
_SPEC = spec_from_file_location("scattering", Path(__file__).parents[2] / "bench" / "scattering.py")
assert _SPEC is not None
assert _SPEC.loader is not None
_MODULE = module_from_spec(_SPEC)
sys.modules["scattering"] = _MODULE
_SPEC.loader.exec_module(_MODULE)
Scattering, folded, morlet, pooling = _MODULE.Scattering, _MODULE.folded, _MODULE.morlet, _MODULE.pooling


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(3).random((5, 28, 28)).astype(np.float32)


def test_shapes(images):
    assert Scattering(order=1)(images).shape == (5, 17 * 49)
    assert Scattering()(images).shape == (5, 81 * 49)
    coloured = np.repeat(images[..., None], 3, axis=3)
    assert Scattering(places=4)(coloured).shape == (5, 3 * 81 * 16)
    assert Scattering()(images[:0]).shape == (0, 81 * 49)


def test_features_are_of_one_image_alone(images):
    together, alone = Scattering()(images), [Scattering()(one[None])[0] for one in images]
    np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-6)


def test_many_blocks_are_as_one():
    many = np.random.default_rng(4).random((120, 12, 12)).astype(np.float32)
    maker = Scattering(places=3)
    np.testing.assert_allclose(maker(many)[70], maker(many[70:71])[0], rtol=1e-4, atol=1e-6)


def test_a_flat_image_has_no_waves():
    found = Scattering()(np.full((1, 28, 28), 0.7)).reshape(81, 49)
    np.testing.assert_allclose(found[0], 0.7, rtol=1e-4)
    assert np.abs(found[1:]).max() < 1e-4


def test_a_grating_is_seen_in_its_own_direction():
    column = np.arange(28)
    upright = np.broadcast_to(0.5 + 0.5 * np.sin(0.75 * np.pi * column), (1, 28, 28))
    by_direction = Scattering(order=1)(upright).reshape(17, 49).mean(axis=1)[1:9]
    assert by_direction.argmax() == 0
    assert Scattering(order=1)(upright.transpose(0, 2, 1)).reshape(17, 49).mean(axis=1)[1:9].argmax() == 4


def test_the_second_order_sees_along_which_way_waves_come_and_go():
    along = np.arange(32)
    fine, slow = np.sin(0.625 * np.pi * along), 1 + np.sin(0.375 * np.pi * along)
    across = slow[:, None] * fine[None, :]
    level = slow[None, :] * fine[None, :] * np.ones((32, 1))
    found = Scattering(places=1, margin=0)(np.stack([level, across]))[:, 17:].reshape(2, 8, 8)
    assert found[0, 0, 0] > 5 * found[0, 0, 4]
    assert found[1, 0, 4] > 5 * found[0, 0, 4]


def test_jax_gives_the_same(images):
    jax = pytest.importorskip("jax")
    maker = Scattering(places=4)
    by_jax = np.asarray(jax.jit(maker.within)(images))
    assert by_jax.shape == (5, 4, 4, 81)
    np.testing.assert_allclose(np.moveaxis(by_jax, -1, 1).reshape(5, -1), maker(images), rtol=1e-3, atol=1e-5)


def test_folding_takes_every_second_sample():
    signal = np.random.default_rng(5).random((8, 8))
    np.testing.assert_allclose(np.fft.ifft2(folded(np.fft.fft2(signal), 2)), signal[::2, ::2], atol=1e-12)


def test_waves_have_mean_zero_and_windows_sum_to_one():
    assert abs(float(morlet(32, 1, 0.3, 8)[0, 0])) < 1e-6
    np.testing.assert_allclose(pooling(28, 7, 1.6).sum(axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("field", "value"), [("places", 0), ("octaves", 9), ("order", 3), ("directions", 2.5), ("margin", -1)]
)
def test_bad_settings_are_refused(field, value):
    with pytest.raises(InputError, match=field):
        Scattering(**{field: value})


def test_what_is_no_image_is_refused():
    with pytest.raises(InputError, match="images"):
        Scattering()(np.zeros((3, 4)))
