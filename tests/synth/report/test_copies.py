"""Other tables from the same counts stray more where there is more noise, and keep to what can be."""

from __future__ import annotations

import numpy as np

from discreet.noise.replay import Replay
from discreet.synth.report.copies import draws, trials


def test_copies_stray_more_where_there_is_more_noise(curator):
    spreads = []
    for epsilon in (0.2, 6):
        release = curator.synthesize("independent", columns=["age", "sex", "works"]).plan(epsilon=epsilon).release()
        # Spreads are 30 to 1 on average. Of 10 copies each it is less than 2 to 1 once in 10^9 runs, of 4 in 10^4.
        first = release.report(["age >= 50"], copies=10).figures.asks[0]
        spreads.append(first.about[1] - first.about[0])
        parts = (release.domain, release.declared, release.impossible, release.made)
        one, two = draws(*parts, 2, Replay(b"x"))
        assert not np.array_equal(one.codes, two.codes)
        assert len(one.codes) == len(release)
        tried = next(iter(trials(*parts, release.codes, 1, Replay(b"y"))))
        release.domain.check(tried.codes)
    assert spreads[0] > 2 * spreads[1]


def test_copies_keep_to_what_can_be(release):
    parts = (release.domain, release.declared, release.impossible, release.made)
    for one in [*draws(*parts, 1, Replay(b"x")), *trials(*parts, release.codes, 1, Replay(b"y"))]:
        assert not ((one.codes[:, 0] < 16) & (one.codes[:, 2] == 1)).any()
