"""A report on the risk of a table, for the person who answers for it: what it holds, who can be found, what helps.

It reads the table as it is and states true figures. It is for the custodian alone and is not a release.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.progress import notify
from discreet.errors import InputError
from discreet.risk.attackers import Attacker, Presence, attackers, presence
from discreet.risk.coarsening import AnonymizedTable, anonymize
from discreet.risk.criteria import Criteria
from discreet.risk.information_loss import InformationLoss, measure_loss
from discreet.risk.instead import Instead, compare_release
from discreet.risk.linkage import Linkage, link
from discreet.risk.measures import Anonymity, anonymity, join_names, read_names
from discreet.risk.population import Population, check_size, estimate_population
from discreet.risk.records import Records, classes_of, once_each
from discreet.risk.roles import DIRECT, OTHER, QUASI, SENSITIVE, ColumnRole, guess_roles
from discreet.risk.singling import Telling, single_out, smallest_set, spared_without

__all__ = ["NOT_A_RELEASE", "SHARES", "Proposal", "RiskReport", "report_risk"]

NOT_A_RELEASE = (
    "This report states true figures about private data. It is for the custodian of the table only. It is not a "
    "release: do not publish it, nor what was chosen by looking at it."
)
SHARES = (0.05, 0.2, 0.5)
_HOPELESS = 0.95  # of what columns told: lost by more, a table is of little use
_LARGEST = 4  # columns of a set
_WIDE = 24  # columns among which sets that single people out are looked for


@dataclass(frozen=True, slots=True)
class Proposal:
    """A coarsening that meets criteria, what it costs, and what is left to see in it."""

    criteria: str
    loss: InformationLoss
    least: bool
    tried: int
    after: Anonymity
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class RiskReport:
    """All that was found. Parts are None where they were not asked for or cannot be had; `notes` say why."""

    name: str
    rows: int
    people: int | None
    roles: tuple[ColumnRole, ...]
    telling: tuple[Telling, ...]
    smallest: dict[float, Telling | None]
    """For parts of the rows (or people): the smallest set of columns that makes so many of them unique."""
    without: dict[str, int]
    """For each quasi-identifier: how many would be unique if outsiders did not know it."""
    anonymity: Anonymity | None
    attackers: tuple[Attacker, ...]
    population: Population | None
    presence: Presence | None
    linkage: Linkage | None
    proposal: Proposal | None
    cheaper: tuple[Proposal, ...]
    """The same under fewer criteria: what each of them costs."""
    instead: Instead | None
    notes: tuple[str, ...]

    @property
    def identifiers(self) -> tuple[ColumnRole, ...]:
        """Columns that name people."""
        return tuple(one for one in self.roles if one.role == DIRECT)

    @property
    def quasi(self) -> tuple[str, ...]:
        """Columns that an outsider may know."""
        return tuple(one.name for one in self.roles if one.role == QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Columns that must not be learned."""
        return tuple(one.name for one in self.roles if one.role == SENSITIVE)

    @property
    def smallest_sets(self) -> list[tuple[str, Telling | None]]:
        """`smallest`, the shares that one set of columns reaches put together: 5% and 20%."""
        sets: dict[Telling | None, list[str]] = {}
        for share, one in self.smallest.items():
            sets.setdefault(one, []).append(f"{share:.0%}")
        return [(join_names(shares), one) for one, shares in sets.items()]

    @property
    def counted(self) -> int:
        """What uniqueness is counted in: people where they are known, else rows."""
        return self.rows if self.people is None else self.people

    @property
    def unit(self) -> str:
        """Its noun."""
        return "rows" if self.people is None else "people"

    def count(self, many: int) -> str:
        """So many of them."""
        noun = self.unit if many != 1 else "row" if self.people is None else "person"
        return f"{many:,} {noun}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        found = {"report": "risk", "private": NOT_A_RELEASE, **asdict(self)}
        found["smallest"] = {f"{share:g}": found["smallest"][share] for share in self.smallest}
        return found

    def explain(self) -> str:
        """In words."""
        from discreet.risk.report_text import report_text

        return report_text(self)

    def page(self) -> str:
        """As one HTML page that needs nothing else."""
        from discreet.risk.report_page import report_page

        return report_page(self)

    def __str__(self) -> str:
        return self.explain()


def report_risk(
    data: Any,
    *,
    quasi: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    person: str | None = None,
    population: int | None = None,
    register: Any = None,
    k: int = 5,
    l: int = 2,  # noqa: E741 - the name it has
    t: float = 0.2,
    threshold: float = 0.2,
    redact: float = 0.05,
    seconds: float = 10.0,
    name: str | None = None,
) -> tuple[RiskReport, AnonymizedTable | None]:
    """Report on a table, and the coarsened table that is proposed.

    Nothing needs to be said: columns that name people, that an outsider may know and that are secret are guessed from
    their names and values. `person` names the column that says whose row it is, where people have several.
    `population` is the size of the population that the table was sampled from; `register` a table of it. The proposal
    is searched for `seconds`.
    """
    criteria = Criteria(k, l, t)
    if not 0 < threshold <= 1:
        raise InputError("threshold", threshold, "above 0 and at most 1")
    if not seconds > 0:
        raise InputError("seconds", seconds, "more than zero")
    notify("reading")
    records = Records.read(data)
    title = name or (Path(data).name if isinstance(data, str | Path) else "table")
    known = None if quasi is None else read_names(quasi, "quasi")
    secret = None if sensitive is None else read_names(sensitive, "sensitive")
    _check_names(records, known, secret, person)
    roles = guess_roles(records, quasi=known, sensitive=secret, person=person)
    names = [one.name for one in roles if one.role == QUASI and not one.constant]
    hidden = [one.name for one in roles if one.role == SENSITIVE and not one.constant]
    notes = _notes(records, roles, names, hidden, person)
    people = None if person is None else len(np.unique(records[person].codes))
    if population is not None:
        check_size(population, people or records.rows)
    if not names and (population is not None or register is not None):
        notes.append("So --population and --register say nothing here.")
    wide = _widest(records, roles)
    notify("looking for columns that single people out")
    telling = single_out(records, wide, _LARGEST, person) if wide and records.rows > 1 else ()
    if telling and len(telling) < sum(math.comb(len(wide), many) for many in range(1, _LARGEST + 1)):
        notes.append("Not every set of columns was tried: a smaller one than shown may single out as many.")
    report = RiskReport(
        name=title,
        rows=records.rows,
        people=people,
        roles=roles,
        telling=_best_of_each(telling),
        smallest={share: smallest_set(telling, people or records.rows, share) for share in SHARES},
        without=spared_without(records, names, person),
        anonymity=None,
        attackers=(),
        population=None,
        presence=None,
        linkage=None,
        proposal=None,
        cheaper=(),
        instead=None,
        notes=tuple(notes),
    )
    if not names:
        return report, None
    report = _with_risks(report, records, names, hidden, person, population, register, threshold)
    return _with_proposal(report, records, names, hidden, person, criteria, redact, seconds)


def _best_of_each(telling: Sequence[Telling]) -> tuple[Telling, ...]:
    """The five sets of each size that single out most."""
    sizes = sorted({len(one.columns) for one in telling})
    return tuple(one for many in sizes for one in [each for each in telling if len(each.columns) == many][:5])


def _check_names(
    records: Records, quasi: Sequence[str] | None, sensitive: Sequence[str] | None, person: str | None
) -> None:
    for named in (*(quasi or ()), *(sensitive or ()), *([person] if person else [])):
        records[named]
    if both := sorted(set(quasi or ()) & set(sensitive or ())):
        raise InputError("sensitive", both, "different from the quasi columns")
    if person is not None and person in (*(quasi or ()), *(sensitive or ())):
        raise InputError("person", person, "a column that is neither quasi nor sensitive")


def _notes(
    records: Records, roles: Sequence[ColumnRole], names: Sequence[str], hidden: Sequence[str], person: str | None
) -> list[str]:
    """What the reader should know before the figures."""
    notes = []
    missing = [f"{one.name} ({one.missing:.1%})" for one in roles if one.missing and one.role in (QUASI, SENSITIVE)]
    if missing:
        notes.append(f"Values are missing in {', '.join(missing)}. A missing value counts as a value of its own.")
    if constant := [one.name for one in roles if one.constant]:
        notes.append(f"The same for everybody, and left out: {', '.join(constant)}.")
    if not names:
        notes.append("No column looks like something that an outsider may know. Name those that are with --quasi.")
    if not hidden:
        notes.append("No column looks sensitive, so l and t are not measured. Name those that are with --sensitive.")
    if person is None:
        several = [one.name for one in roles if "--person" in one.why]
        if several:
            notes.append(
                f"{several[0]} looks like a person's number, and several rows share one. Here rows are counted; with "
                f"--person {several[0]} people are."
            )
        elif (again := _repeated(records)) > 0.01:
            notes.append(
                f"{again:.1%} of the rows are exact copies of another. If people have several rows, use --person."
            )
    return notes


def _repeated(records: Records) -> float:
    """The part of rows that equal an earlier one in every column."""
    return 1 - len(classes_of(list(records.columns.values())).sizes) / records.rows


def _widest(records: Records, roles: Sequence[ColumnRole]) -> list[str]:
    """Columns among which to look for sets that single out: quasi-identifiers first, others while there is room."""
    usable = [one for one in roles if one.role != DIRECT and not one.constant]
    ranked = sorted(usable, key=lambda one: (QUASI, SENSITIVE, OTHER).index(one.role))[:_WIDE]
    return [name for name in records.columns if name in {one.name for one in ranked}]


def _with_risks(
    report: RiskReport,
    records: Records,
    names: Sequence[str],
    hidden: Sequence[str],
    person: str | None,
    population: int | None,
    register: Any,
    threshold: float,
) -> RiskReport:
    """Measures, attackers, presence and linkage."""
    notify("measuring")
    found = anonymity(records, quasi=names, sensitive=hidden, few=1, person=person)
    one_each = records if person is None else once_each(records, [person, *names])
    classes = classes_of([one_each[name] for name in names])
    notify("estimating the population")
    whole = None if population is None else estimate_population(classes, population)
    there = linked = present = None
    if register is not None:
        everybody = Records.read(register, names)
        present, there = presence(one_each, everybody, names)
        linked = link(one_each, everybody, on=names, sensitive=hidden[0] if hidden else None)
    who = attackers(classes, threshold=threshold, population=whole, in_register=there)
    return replace(
        report,
        anonymity=replace(found, telling=()),
        attackers=who,
        population=whole,
        presence=present,
        linkage=linked,
    )


def _with_proposal(
    report: RiskReport,
    records: Records,
    names: Sequence[str],
    hidden: Sequence[str],
    person: str | None,
    criteria: Criteria,
    redact: float,
    seconds: float,
) -> tuple[RiskReport, AnonymizedTable | None]:
    """What coarsening would cost under all criteria, under fewer, and what noise would cost instead.

    Half of the time is for all criteria, the rest for those that show what each of them costs.
    """
    if criteria.k > (report.people or report.rows):
        note = f"k = {criteria.k} cannot be had: there are {report.people or report.rows:,} {report.unit}."
        return replace(report, notes=(*report.notes, note)), None
    distinct = min((len(np.unique(records[name].codes)) for name in hidden), default=1)
    if hidden and criteria.l > distinct:
        note = (
            f"l = {criteria.l} cannot be had: a sensitive column has only {distinct} values. l = {distinct} is taken."
        )
        report = replace(report, notes=(*report.notes, note))
    full = Criteria(criteria.k, min(criteria.l, distinct), criteria.t) if hidden else Criteria(criteria.k)
    steps = dict.fromkeys([full, Criteria(full.k), Criteria(full.k, full.l)])
    proposals: list[Proposal] = []
    made: AnonymizedTable | None = None
    for asked in steps:
        found = anonymize(
            records,
            quasi=names,
            k=asked.k,
            sensitive=hidden,
            diverse=asked.l,
            close=asked.t,
            person=person,
            redact=redact,
            seconds=seconds / (2 if asked == full else 4),
            start=None if made is None else made.steps,
        )
        after = anonymity(found.records, quasi=names, sensitive=hidden, few=1, person=person)
        stopped = found.stopped
        proposals.append(Proposal(str(asked), measure_loss(found), found.least, found.tried, after, stopped))
        made = found if made is None else made
        if stopped:
            break
    notes = list(report.notes)
    if made is None:
        return report, None
    if made.stopped:
        notes.append("The search was interrupted: the proposal is the best that it had found.")
    if proposals[0].loss.certainty > _HOPELESS:
        notes.append("Nothing but the coarsest groups meets these criteria: the proposed table is of little use.")
    instead = compare_release(records, made, hidden, person=person)
    found_all = replace(
        report, proposal=proposals[0], cheaper=tuple(proposals[1:]), instead=instead, notes=tuple(notes)
    )
    return found_all, made.without(one.name for one in report.identifiers)
