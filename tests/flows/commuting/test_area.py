"""A work area: homes and profile with intervals, a map, a page."""

import numpy as np
import pytest
from commute_desk import PLACES, WHERE, ask, commuters, curator, truth

from discreet import Budget, bins
from discreet.errors import InputError

HOURS = bins("hour", [0, 8, 16, 24])


@pytest.fixture(scope="module", params=["modern", "classic"])
def released(request, tmp_path_factory):
    desk = curator(tmp_path_factory.mktemp("area"), budget=Budget(epsilon=10**7))
    return ask(desk, profile=[HOURS]).plan(epsilon=10**5, method=request.param).release()


def test_homes_are_the_flows_to_the_area_and_add_up(released):
    one, both = released.area("B"), released.area("B", "D")
    assert one.homes["count"] == released.flows[:, 1].tolist()
    assert both.homes["count"] == released.flows[:, [1, 3]].sum(axis=1).tolist()
    assert sum(both.homes["share"]) == pytest.approx(1)
    exact = truth(commuters())[:, [1, 3]].sum(axis=1)
    for place, (low, high) in enumerate(zip(both.homes["count_lower"], both.homes["count_upper"], strict=True)):
        assert low <= exact[place] <= high
        assert both.homes["share_lower"][place] <= exact[place] / exact.sum() <= both.homes["share_upper"][place]
    assert one.homes.keys == ("home",)
    assert np.array(both.profile["count"]).sum() == sum(both.homes["count"])
    assert set(both.profile["work area"]) == {"B, D"}


def test_intervals_of_a_single_place_are_those_of_its_flows(released):
    flows = released.table("flows")
    here = [place for place, work in enumerate(flows["work"]) if work == "C"]
    for end in ("count_lower", "count_upper"):
        assert released.area("C").homes[end] == [flows[end][place] for place in here]


def test_the_map_has_every_home_with_its_interval_and_a_line_from_there(released):
    drawn = released.area("A").map().to_svg()
    homes = released.area("A").homes
    value, low, high = (homes[f"count{end}"][1] for end in ("", "_lower", "_upper"))
    assert f"B: {value:,}, from {low:,} to {high:,}" in drawn
    assert f"B to A: {value:,}" in drawn
    assert "A: work area" in drawn


def test_the_page_holds_map_profile_and_homes_and_asks_for_nothing(released, tmp_path):
    text = released.area("A").save(tmp_path / "a.html").read_text()
    for part in ("Work area: A", "Who works there", "Where they live", "0..8", "<svg", "default-src"):
        assert part in text
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    with pytest.raises(InputError, match="html"):
        released.area("A").save(tmp_path / "a.txt")


@pytest.mark.parametrize("work", [(), ("nowhere",), ("A", "A")])
def test_areas_that_are_none_are_refused(released, work):
    with pytest.raises(InputError) as caught:
        released.area(*work)
    assert caught.value.field == "work"


def test_public_sizes_are_the_whole_that_shares_are_of(tmp_path):
    desk = curator(tmp_path, budget=Budget(epsilon=10**7))
    sizes = dict(zip(PLACES, truth(commuters()).sum(axis=0).tolist(), strict=True))
    found = ask(desk, sizes=sizes).plan(epsilon=10**5).release()
    homes = found.area("A").homes
    assert homes["share_upper"] == pytest.approx(np.array(homes["count"]) / sizes["A"], abs=1e-9)
    assert found.area("A").profile is None
    assert found.points.origins.tolist() == [list(WHERE[place]) for place in PLACES]
