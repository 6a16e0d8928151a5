"""Quantiles as a priced job: a histogram counted in the engine, searched with a tree of noisy counts or by choice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, assert_never

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.compose import compose
from discreet.core.digest import text_of
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import ZCDP, BoundedRange, Loss, Pure, Repeated
from discreet.core.mechanism import Bits
from discreet.core.packing import pack, unpack
from discreet.core.unit import Neighbours, Unit
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError, Phrase
from discreet.ledger.budget import Allotment
from discreet.mechanisms import Laplace, QuantileExponential, QuantileFlip, QuantileTree
from discreet.query.contribution import GROUP, fresh_salt
from discreet.query.grid import Grid, grid_for, shown
from discreet.query.notes import declared_notes
from discreet.query.price import Price
from discreet.query.quantile import GUARANTEED, At, Between, Quantile, search_of, sortable
from discreet.query.question import Query
from discreet.query.table_plan import QuestionPlan, explained, rows_published
from discreet.query.tally import BIN, ROWS, compile_tally

__all__ = ["QuantilePlan", "plan_quantiles"]

Search = QuantileTree | QuantileFlip | QuantileExponential
Places = NDArray[np.int64]

MOST_CELLS = 2**26  # groups times bins
_BRANCHINGS = (2, 4, 8, 16, 32, 64, 256)


@dataclass(frozen=True, slots=True)
class QuantilePlan(QuestionPlan):
    """Quantiles of one column over one grid, the search that finds them, and its price. Nothing is read to make one.

    Guarantee: `measure` costs `cost`. Proof: docs/proofs/query-quantiles.md.
    """

    kind: ClassVar[str] = "question"
    version: ClassVar[int] = 1
    question: Query
    schema: Schema
    allotment: Allotment
    confidence: float
    search: Search

    @property
    def groups(self) -> int:
        """How many groups will be published."""
        return self.question.groups(self.schema)

    @property
    def column(self) -> str:
        """Whose quantiles they are."""
        return _quantiles(self.question)[0][1].column

    @property
    def grid(self) -> Grid:
        """The bins that values are sorted into."""
        return grid_for(sortable(self.schema, self.column), _quantiles(self.question)[0][1].grid)

    @property
    def ranks(self) -> tuple[Fraction, ...]:
        """The quantiles searched for, in rising order."""
        return _ranks(self.question)

    @property
    def cost(self) -> Loss:
        """The price of the whole job, over all groups that one unit can touch."""
        whole = compose([_cost(self.search, *_touched(self.schema.unit, self.groups))])
        if not _shared(self.schema.unit, self.groups):
            return whole
        # Of many ways to share a person's rows among groups, only what the worst of them costs is known.
        amount = self.allotment.price(whole).amount
        return Pure(amount) if self.allotment.kind == "pure" else ZCDP(amount)

    @property
    def mechanism(self) -> str:
        """How quantiles are found, in words."""
        return _search_name(self.search)

    @property
    def law(self) -> dict[str, Any]:
        """What beside the question decides the law of the result."""
        return {
            "search": text_of(self.search),
        }

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        notes = [note.text for note in declared_notes(self.question, self.schema)]
        bare = not isinstance(self.search, QuantileTree) and self.search.confidence is None
        notes += [f"No interval of {self.column} was paid for: its ends are the bounds."] if bare else []
        return explained(self, [rows_published(self.groups)], notes)

    def expected(self) -> list[Accuracy]:
        """The rank error of every output at the plan's confidence, whatever the data."""
        return [
            Accuracy(
                name,
                self.mechanism,
                _error(self.search, output.ranks, self.confidence),
                of="rank",
                ranks=tuple(output.ranks),
            )
            for name, output in _quantiles(self.question)
        ]

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count in the engine, search. Called by the one door only."""
        return self.draw(data, bits)

    def draw(self, data: Connection, bits: Bits, salt: Sequence[int] | None = None) -> dict[str, Any]:
        """The bins found, for a job this plan is a part of; `salt` is that of the whole question."""
        salt = fresh_salt(bits) if salt is None else salt
        grid = self.grid
        found = data.integers(compile_tally(self.question, self.schema, self.column, grid, data.table, salt))
        order = np.argsort(found[GROUP], kind="stable")
        bins, rows = found[BIN][order], found[ROWS][order]
        ends = np.searchsorted(found[GROUP][order], np.arange(self.groups + 1))
        places = np.zeros((3, len(self.ranks), self.groups), dtype=np.int64)
        for group in range(self.groups):
            counts = np.zeros(grid.bins, dtype=np.int64)
            part = slice(ends[group], ends[group + 1])
            counts[bins[part]] = rows[part]
            places[:, :, group] = self._searched(counts, bits)
        return {"places": pack(places)}

    def publish(self, measured: Mapping[str, Any], *, confidence: float | None = None) -> dict[str, Any]:
        """The table of results. The ends of intervals were searched for at the plan's confidence, and have no other."""
        if confidence not in (None, self.confidence):
            allowed = f"left out, or {self.confidence}: the ends of a quantile were searched for at that confidence"
            raise InputError("confidence", confidence, allowed)
        return self.table(unpack(measured["places"]))

    def table(self, places: Places) -> dict[str, Any]:
        """The table of results from the bins found: where, at least, at most; for each rank; in each group."""
        columns = self.question.key_columns(self.schema)
        at, lower, upper = _rising(places)
        for name, output in _quantiles(self.question):
            values = [self._value(output, at[:, g], lower[:, g], upper[:, g]) for g in range(self.groups)]
            for end, column in zip(("", "_lower", "_upper"), zip(*values, strict=True), strict=True):
                columns[name + end] = list(column)
        return {
            "columns": columns,
            "keys": [key.title for key in self.question.keys],
            "outputs": [name for name, _ in _quantiles(self.question)],
            "confidence": self.confidence,
            "notes": [note.to_dict() for note in declared_notes(self.question, self.schema)],
        }

    def _searched(self, counts: NDArray[np.int64], bits: Bits) -> Places:
        match self.search:
            case QuantileTree():
                level = _level(self.question, self.confidence)
                curve = self.search.measure(counts, bits=bits)
                found = curve.quantiles(self.ranks, level, guaranteed=_guaranteed(self.question))
            case QuantileFlip() | QuantileExponential():
                found = self.search.release(counts, bits=bits)
            case _:
                assert_never(self.search)
        return np.array([[each.at for each in found], [each.lower for each in found], [each.upper for each in found]])

    def _value(self, output: Quantile, at: Places, lower: Places, upper: Places) -> tuple[Any, Any, Any]:
        """One output of one group, and the values it lies between."""
        grid = self.grid
        first, *rest = [self.ranks.index(q) for q in output.ranks]
        least, most = grid.start(int(lower[first])), grid.end(int(upper[first]))
        match output:
            case At(take=take):
                found = getattr(grid, take)(int(at[first]))
                return shown(grid, found), shown(grid, least), shown(grid, most)
            case Between():
                last = rest[0]
                apart = grid.middle(int(at[last])) - grid.middle(int(at[first]))
                nearest = grid.start(int(lower[last])) - most
                farthest = grid.end(int(upper[last])) - least
                return apart, max(nearest, 0), farthest
            case _:
                assert_never(output)


def plan_quantiles(question: Query, schema: Schema, allotment: Allotment, price: Price) -> QuantilePlan:
    """Price quantiles of one column, by the search that errs less in ranks. Raises before anything is spent."""
    schema = question.limited(schema)
    checked = question.checked(schema)
    searches = {search_of(output) for _, output in checked.ordered}
    if checked.outputs or len(searches) != 1 or not _quantiles(checked):
        raise InputError("outputs", list(checked.names), "quantiles of one column over one grid")
    first = _quantiles(checked)[0][1]
    if checked.discovered:
        hint = "List the groups: key(column, values)."
        raise InputError("group_by", checked.discovered[0].column, "public, where quantiles are computed", hint)
    if allotment.kind == "plan":
        raise InputError(
            "allotment", allotment.name, "a pure or zcdp allotment: a plan allotment pays for one fixed plan"
        )
    if price.way == "within":
        hint = "Give epsilon, rho or share; the plan then says how many rows a quantile may be off."
        raise InputError(
            "within", float(price.amount), "left out for quantiles: how far they err depends on data", hint
        )
    grid = grid_for(sortable(schema, first.column), first.grid)
    if checked.groups(schema) * grid.bins > MOST_CELLS:
        cells = Phrase(f"{checked.groups(schema):,} groups of {grid.bins:,} bins")
        raise InputError("grid", cells, f"coarser: at most {MOST_CELLS:,} bins in all", "Ask for a coarser grid.")
    found = _offers(checked, schema, grid.bins, allotment, price)
    search = min(found, key=lambda search: _weight(search, checked, price))
    return QuantilePlan(checked, schema, allotment, price.confidence, search)


def _offers(question: Query, schema: Schema, bins: int, allotment: Allotment, price: Price) -> list[Search]:
    """Every search that the price buys."""
    method, ranks = _quantiles(question)[0][1].method, _ranks(question)
    if method in ("flip", "exponential") and price.noise != "auto":
        raise InputError("noise", price.noise, "auto: a choice adds no noise")
    # Permute-and-flip errs less for an epsilon, the exponential mechanism costs less where rho is counted.
    by_choice = method if method != "auto" else "flip" if allotment.kind == "pure" else "exponential"
    if by_choice == "flip" and allotment.kind != "pure":
        allowed = (
            f"exponential or tree: from {allotment.name!r}, which counts rho, the same choices cost four times as much"
        )
        raise InputError("method", method, allowed)
    currency, amount = price.spent(allotment)
    groups, ends = _touched(schema.unit, question.groups(schema))
    rows = schema.unit.most_rows
    level = _level(question, price.confidence) if _quantiles(question)[0][1].interval else None
    found: list[Search] = []
    try:
        if method in ("auto", "tree"):
            each = {currency: amount / (groups * ends)}
            trees = [QuantileTree(bins, branching=width, rows=rows, **each) for width in _BRANCHINGS]
            found += {(tree.levels, tree.children): tree for tree in trees}.values()
        if method in ("flip", "exponential") or (method == "auto" and price.noise == "auto"):
            choices = len(ranks) * (1 if level is None else 3)
            if currency == "epsilon":
                epsilon = amount / (groups * ends)
            else:  # groups * choices * (ends * epsilon / choices)^2 / 8 = amount
                epsilon = _sqrt_down(8 * amount * choices / groups) / ends
            kind = QuantileFlip if by_choice == "flip" else QuantileExponential
            found.append(kind(ranks, epsilon, bins, rows, level, guaranteed=_guaranteed(question)))
    except InputError as problem:
        raise InputError(
            price.way, float(price.amount), f"another amount: its noise cannot be drawn ({problem})"
        ) from None
    return found


def _touched(unit: Unit, groups: int) -> tuple[int, int]:
    """In how many groups one unit's rows lie, and at how many ends: replaced, it leaves groups and enters others.

    Where the rows of all groups are limited, as many groups as these rows fill: what a search costs grows at least in
    proportion to the rows that move, so fewer rows in more groups cost no more. Proof: docs/proofs/query-quantiles.md.
    """
    within = min(unit.most_groups, groups)
    if _shared(unit, groups):
        within = -(-unit.most_total // unit.most_rows)
    return within, 1 if unit.neighbours is Neighbours.ADD_REMOVE else 2


def _shared(unit: Unit, groups: int) -> bool:
    return unit.most_total < min(unit.most_groups, groups) * unit.most_rows


def _cost(search: Search, groups: int, ends: int) -> Loss:
    match search:
        case QuantileTree():
            return Repeated(search.loss(), groups * ends)
        case QuantileFlip():
            return Repeated(Pure(ends * search.epsilon / search.choices), groups * search.choices)
        case QuantileExponential():
            # Leaving one group and entering another, or the same: twice the range of one choice, in either case.
            return Repeated(BoundedRange(ends * search.epsilon / search.choices), groups * search.choices)
        case _:
            assert_never(search)


def _error(search: Search, ranks: Sequence[Fraction], confidence: float) -> float:
    match search:
        case QuantileTree():
            return max(search.error(confidence, q=q) for q in ranks)
        case QuantileFlip() | QuantileExponential():
            return float(search.error(confidence))
        case _:
            assert_never(search)


def _weight(search: Search, question: Query, price: Price) -> float:
    """What a search is chosen by, without the data: how far the value errs, and the interval reaches if there is one.

    The sum, so that an interval hardly narrower does not buy a value that errs twice as much.
    """
    typical = _typical(search, _ranks(question))
    return typical + _half_width(search, question, price) if _quantiles(question)[0][1].interval else typical


def _half_width(search: Search, question: Query, price: Price) -> float:
    """About half the width, in ranks, of the widest interval.

    An end by choice is a segment: on even data the far side of one lies a fifth farther than what was aimed at.
    """
    ranks, level = _ranks(question), _level(question, price.confidence)
    match search:
        case QuantileTree():
            return max(search.reach(q, level, guaranteed=_guaranteed(question)) for q in ranks)
        case QuantileFlip() | QuantileExponential():
            return 1.2 * float(max(search.reach(q) for q in ranks))
        case _:
            assert_never(search)


def _typical(search: Search, ranks: Sequence[Fraction]) -> float:
    """About the mean rank error where ranks grow evenly from bin to bin.

    A choice errs by d ranks with a probability that falls as e^(-rate d); a sum of noise is about normal.
    """
    match search:
        case QuantileTree():
            variances = [float(search.energy(float(q)).mean()) * search.noise.variance for q in ranks]
            return sum(math.sqrt(2 / math.pi * variance) for variance in variances) / len(ranks)
        case QuantileFlip() | QuantileExponential():
            return sum(float(1 / search.rate(q)) for q in ranks) / len(ranks)
        case _:
            assert_never(search)


def _quantiles(question: Query) -> list[tuple[str, Quantile]]:
    return [(name, output) for name, output in question.ordered if isinstance(output, Quantile)]


def _ranks(question: Query) -> tuple[Fraction, ...]:
    return tuple(sorted({q for _, output in _quantiles(question) for q in output.ranks}))


def _level(question: Query, confidence: float) -> Fraction:
    """The confidence of each quantile: where two make one output, each may fail half as often."""
    miss = 1 - Fraction(repr(confidence))
    return 1 - (miss / 2 if any(isinstance(output, Between) for _, output in _quantiles(question)) else miss)


def _guaranteed(question: Query) -> bool:
    return _quantiles(question)[0][1].interval == GUARANTEED


def _rising(places: Places) -> tuple[Places, Places, Places]:
    """The same bins, none falling as the quantile rises. Intervals only grow; the middle ones stay inside."""
    at, lower, upper = places
    return (
        np.sort(at, axis=0),
        np.minimum.accumulate(lower[::-1], axis=0)[::-1],
        np.maximum.accumulate(upper, axis=0),
    )


def _sqrt_down(value: Fraction) -> Fraction:
    grid = 10**15
    return Fraction(math.isqrt(value.numerator * grid * grid // value.denominator), grid)


def _search_name(search: Search) -> str:
    match search:
        case QuantileTree():
            noise = search.noise
            law = "Laplace, scale" if isinstance(noise, Laplace) else "Gaussian, sigma"
            size = float(noise.scale if isinstance(noise, Laplace) else noise.sigma)
            shape = f"{search.levels} levels of {search.children}" if search.levels > 1 else "1 level"
            return f"tree of noisy counts over {search.bins:,} bins, {shape}; discrete {law} {size:.6g}"
        case QuantileFlip() | QuantileExponential():
            rate = float(search.epsilon / search.choices)
            name = "permute-and-flip" if isinstance(search, QuantileFlip) else "exponential mechanism"
            return f"{name} over {search.bins:,} bins, {search.choices} choices of epsilon {rate:.6g}"
        case _:
            assert_never(search)
