"""Distances, clusters and cells follow from public coordinates alone."""

import numpy as np
import pytest
from commute_desk import PLACES, WHERE

from discreet.flows.commuting.land import cluster, land_of

# Land.


def test_distances_on_a_plane_and_on_the_globe():
    plane = land_of(PLACES, ["A"], WHERE, degrees=False, clusters=None, near=None, farthest=None)
    assert plane.distances.ravel().tolist() == [0, 5, 10, 50]
    cities = {"Berlin": (52.52, 13.405), "Paris": (48.857, 2.352)}
    globe = land_of(list(cities), list(cities), cities, degrees=True, clusters=None, near=None, farthest=None)
    assert globe.distances[0, 1] == pytest.approx(878, abs=2)
    assert globe.distances[0, 0] == 0


def test_clusters_follow_from_coordinates_alone():
    points = np.array([[0, 0], [1, 0], [0, 1], [50, 50], [51, 50], [100, 0.0]])
    assert len(set(cluster(points, 3)[:3])) == 1
    assert len(set(cluster(points, 3))) == 3
    assert sorted(cluster(points, 6)) == list(range(6))
    assert cluster(points, 1).tolist() == [0] * 6


def test_cells_near_and_far():
    land = land_of(
        PLACES, PLACES, WHERE, degrees=False, clusters={"A": "w", "B": "w", "C": "w", "D": "e"}, near=4, farthest=45
    )
    # Seen from A: A alone, B and C together, D too far away. From D: A too far, B and C together, D alone.
    first, last = land.cells(0), land.cells(3)
    assert first[0] != first[1] == first[2]
    assert first[3] == -1
    assert last[0] == -1
    assert last[3] != last[1] == last[2]
    assert land_of(PLACES, PLACES, WHERE, degrees=False, clusters=None, near=None, farthest=None).cells(2).tolist() == [
        0,
        1,
        2,
        3,
    ]
