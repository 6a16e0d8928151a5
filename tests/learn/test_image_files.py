"""Images with labels out of folders and arrays; what does not fit is refused."""

from __future__ import annotations

import numpy as np
import pytest
from png_files import written

from discreet.errors import InputError
from discreet.learn.image_files import read_images

CLASSES = ["cat", "dog"]


@pytest.fixture
def pixels():
    return np.random.default_rng(3).integers(0, 256, (4, 6, 5, 3), dtype=np.uint8)


def test_a_folder_for_each_class(tmp_path, pixels):
    for name in CLASSES:
        (tmp_path / name).mkdir()
    written(tmp_path / "cat" / "a.png", pixels[0])
    np.save(tmp_path / "cat" / "b.npy", pixels[1])
    np.savez(tmp_path / "dog" / "c.npz", pixels[2:])
    found = read_images(tmp_path, CLASSES)
    assert found.y.tolist() == [0, 0, 1, 1]
    assert np.allclose(found.x, (pixels / 255 - 0.5) * 4, atol=1e-6)
    assert (len(found), found.shape) == (4, (6, 5, 3))
    (tmp_path / "cats").mkdir()
    with pytest.raises(InputError, match="Did you mean `cat`"):
        read_images(tmp_path, CLASSES)


def test_a_class_without_images_is_still_a_class(tmp_path, pixels):
    (tmp_path / "dog").mkdir()
    written(tmp_path / "dog" / "a.png", pixels[0])
    assert read_images(tmp_path, CLASSES).y.tolist() == [1]


@pytest.mark.parametrize(("x", "y"), [("images", "labels"), ("x", "y")])
def test_arrays_in_a_file_by_either_name(tmp_path, pixels, x, y):
    np.savez(tmp_path / "all.npz", **{x: pixels, y: np.array(["dog", "cat", "cat", "dog"])})
    assert read_images(tmp_path / "all.npz", CLASSES).y.tolist() == [1, 0, 0, 1]
    grey = pixels[..., 0] / 255
    np.savez(tmp_path / "grey.npz", **{x: grey, y: np.array([0, 1, 1, 0])})
    found = read_images(tmp_path / "grey.npz", CLASSES)
    assert found.shape == (6, 5, 1)
    assert np.allclose(found.x[..., 0], (grey - 0.5) * 4, atol=1e-6)


def test_arrays_in_two_files(tmp_path, pixels):
    np.save(tmp_path / "images.npy", pixels)
    np.save(tmp_path / "labels.npy", np.array([0, 1, 0, 1]))
    assert read_images(tmp_path, CLASSES).y.tolist() == [0, 1, 0, 1]


def test_what_does_not_fit_is_refused(tmp_path, pixels):
    def saved(x, y):
        np.savez(tmp_path / "all.npz", x=x, y=y)
        return tmp_path / "all.npz"

    right = np.array([0, 1, 0, 1])
    for x, y, words in (
        (pixels, right[:3], "one label for each"),
        (pixels, right + 1, "out of range"),
        (pixels, np.array(["cat"] * 3 + ["cow"]), "no class"),
        (pixels, right / 2, "no class"),
        (pixels[0, 0], right, "along the first axis"),
        (pixels / 100, right, "numbers from 0 to 1"),
        (pixels[..., :2], right, "three colours"),
        (pixels.astype(np.uint16), right, "bytes, or numbers"),
        (pixels > 100, right, "bytes, or numbers"),
        (pixels[:0] / 255, right[:0], "bytes, or numbers"),
    ):
        with pytest.raises(InputError, match=words):
            read_images(saved(x, y), CLASSES)
    with pytest.raises(InputError, match="each once"):
        read_images(saved(pixels, right), ["cat", "cat"])
    for path in ("nowhere", "all.txt"):
        with pytest.raises(InputError, match="a folder of images"):
            read_images(tmp_path / path, CLASSES)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="in folders named cat, dog"):
        read_images(tmp_path / "empty", CLASSES)
    np.savez(tmp_path / "other.npz", a=pixels)
    with pytest.raises(InputError, match="images and labels, or x and y"):
        read_images(tmp_path / "other.npz", CLASSES)
    (tmp_path / "bad.npz").write_bytes(b"no archive")
    with pytest.raises(InputError, match="that numpy reads"):
        read_images(tmp_path / "bad.npz", CLASSES)


def test_images_of_two_sizes_are_refused(tmp_path, pixels):
    (tmp_path / "cat").mkdir()
    written(tmp_path / "cat" / "a.png", pixels[0])
    written(tmp_path / "cat" / "b.png", pixels[1][:3])
    with pytest.raises(InputError, match="images of one size"):
        read_images(tmp_path, CLASSES)


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_arrays_that_are_empty_cut_off_or_no_arrays_are_refused(tmp_path, pixels, name):
    (tmp_path / "cat").mkdir()
    file = tmp_path / "cat" / name
    (np.save if name == "a.npy" else np.savez_compressed)(file, pixels)
    whole = file.read_bytes()
    wrong = [b"", whole[:20], whole[:-20], b"PK\x03\x04no archive"]
    if name == "a.npz":
        broken = bytearray(whole)
        broken[len(whole) // 2] ^= 255
        wrong.append(bytes(broken))
    for content in wrong:
        file.write_bytes(content)
        with pytest.raises(InputError, match="that numpy reads"):
            read_images(tmp_path, CLASSES)
        alone = tmp_path / "alone.npz"
        alone.write_bytes(content)
        with pytest.raises(InputError, match="npz file"):
            read_images(alone, CLASSES)
