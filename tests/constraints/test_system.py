"""Measurements and constraints: what contradicts itself is named, what is not allowed is refused."""

import numpy as np
import pytest

from discreet.constraints.projection import project
from discreet.constraints.system import AtMost, Between, Equal, Measurement, conflict, stack
from discreet.errors import InputError

COUNTS = Between("counts")


def test_constraints_that_contradict_each_other_are_named():
    noisy = Measurement("cells", None, [5, -2, 3, 8])
    zones = Equal("zones", [[1, 1, 0, 0], [0, 0, 1, 0]], [4, 2], labels=["north", "south"])
    hours = Equal("hours", [[1, 1, 1, 0]], [10], labels=["morning"])
    harmless = AtMost("cap", [[0, 0, 0, 1]], [100])
    for solver in ("auto", "osqp", "clarabel"):
        with pytest.raises(InputError, match="zones") as caught:
            project([noisy], [harmless, zones, hours, COUNTS], solver=solver)
        for name in ("zones[north]", "zones[south]", "hours[morning]"):
            assert name in str(caught.value)
        assert "cap" not in str(caught.value)
    with pytest.raises(InputError, match=r"zones\[north\] and counts"):
        project([noisy], [Equal("zones", [[1, 1, 0, 0]], [-4], ["north"]), COUNTS])
    with pytest.raises(InputError, match=r"zones\[north\]"):
        project([noisy], [zones, hours, COUNTS], whole=True)


def test_what_is_named_contradicts_itself_without_the_rest():
    caught = 0
    for seed in range(20):
        chance = np.random.default_rng(seed)
        known = [
            Equal("e", chance.integers(0, 2, (4, 6)), chance.integers(0, 9, 4)),
            AtMost("g", chance.integers(0, 3, (4, 6)), chance.integers(0, 9, 4)),
            Between("b", 0, 5),
        ]
        why = conflict(known, 6)
        if why is None:
            assert project([Measurement("cells", None, np.ones(6))], known).violation < 1e-4
            continue
        caught += 1
        system = stack(known, 6)
        rows = [row for row, name in enumerate(system.names) if name in why.names]
        low, high = system.below[rows], system.above[rows]
        finite = np.isfinite(low)
        alone = [AtMost("above", system.rows[rows], high), COUNTS if "b" not in why.names else known[2]]
        if finite.any():
            alone.append(AtMost("below", -system.rows[rows][finite], -low[finite]))
        assert conflict(alone, 6) is not None
    assert caught > 3


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: Measurement("cells", None, [1, float("nan")]), "cells.values"),
        (lambda: Measurement("cells", None, []), "cells.values"),
        (lambda: Measurement("cells", None, ["a"]), "cells.values"),
        (lambda: Measurement("", None, [1]), "measurement.name"),
        (lambda: Measurement("cells", None, [1, 2], weight=-1), "cells.weight"),
        (lambda: Measurement("cells", None, [1, 2], weight=[1, float("inf")]), "cells.weight"),
        (lambda: Measurement("cells", None, [1, 2], variance=0), "cells.variance"),
        (lambda: Measurement("cells", None, [1, 2], variance=[1, 2, 3]), "cells.variance"),
        (lambda: Measurement("cells", [[1, 2]], [1, 2]), "cells.matrix"),
        (lambda: Measurement("cells", [[1, np.nan]], [1]), "cells.matrix"),
        (lambda: Measurement("cells", "abc", [1]), "cells.matrix"),
        (lambda: Equal("totals", [[1, 1]], [np.inf]), "totals.values"),
        (lambda: AtMost("limits", [[1, 1]], [1], labels=["a", "b"]), "limits.labels"),
        (lambda: Between("range", np.nan), "range.lower"),
        (lambda: project([]), "measurements"),
        (lambda: project([[1, 2, 3]]), "measurements"),
        (lambda: project([Measurement("a", None, [1])], solver="excel"), "solver"),
        (lambda: project([Measurement("a", None, [1])], seconds=0), "seconds"),
        (lambda: project([Measurement("a", None, [1, 2])], [Equal("t", [[1, 1, 1]], [3])]), "t.matrix"),
        (lambda: project([Measurement("a", None, [1, 2])], [Between("b", [0, 0, 0])]), "b.lower"),
        (lambda: project([Measurement("a", None, [1, 2])], [Between("b", 3, 1)]), "b"),
        (lambda: project([Measurement("a", None, [1]), Measurement("b", None, [1, 2])]), "measurements"),
    ],
)
def test_what_is_not_allowed_is_refused_by_name(build, field):
    with pytest.raises(InputError) as caught:
        build()
    assert caught.value.field == field
