"""What was measured of groups says all that is published."""

import numpy as np
import pytest
from group_desk import GROUPS, ask, curator

from discreet.errors import InputError
from discreet.trees.detail.measurement import COUNT, KEYS


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    desk = curator(tmp_path_factory.mktemp("groups"))
    return desk, ask(desk).plan(epsilon=5, thresholds={"sex": 3, "sex by age": 9}).release(release="groups")


def test_the_table_follows_from_the_noisy_numbers(made):
    _, release = made
    columns = release.known.columns(release.confidence)
    assert {name: release.columns[name] for name in columns} == columns
    assert list(columns) == [*KEYS, COUNT, f"{COUNT}_lower", f"{COUNT}_upper"]
    wider = release.known.columns(0.999)
    assert wider[COUNT] == columns[COUNT]
    assert sum(wider[f"{COUNT}_upper"]) > sum(columns[f"{COUNT}_upper"])


def test_detail_is_chosen_by_the_first_look_alone(made):
    _, release = made
    for look in release.known.looks:
        reached = (look.first[:, None] >= np.array(look.thresholds)).sum(axis=1)
        assert look.choice.tolist() == reached.tolist()
        assert len(look.alone) == (look.choice == 0).sum()
        assert len(look.choice) % len(GROUPS) == 0


def test_a_record_of_an_earlier_version_says_how_to_go_on(made):
    from dataclasses import replace

    desk, release = made
    older = replace(release, measured=None)
    with pytest.raises(InputError, match="Publish it again for free"):
        older.sum()
    again = desk.publish("groups", confidence=0.8)
    assert again.sum().value == release.sum().value
