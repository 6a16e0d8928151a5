"""Codes exchanged between rows of one bin: marginals of codes come as near to what is expected as whole rows allow.

When bins are opened each row gets a code by chance, so a cell that should have 2.3 rows has 1 to 4. Two rows of one bin
may exchange their codes: that changes neither a single column nor any marginal of bins. It is done where it lowers the
sum, over the marginals that were asked for, of distances between the rows in a cell and those expected there: the
product of the rows in its bins and the codes' shares of them. Only rows that were made are seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.marginals.counts import Columns
from discreet.synth.compression import Compression
from discreet.synth.junction import Floats
from discreet.synth.row_cells import flat
from discreet.synth.sample import Codes, chance_order, sorted_order

__all__ = ["exchange_codes"]

_PASSES = 4  # over all columns
_PARTS = 16  # of the pairs of rows, one after the other: those of one part do not see each other's exchanges
_HELP = 0.5  # of what exchanges promise one by one, the part that those of a part must do together
_CELLS = 4_000_000  # of all marginals together
_LOOKS = 40_000_000  # rows, times marginals, times columns that were opened in them, times passes


class _Cells:
    """A marginal: how much it matters, the cell of each row, and how many rows a cell has more than expected."""

    def __init__(self, columns: Columns, weight: float, sizes: Sequence[int], rows: Codes, excess: Floats) -> None:
        shape = [sizes[column] for column in columns]
        self.weight = weight
        self.strides = {column: int(np.prod(shape[place + 1 :])) for place, column in enumerate(columns)}
        self.cells = flat(rows, columns, tuple(shape))
        self.excess = excess

    def added(self, column: int, one: Codes, other: Codes, change: Codes) -> Floats:
        """By how much distances grow where rows exchange codes; `change` is what the first of two gets more."""
        step = self.strides[column] * change
        left, right = self.cells[one], self.cells[other]
        # A row more adds 1 to a distance where there are as many as expected or more, and takes up to 1 off elsewhere.
        grown = self._rise(left + step) + self._rise(right - step) + self._fall(left) + self._fall(right)
        return np.where(right - left == step, 0.0, self.weight * grown)

    def _rise(self, cells: Codes) -> Floats:
        excess = self.excess[cells]
        return np.asarray(np.abs(excess + 1) - np.abs(excess))

    def _fall(self, cells: Codes) -> Floats:
        excess = self.excess[cells]
        return np.asarray(np.abs(excess - 1) - np.abs(excess))

    def exchange(self, column: int, one: Codes, other: Codes, change: Codes) -> float:
        """Exchange codes, and tell by how much distances grew: together, exchanges may want too much of one cell."""
        step = self.strides[column] * change
        left, right = self.cells[one], self.cells[other]
        touched = np.unique(np.concatenate([left + step, right - step, left, right]))
        before = np.abs(self.excess[touched]).sum()
        for cells, many in ((left + step, 1.0), (right - step, 1.0), (left, -1.0), (right, -1.0)):
            np.add.at(self.excess, cells, many)
        self.cells[one] += step
        self.cells[other] -= step
        return float(self.weight * (np.abs(self.excess[touched]).sum() - before))


def exchange_codes(
    rows: Codes, opened: Compression, sizes: Sequence[int], workload: Mapping[Columns, float], bits: Bits
) -> Codes:
    """The same rows with codes exchanged inside of bins, for the marginals of a workload. `sizes` are of codes.

    Where there are so many rows and marginals that it would take long, fewer passes are made, or none: the more rows
    there are, the less it matters that they are whole.
    """
    wide = [column for column, bins in enumerate(opened.bins) if int(bins.max()) + 1 < len(bins)]
    asked = _affordable(workload, sizes, set(wide))
    looks = len(rows) * sum(len(set(columns).intersection(wide)) for columns in asked)
    passes = min(_LOOKS // looks, _PASSES) if looks else 0
    if passes == 0:
        return rows
    made = rows.astype(np.int64)
    marginals = {
        columns: _Cells(columns, weight, sizes, made, _excess(made, columns, opened, sizes))
        for columns, weight in asked.items()
    }
    for _ in range(passes):
        for column in wide:
            about = [one for columns, one in marginals.items() if column in columns]
            if about:
                _pass(made, column, opened.bins[column], about, bits)
    return made.astype(rows.dtype)


def _affordable(workload: Mapping[Columns, float], sizes: Sequence[int], wide: set[int]) -> dict[Columns, float]:
    """The marginals with a column that was opened, those of few cells first, as far as there is room."""
    found, held = dict[Columns, float](), 0
    many = {columns: int(np.prod([float(sizes[column]) for column in columns])) for columns in workload}
    for columns in sorted((one for one in workload if wide.intersection(one)), key=lambda one: many[one]):
        held += many[columns]
        if held > _CELLS:
            break
        found[columns] = workload[columns]
    return found


def _excess(rows: Codes, columns: Columns, opened: Compression, sizes: Sequence[int]) -> Floats:
    """For every cell of codes, counted through, the rows it has less the rows expected from those of its bins."""
    shape = tuple(sizes[column] for column in columns)
    bins = [opened.bins[column] for column in columns]
    binned = np.column_stack([bins[place][rows[:, column]] for place, column in enumerate(columns)])
    wide = tuple(int(one.max()) + 1 for one in bins)
    cells = flat(binned, tuple(range(len(columns))), wide)
    expected: Floats = np.bincount(cells, minlength=int(np.prod(wide))).reshape(wide).astype(np.float64)
    for axis, column in enumerate(columns):
        others = [place for place in range(len(columns)) if place != axis]
        expected = np.take(expected, bins[axis], axis=axis) * np.expand_dims(opened.shares[column], others)
    have = np.bincount(flat(rows, columns, shape), minlength=expected.size)
    return np.asarray(have - expected.ravel())


def _pass(rows: Codes, column: int, bins: NDArray[np.int64], marginals: Sequence[_Cells], bits: Bits) -> None:
    """Every row is put beside another one of its bin, by chance, and they exchange codes if that is better."""
    one, other = _couples(bins[rows[:, column]], bits)
    differ = rows[one, column] != rows[other, column]
    one, other = one[differ], other[differ]
    mixed = chance_order(len(one), bits)
    for part in np.array_split(mixed, _PARTS):
        left, right = one[part], other[part]
        change = rows[right, column] - rows[left, column]
        added = np.sum([marginal.added(column, left, right, change) for marginal in marginals], axis=0)
        better = added < 0
        left, right, change, added = left[better], right[better], change[better], added[better]
        # Half of them as long as they get in each other's way: together they are to do half of what each would alone.
        while sum(each.exchange(column, left, right, change) for each in marginals) > _HELP * added.sum():
            if len(left) <= 1:
                break
            for marginal in marginals:
                marginal.exchange(column, left, right, -change)
            fewer = slice(len(left) // 2)
            left, right, change, added = left[fewer], right[fewer], change[fewer], added[fewer]
        rows[left, column] += change
        rows[right, column] -= change


def _couples(groups: Codes, bits: Bits) -> tuple[Codes, Codes]:
    """Rows two by two, both of one group, in an order of chance; of an odd number one is left out."""
    order = sorted_order(chance_order(len(groups), bits), groups)
    ordered = groups[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    rank = np.arange(len(order)) - np.repeat(first, np.diff(np.r_[first, len(order)]))
    places = np.flatnonzero((rank[:-1] % 2 == 0) & (ordered[:-1] == ordered[1:]))
    return order[places], order[places + 1]
