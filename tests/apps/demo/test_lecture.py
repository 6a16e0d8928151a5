"""Lectures that run: each ends in a picture, with the lecture's number beside ours."""

import pytest
from shell import run

from discreet.apps.demo import LECTURES
from discreet.apps.demo.lecture import Beside, draw_choices, run_lecture
from discreet.errors import InputError
from discreet.noise.replay import Replay


def test_there_is_a_file_for_every_lecture():
    from importlib.util import find_spec

    assert all(find_spec(f"discreet.apps.demo.{name}_lecture") for name in LECTURES)


def test_a_lecture_nobody_gives_is_refused_and_the_nearest_named():
    with pytest.raises(InputError, match=r"Did you mean `?census"):
        run_lecture("cenus")


def test_a_number_stands_beside_ours():
    assert str(Beside("2% after a yes", ".0577", "0.0577")) == "2% after a yes: .0577 in the lecture, 0.0577 here"


def test_choices_follow_their_shares_and_are_the_same_each_time():
    drawn = draw_choices(Replay(b"one"), 10_000, [3, 0, 1])
    assert (drawn == draw_choices(Replay(b"one"), 10_000, [3, 0, 1])).all()
    assert 7200 < (drawn == 0).sum() < 7800
    assert not (drawn == 1).any()


def test_a_lecture_on_the_command_line_leaves_a_picture(tmp_path):
    said = run("demo", "--lecture", "reconstruction", "--folder", str(tmp_path / "new")).stdout
    assert "near 100% in the lecture" in said
    assert "reconstruction.svg" in said
    assert (tmp_path / "new" / "reconstruction.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("more", [["--serve"], ["--port", "8001"]])
def test_a_lecture_is_not_served(more, tmp_path):
    said = run("demo", "--lecture", "survey", "--folder", str(tmp_path), *more, code=2).stderr
    assert "must be without --serve and --port" in said
    assert list(tmp_path.iterdir()) == []
