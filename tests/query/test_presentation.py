"""What happens to a released table: rows filtered, sorted, cut; columns chosen and renamed. The release stays whole."""

from discreet.core.release import Release
from discreet.data.expression import col
from discreet.query.presentation import Order, Presentation


def test_after_filters_sorts_cuts_and_renames():
    release = Release(
        id="r",
        dataset="d",
        columns={"k": ["a", None, "c"], "n": [5, 1, 9], "n_lower": [4, 0, 8], "n_upper": [6, 2, 10]},
        keys=("k",),
        outputs=("n",),
        confidence=0.95,
        cost="",
        mechanism="",
        digest="",
    )
    after = Presentation((("n", "rows"), ("k", "name")), having=col("n") >= 2, order=(Order("n", True),), limit=1)
    assert after.apply(release).columns == {"rows": [9], "rows_lower": [8], "rows_upper": [10], "name": ["c"]}
    assert Presentation(order=(Order("k"),)).apply(release).columns["k"] == ["a", "c", None]
    assert release.columns["n"] == [5, 1, 9]
