"""The lecture's optimum, and counts that add up."""

from discreet.apps.demo.census_lecture import show


def test_the_optimum_and_sums_are_those_of_the_lecture():
    lecture = show()
    assert [(one.there, one.here) for one in lecture.numbers] == [("2, 0, 2 at cost 1",) * 2, ("0", "0"), ("0", "0")]
    assert "Willow" in lecture.picture.to_svg()
