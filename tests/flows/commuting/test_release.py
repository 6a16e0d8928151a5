"""Synthetic commuters: one charge, rows that look like the true ones, distances and pictures."""

from dataclasses import replace

import numpy as np
import pytest
from commute_desk import PLACES, SIZES, ask, commuters, curator, truth

from discreet.curator import read_release
from discreet.errors import InputError

# The whole way.


def test_rows_are_made_and_one_charge_pays(tmp_path):
    desk = curator(tmp_path)
    offer = ask(desk).plan(epsilon=4)
    found = offer.release(release="jobs")
    assert found.flows.min() >= 0
    assert np.abs(found.flows - truth(commuters())).max() < 60
    rows = found.to_arrow()
    assert rows.column_names == ["home", "work"]
    assert len(rows) == len(found) == found.flows.sum()
    assert np.array_equal(truth(rows), found.flows)
    assert found.to_pandas().shape == (len(found), 2)
    assert [record.kind for record in desk.ledger.records()].count("charge") == 1
    assert desk.ledger.remaining("jobs").amount == 6
    with pytest.warns(UserWarning, match="may describe earlier data"):
        again = offer.release(release="jobs")
    assert np.array_equal(again.flows, found.flows)
    assert len(again.notes) == len(found.notes) + 1
    assert np.array_equal(read_release(desk.ledger, "jobs").flows, found.flows)
    assert desk.ledger.remaining("jobs").amount == 6
    assert "made-up rows" in repr(found)
    with pytest.raises(InputError, match="stored release"):
        read_release(desk.ledger, "none")


def test_mean_distances_and_pictures(tmp_path):
    found = ask(curator(tmp_path)).plan(epsilon=4).release()
    assert found.distances[0].tolist() == [0, 5, 10, 50]
    means = found.mean_distances()
    by_hand = (found.flows[:, 0] * np.array([0, 5, 10, 50])).sum() / found.flows[:, 0].sum()
    assert means["A"] == pytest.approx(by_hand)
    alone = found.plot()
    assert len(alone.table.rows) == 4
    assert 'class="diagonal"' not in alone.to_svg()
    beside = found.plot(true=dict.fromkeys(PLACES, 7.0))
    assert {row[1] for row in beside.table.rows} == {"7"}
    assert 'class="diagonal"' in beside.to_svg()
    with pytest.raises(InputError):
        found.plot(true={"A": 1.0})


@pytest.mark.parametrize("method", ["modern", "classic"])
def test_nobody_comes_from_too_far(tmp_path, method):
    found = ask(curator(tmp_path), farthest=20).plan(epsilon=4, method=method).release()
    assert found.flows[3, :3].sum() == found.flows[:3, 3].sum() == 0
    assert found.flows[:3, :3].sum() > 1500


def test_clusters_share_alike(tmp_path):
    found = ask(curator(tmp_path), sizes=SIZES, clusters={"A": 1, "B": 1, "C": 2, "D": 2}).plan(
        epsilon=8, method="classic", prior="pure"
    )
    flows = found.release().flows
    assert np.abs(flows[0] - flows[1]).max() <= 1
    assert np.abs(flows[2] - flows[3]).max() <= 1
    assert abs(int(flows[:2].sum()) - 2400) < 300


@pytest.mark.parametrize(("method", "words"), [("modern", "curator.publish"), ("classic", "draws were not stored")])
def test_a_release_without_laws_says_what_helps(tmp_path, method, words):
    found = replace(ask(curator(tmp_path)).plan(epsilon=4, method=method).release(), measured=None)
    with pytest.raises(InputError, match=words):
        found.table("flows")
    assert list(found.tables()) == ["rows"]
