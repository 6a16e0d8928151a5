"""Outputs of mechanisms as numbers, and runs that come in batches."""

from __future__ import annotations

import numpy as np

from discreet.audit.outputs import as_outputs, buffered


def test_outputs_of_any_shape_become_numbers():
    coded = as_outputs([[1], [1, 2], [], [3]], 4)
    assert coded.shape == (4, 1)
    assert len(set(coded.ravel().tolist())) == 4
    assert (coded == as_outputs([[1], [1, 2], [], [3]], 4)).all()
    assert as_outputs(np.array([2**64 - 1], dtype=np.uint64), 1).dtype == np.int64
    assert as_outputs([[True, False]] * 3, 3).tolist() == [[1, 0]] * 3
    one, same = as_outputs([{"b": 1, "a": 2}, {"a": 2, "b": 1}], 2).ravel()
    assert one == same  # the order of keys is no output


def test_runs_that_come_in_batches_are_kept():
    made = []

    def batch():
        made.append(1)
        return [len(made) * 10 + i for i in range(4)]

    run = buffered(batch)
    assert run(3).tolist() == [10, 11, 12]
    assert run(3).tolist() == [13, 20, 21]
    assert len(made) == 2
