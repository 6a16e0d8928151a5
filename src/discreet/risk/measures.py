"""How anonymous a table is, in numbers and in words: who can be told apart, by what, and what that gives away."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.risk.population import Population, estimate_population
from discreet.risk.records import Classes, CodedColumn, Records, classes_of, once_each
from discreet.risk.singling import Telling, single_out

__all__ = ["PROMISE", "Anonymity", "Diversity", "anonymity", "closeness", "diversity", "join_names", "read_names"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Diversity:
    """One sensitive column, over classes of rows that look alike.

    `distinct`: the fewest different values in a class (distinct l-diversity). `entropy`: the least exp(entropy) of a
    class (entropy l-diversity). `closeness`: the largest distance of a class's distribution from everybody's
    (t-closeness), by half the sum of differences for names and by the earth mover's distance for ordered values.
    `gain`: the largest (p - q) / q of a value with share p in a class and q among everybody (beta-likeness).
    `commonest`: the largest share that one value has in a class. `told`: rows in classes with a single value: who finds
    the class knows the secret.
    """

    column: str
    distinct: int
    entropy: float
    closeness: float
    told: int
    gain: float = 0.0
    commonest: float = 1.0


def diversity(name: str, secret: CodedColumn, classes: Classes) -> Diversity:
    """Measure one sensitive column. Time and memory grow with the rows, not with classes times values."""
    pair, counts = np.unique(classes.of * secret.size + secret.codes, return_counts=True)
    which, value = np.divmod(pair, secret.size)
    many = len(classes.sizes)
    share = counts / classes.sizes[which]
    distinct = np.bincount(which, minlength=many)
    entropy = np.bincount(which, weights=-share * np.log(share), minlength=many)
    everybody = np.bincount(secret.codes, minlength=secret.size) / len(secret.codes)
    return Diversity(
        name,
        int(distinct.min()),
        math.exp(float(entropy.min())),
        float(closeness(secret, which, value, share, everybody, many).max()),
        int(classes.sizes[distinct == 1].sum()),
        max(float((share / everybody[value]).max()) - 1, 0.0),
        float(share.max()),
    )


def closeness(
    secret: CodedColumn,
    which: NDArray[np.int64],
    value: NDArray[np.int64],
    share: Floats,
    everybody: Floats,
    many: int,
) -> Floats:
    """How far each of `many` classes is from everybody; `share` is that of `value` in class `which`, sorted by both."""
    far = _ordered if secret.ordered and secret.size > 1 else _named
    return far(which, value, share, everybody, many)


def _named(which: NDArray[np.int64], value: NDArray[np.int64], share: Floats, everybody: Floats, many: int) -> Floats:
    """Half the sum of |p - q|, which is the sum of p - q where p is larger: so values a class lacks do not matter."""
    over = np.maximum(share - everybody[value], 0)
    return np.asarray(np.bincount(which, weights=over, minlength=many), dtype=np.float64)


def _ordered(which: NDArray[np.int64], value: NDArray[np.int64], share: Floats, everybody: Floats, many: int) -> Floats:
    """The sum of |P - Q| over cumulative shares, divided by the steps there are.

    Between two values that a class has, P is constant and Q rises: it crosses P once, at a place found by bisection,
    and both sides follow from sums of Q. The stretch before a class's first value has P = 0.
    """
    steps = len(everybody) - 1
    level = np.cumsum(everybody)[:-1]  # Q after each value but the last, where both are 1
    sums = np.concatenate([[0.0], np.cumsum(level)])
    start = np.flatnonzero(np.concatenate([[True], which[1:] != which[:-1]]))
    running = np.cumsum(share)
    before = np.concatenate([[0.0], running])[start]
    reached = running - np.repeat(before, np.diff(np.concatenate([start, [len(which)]])))
    end = np.minimum(np.concatenate([value[1:], [steps]]), steps)
    last = np.concatenate([which[1:] != which[:-1], [True]])
    end[last] = steps
    first = np.minimum(value, steps)
    cross = np.clip(np.searchsorted(level, reached), first, end)
    gap = reached * (cross - first) - (sums[cross] - sums[first]) + (sums[end] - sums[cross]) - reached * (end - cross)
    total = np.bincount(which, weights=gap, minlength=many)
    total += sums[first[start]]  # P = 0 up to the first value
    return np.asarray(total / steps)


PROMISE = (
    "What k does not promise: that nobody's secret is revealed (a class may share one), that several releases "
    "together stay anonymous, or that someone who knows more than these columns learns nothing. Noise under a budget "
    "does."
)


@dataclass(frozen=True, slots=True)
class Anonymity:
    """The measures of one table. `quasi` are the columns that an outsider may know of a person."""

    rows: int
    quasi: tuple[str, ...]
    classes: int
    k: int
    alone: int
    """Rows that look like no other on `quasi`."""
    below: dict[int, int]
    """For 2, 3, 5, 10 and 20: how many rows are in classes smaller than that."""
    average_risk: float
    """The chance to pick the right row for a person known to be in the table, on average: classes / rows."""
    telling: tuple[Telling, ...]
    """Sets of few columns and how many rows each tells apart, the worst first."""
    sensitive: tuple[Diversity, ...]
    population: Population | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def explain(self) -> str:
        """In words, for someone who must decide whether to hand the table out."""
        share = self.alone / self.rows
        lines = [
            f"{self.rows:,} rows; an outsider may know {join_names(self.quasi)}.",
            f"k = {self.k}: the least protected look like {self.k - 1:,} others. "
            f"{self.alone:,} rows ({share:.1%}) look like nobody else; {self.classes:,} classes in all.",
        ]
        lines += [
            f"  {many:,} rows ({many / self.rows:.1%}) have fewer than {k} alike." for k, many in self.below.items()
        ]
        lines.append(f"Who knows these columns of a person picks the right row {self.average_risk:.1%} of the time.")
        worst = [one for one in self.telling if one.alone][:5]
        if worst:
            lines.append("Few columns are enough:")
            lines += [f"  {join_names(one.columns)}: {one.alone:,} rows ({one.alone / self.rows:.1%})" for one in worst]
        for one in self.sensitive:
            lines.append(
                f"{one.column}: at least {one.distinct:,} different in a class (entropy {one.entropy:.2f}); a class is "
                f"up to {one.closeness:.2f} away from everybody. {one.told:,} rows ({one.told / self.rows:.1%}) are in "
                "classes that share one value, which is revealed."
            )
        if self.population is not None:
            lines.append(self.population.explain())
        return "\n".join([*lines, PROMISE])

    def __str__(self) -> str:
        return self.explain()


def anonymity(
    data: Any,
    *,
    quasi: Iterable[str],
    sensitive: Iterable[str] = (),
    few: int = 3,
    population_size: int | None = None,
    person: str | None = None,
) -> Anonymity:
    """Measure a table: `quasi` columns can be known from elsewhere, `sensitive` ones are what must not be learned.

    Every set of up to `few` of the quasi columns is tried by itself. With `person`, the column that says whose row it
    is, rows of one person that look alike count as one: k counts people. This reads the table as it is and tells its
    owner the truth about it; what it says is not private.
    """
    known, secret = read_names(quasi, "quasi"), read_names(sensitive, "sensitive")
    if not known:
        raise InputError("quasi", [], "at least one column that an outsider may know")
    if both := sorted(set(known) & set(secret)):
        raise InputError("sensitive", both, "different from the quasi columns")
    if isinstance(few, bool) or not isinstance(few, int) or few < 1:
        raise InputError("few", few, "a whole number of at least 1")
    if person in (*known, *secret):
        raise InputError("person", person, "a column that is neither quasi nor sensitive")
    table = Records.read(data, [*known, *secret, *([person] if person else [])])
    records = table if person is None else once_each(table, [person, *known])
    classes = classes_of([records[name] for name in known])
    return Anonymity(
        rows=records.rows,
        quasi=known,
        classes=len(classes.sizes),
        k=classes.smallest,
        alone=int((classes.sizes == 1).sum()),
        below={k: int(classes.sizes[classes.sizes < k].sum()) for k in (2, 3, 5, 10, 20)},
        average_risk=len(classes.sizes) / records.rows,
        telling=single_out(records, known, few, person),
        sensitive=tuple(_diversity(table, known, name, person) for name in secret),
        population=None if population_size is None else estimate_population(classes, population_size),
    )


def _diversity(table: Records, known: Sequence[str], name: str, person: str | None) -> Diversity:
    """Of rows, or of people: then each counts once for a value."""
    rows = table if person is None else once_each(table, [person, *known, name])
    return diversity(name, rows[name], classes_of([rows[one] for one in known]))


def read_names(names: Iterable[str], field: str) -> tuple[str, ...]:
    """Names of columns, from a list or from text with commas."""
    found = tuple(names.split(",")) if isinstance(names, str) else tuple(names)
    found = tuple(name.strip() if isinstance(name, str) else name for name in found)
    if any(not isinstance(name, str) or not name for name in found) or len(set(found)) < len(found):
        raise InputError(field, list(found), "names of columns, each once")
    return found


def join_names(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
