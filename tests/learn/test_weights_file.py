"""Files of weights: what is written is read back bit for bit, by others too, and a damaged file says so."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import json
import zipfile

import jax.numpy as jnp
import numpy as np
from train_people import FIXED, table

from discreet.errors import InputError
from discreet.learn.weights_file import ENDINGS, names_of, read_weights, write_weights

KINDS = [
    "float32",
    "float64",
    "float16",
    "int32",
    "int64",
    "int16",
    "int8",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
]
PARAMS = {"body": [np.arange(6, dtype=np.float32).reshape(2, 3)], "head": {"w": np.ones((3, 1)), "b": np.zeros(())}}


def weights():
    chance = np.random.default_rng(1)
    found = {kind: chance.integers(0, 2, (3, 2)).astype(kind) for kind in KINDS}
    return {**found, "none": np.zeros((0, 4), np.float32), "one": np.float32(3), "turned": found["float32"].T}


@pytest.mark.parametrize("ending", ENDINGS)
def test_weights_are_read_back_bit_for_bit(tmp_path, ending):
    kept = weights()
    path = write_weights(tmp_path / f"w{ending}", kept)
    found = read_weights(path)
    assert sorted(found) == sorted(kept)
    for name, array in kept.items():
        assert found[name].dtype == np.asarray(array).dtype
        assert np.array_equal(found[name], array)


@pytest.mark.parametrize("ending", ENDINGS)
def test_weights_take_the_shape_of_a_model(tmp_path, ending):
    named = dict(zip(names_of(PARAMS), [PARAMS["body"][0], PARAMS["head"]["b"], PARAMS["head"]["w"]], strict=True))
    path = write_weights(tmp_path / f"w{ending}", named)
    found = read_weights(path, like=PARAMS)
    assert np.array_equal(found["body"][0], PARAMS["body"][0])
    assert found["head"]["b"].shape == ()
    with pytest.raises(InputError, match="without"):
        read_weights(path, like={**PARAMS, "tail": np.zeros(1)})
    with pytest.raises(InputError, match="with"):
        read_weights(path, like={"body": PARAMS["body"]})
    with pytest.raises(InputError, match="of shape"):
        read_weights(path, like={**PARAMS, "body": [np.zeros((3, 2))]})


def test_half_numbers_of_jax_are_kept(tmp_path):
    kept = jnp.arange(5, dtype=jnp.bfloat16)
    found = read_weights(write_weights(tmp_path / "w.safetensors", {"a": kept}))["a"]
    assert found.dtype == kept.dtype
    assert np.array_equal(found, kept)


def test_other_programs_read_and_write_the_same(tmp_path):
    numpy_side = pytest.importorskip("safetensors.numpy")
    kept = {name: np.ascontiguousarray(array) for name, array in weights().items()}
    found = numpy_side.load_file(write_weights(tmp_path / "ours.safetensors", kept, {"epsilon": "1"}))
    assert sorted(found) == sorted(kept)
    assert all(np.array_equal(found[name], array) and found[name].dtype == array.dtype for name, array in kept.items())
    numpy_side.save_file(kept, tmp_path / "theirs.safetensors", {"by": "others"})
    again = read_weights(tmp_path / "theirs.safetensors")
    assert all(np.array_equal(again[name], array) for name, array in kept.items())
    with pytest.importorskip("safetensors").safe_open(tmp_path / "ours.safetensors", "numpy") as file:
        assert file.metadata() == {"epsilon": "1"}


def damaged(content: bytes) -> list[bytes]:
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    found = [b"", content[:4], content[:20], content[:-1], (2**60).to_bytes(8, "little") + content[8:]]
    for change in (
        {"dtype": "F99"},
        {"shape": [9]},
        {"shape": ["a"]},
        {"data_offsets": [0, 10**9]},
        {"data_offsets": [4]},
    ):
        text = json.dumps({"a": {**header["a"], **change}}).encode()
        found.append(len(text).to_bytes(8, "little") + text + content[8 + size :])
    entry = json.dumps(header["a"])
    texts = [
        b"[1]",
        b"[" * 100_000,  # deeper than a parser goes
        f'{{"a":{entry},"a":{entry}}}'.encode(),
        json.dumps({"a": header["a"], "b": header["a"]}).encode(),  # both of the same bytes
        json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode(),  # bytes of no array
        json.dumps({"a": {"dtype": "F32", "shape": [0, 10**30], "data_offsets": [0, 0]}}).encode(),
    ]
    return [*found, *(len(text).to_bytes(8, "little") + text + content[8 + size :] for text in texts)]


def test_a_damaged_file_is_refused(tmp_path):
    path = write_weights(tmp_path / "w.safetensors", {"a": np.ones(3, np.float32)})
    for content in damaged(path.read_bytes()):
        path.write_bytes(content)
        with pytest.raises(InputError, match="undamaged"):
            read_weights(path)
    (tmp_path / "w.npz").write_bytes(b"PK nothing")
    with pytest.raises(InputError, match="undamaged"):
        read_weights(tmp_path / "w.npz")


@pytest.mark.parametrize("held", [np.array(["word"]), np.array([{}]), np.zeros(2, [("a", "f4")])])
def test_an_archive_of_something_else_than_numbers_is_refused(tmp_path, held):
    np.savez(tmp_path / "w.npz", a=held)
    with pytest.raises(InputError, match="undamaged"):
        read_weights(tmp_path / "w.npz")


def test_an_archive_with_a_file_that_is_no_array_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "w.npz", "w") as file:
        file.writestr("a.txt", "word")
    with pytest.raises(InputError, match="undamaged"):
        read_weights(tmp_path / "w.npz")


@pytest.mark.parametrize("ending", ENDINGS)
def test_weights_may_have_any_name_and_kind(tmp_path, ending):
    kept = {name: jnp.ones(2, jnp.bfloat16) for name in ("file", "allow_pickle", "self", "a/b")}
    found = read_weights(write_weights(tmp_path / f"w{ending}", kept))
    assert sorted(found) == sorted(kept)
    assert all(array.tolist() == [1.0, 1.0] for array in found.values())


def test_what_cannot_be_a_file_of_weights_is_refused(tmp_path):
    for path in (tmp_path / "w.bin", tmp_path / "absent.npz", tmp_path):
        with pytest.raises(InputError, match="ending"):
            read_weights(path)
    with pytest.raises(InputError, match="folder that exists"):
        write_weights(tmp_path / "absent" / "w.npz", {"a": np.ones(1)})
    with pytest.raises(InputError, match="path of a file; got a whole number"):
        read_weights(5)
    with pytest.raises(InputError, match=r"ends in .npz or .safetensors"):
        write_weights(tmp_path / "w.bin", {"a": np.ones(1)})
    with pytest.raises(InputError, match="arrays of numbers"):
        write_weights(tmp_path / "w.safetensors", {"a": np.array(["word"])})


def test_a_release_is_saved_and_read_back_in_one_line(curator, tmp_path):
    model = curator.train(target="rich", examples=400, **FIXED).plan().release(release="first")
    for ending in ENDINGS:
        model.save(tmp_path / f"model{ending}")
        params = read_weights(tmp_path / f"model{ending}", like=model.params)
        assert np.array_equal(params[0]["w"], model.params[0]["w"])
    content = (tmp_path / "model.safetensors").read_bytes()
    about = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
    assert (about["release"], about["protects"]) == ("first", "one row, added or removed")
    assert curator.release("first").predict(table(5)) == model.predict(table(5))
