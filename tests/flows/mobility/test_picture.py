"""Pictures of flows: trips by window with intervals, and between places."""

import pytest
from mobility_desk import ask, curator

from discreet.errors import InputError
from discreet.flows.mobility import picture
from discreet.flows.mobility.picture import busiest, draw_flows, pairs_of


def released(tmp_path, **how):
    return ask(curator(tmp_path), **how).plan(epsilon=8).release()


def test_pairs_are_sums_over_windows_in_the_order_of_the_places(tmp_path):
    found = released(tmp_path)
    (starts, ends), counts = pairs_of(found)
    assert (starts, ends) == (["A", "B", "C", "D"], ["A", "B", "C", "D"])
    assert counts.sum(axis=1).tolist() == [sum(found["origins"]["count"][2 * i : 2 * i + 2]) for i in range(4)]


def test_a_picture_has_a_bar_for_each_window_with_its_interval_and_a_square_for_each_pair(tmp_path):
    found = released(tmp_path)
    drawn = draw_flows(found).to_svg()
    table = found["windows"]
    for place, label in enumerate(table["hour"]):
        value, low, high = (table[f"count{end}"][place] for end in ("", "_lower", "_upper"))
        assert f"{label}: {value:,}, from {low:,} to {high:,}" in drawn
    assert f"A, B: {pairs_of(found)[1][0, 1]:,}" in drawn
    assert "Trips by" not in draw_flows(released(tmp_path / "..", window=None)).to_svg()


def test_of_many_places_the_busiest_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(picture, "MOST_PLACES", 2)
    drawn = draw_flows(released(tmp_path)).to_svg()
    assert "the busiest" in drawn
    assert "A, A: " in drawn
    assert "D, A: " not in drawn


def test_the_busiest_cells_come_first_with_their_window(tmp_path):
    found = released(tmp_path)
    most = max(found["cells"]["count"])
    first = busiest(found, 3)
    assert len(first) == 3
    assert first[0][1:3] == ["A", first[0][2]]
    assert first[0][3].startswith(f"{most:,} [")


def test_other_tables_are_refused(tmp_path):
    with pytest.raises(InputError, match="a release of flows"):
        draw_flows({"origins": released(tmp_path)["origins"]})
