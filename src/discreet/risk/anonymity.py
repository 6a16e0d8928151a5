"""How anonymous a table is, in numbers and in words: who can be told apart, by what, and what that gives away."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from discreet.errors import InputError
from discreet.risk.classes import Classes, classes_of
from discreet.risk.diversity import Diversity, diversity
from discreet.risk.population import Population, population
from discreet.risk.records import Records

__all__ = ["PROMISE", "Anonymity", "Telling", "anonymity"]

PROMISE = (
    "What k does not promise: that nobody's secret is told (a class may share one), that several releases together "
    "stay anonymous, or that someone who knows more than these columns learns nothing. Noise under a budget does."
)

_COMBINATIONS = 256  # column sets tried at most


@dataclass(frozen=True, slots=True)
class Telling:
    """A set of columns, and how many rows it alone tells apart from all others."""

    columns: tuple[str, ...]
    alone: int


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
            f"{self.rows:,} rows; an outsider may know {_listed(self.quasi)}.",
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
            lines += [f"  {_listed(one.columns)}: {one.alone:,} rows ({one.alone / self.rows:.1%})" for one in worst]
        for one in self.sensitive:
            lines.append(
                f"{one.column}: at least {one.distinct:,} different in a class (entropy {one.entropy:.2f}); a class is "
                f"up to {one.closeness:.2f} away from everybody. "
                f"{one.told:,} rows ({one.told / self.rows:.1%}) are in classes that share one value: it is told."
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
) -> Anonymity:
    """Measure a table: `quasi` columns can be known from elsewhere, `sensitive` ones are what must not be learned.

    Every set of up to `few` of the quasi columns is tried by itself. This reads the table as it is and tells its owner
    the truth about it; what it says is not private.
    """
    known, secret = _names(quasi, "quasi"), _names(sensitive, "sensitive")
    if not known:
        raise InputError("quasi", [], "at least one column that an outsider may know")
    if both := sorted(set(known) & set(secret)):
        raise InputError("sensitive", both, "different from the quasi columns")
    if isinstance(few, bool) or not isinstance(few, int) or few < 1:
        raise InputError("few", few, "a whole number of at least 1")
    records = Records.read(data, [*known, *secret])
    classes = classes_of([records[name] for name in known])
    return Anonymity(
        rows=records.rows,
        quasi=known,
        classes=len(classes.sizes),
        k=classes.smallest,
        alone=int((classes.sizes == 1).sum()),
        below={k: int(classes.sizes[classes.sizes < k].sum()) for k in (2, 3, 5, 10, 20)},
        average_risk=len(classes.sizes) / records.rows,
        telling=_telling(records, known, few, classes),
        sensitive=tuple(diversity(name, records[name], classes) for name in secret),
        population=None if population_size is None else population(classes, population_size),
    )


def _telling(records: Records, known: Sequence[str], few: int, classes: Classes) -> tuple[Telling, ...]:
    """Small sets first; a set of all columns is known already."""
    found = []
    tried = itertools.chain.from_iterable(itertools.combinations(known, many) for many in range(1, few + 1))
    for names in itertools.islice(tried, _COMBINATIONS):
        sizes = classes.sizes if len(names) == len(known) else classes_of([records[name] for name in names]).sizes
        found.append(Telling(names, int((sizes == 1).sum())))
    return tuple(sorted(found, key=lambda one: (-one.alone, len(one.columns), one.columns)))


def _names(names: Iterable[str], field: str) -> tuple[str, ...]:
    found = tuple(names.split(",")) if isinstance(names, str) else tuple(names)
    found = tuple(name.strip() if isinstance(name, str) else name for name in found)
    if any(not isinstance(name, str) or not name for name in found) or len(set(found)) < len(found):
        raise InputError(field, list(found), "names of columns, each once")
    return found


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
