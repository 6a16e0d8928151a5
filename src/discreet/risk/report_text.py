"""A risk report in words, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.core.release import plural
from discreet.risk.attackers import Attacker
from discreet.risk.information_loss import ColumnLoss
from discreet.risk.measures import PROMISE, Anonymity, join_names
from discreet.risk.report import NOT_A_RELEASE, Proposal, RiskReport

__all__ = ["attacker_cells", "findings", "group_words", "loss_words", "report_text"]


def report_text(report: RiskReport) -> str:
    """All of it, a section after the other."""
    people = "" if report.people is None else f" of {report.people:,} people"
    lines = [f"Risk of {report.name}: {plural(report.rows, 'row')}{people}.", NOT_A_RELEASE]
    lines += _section("In short", [f"- {line}" for line in findings(report)])
    lines += _section("Columns", _columns(report))
    lines += _section("What singles people out", _singling(report)) if report.telling else []
    if report.anonymity is not None:
        lines += _section("Who looks alike", _alike(report.anonymity))
        lines += _section("What attackers reach", _attackers(report))
    if report.proposal is not None:
        lines += _section("A coarsening that meets the criteria", _proposal(report, report.proposal))
    if report.instead is not None:
        lines += _section("What noise under a privacy budget would cost instead", _instead(report))
    lines += _section("Notes", [f"- {note}" for note in report.notes])
    return "\n".join([*lines, "", PROMISE])


def findings(report: RiskReport) -> list[str]:
    """The most important, a sentence each."""
    said = []
    if report.identifiers:
        names = [one.name for one in report.identifiers]
        said.append(f"Identifies people directly, and should be removed: {join_names(names)}.")
    found = report.anonymity
    if found is not None:
        lone = found.alone / found.rows
        said.append(
            f"{lone:.1%} of the {report.unit} look like nobody else on {join_names(found.quasi)} (k = {found.k})."
        )
    small = next((one for one in report.smallest.values() if one is not None), None)
    if small is not None:
        share = small.alone / report.counted
        said.append(
            f"{join_names(small.columns)} alone make{'s' if len(small.columns) == 1 else ''} {share:.1%} unique."
        )
    said += [
        f"{one.column} of {report.count(one.told)} follows, because all who look alike share it."
        for one in (() if found is None else found.sensitive)
        if one.told
    ]
    if report.population is not None and report.population.chance_range is not None:
        low, high = report.population.chance_range
        said.append(f"Who is unique here is unique in the population with a chance of {low:.0%} to {high:.0%}.")
    if report.proposal is not None:
        loss = report.proposal.loss
        said.append(
            f"Coarsening to {report.proposal.criteria} loses {loss.certainty:.0%} of the detail of these columns, "
            f"with {plural(loss.left_out, 'row')} left out."
        )
    if report.instead is not None:
        said.append(report.instead.sentence())
    return said


def loss_words(proposal: Proposal) -> str:
    """What a proposal costs."""
    loss = proposal.loss
    return (
        f"{loss.certainty:.1%} of the detail lost (entropy {loss.entropy:.1%}), {loss.left_out:,} rows left out, "
        f"a row looks like {loss.discernibility:,.0f} on average"
    )


def group_words(one: ColumnLoss) -> str:
    """What became of a column."""
    if not one.step:
        return "as it is"
    return "one group of all" if one.groups == 1 else f"{one.values:,} values in {one.groups:,} groups"


def attacker_cells(one: Attacker) -> list[str]:
    """Highest, average and the part at risk, as text."""
    average = "not known" if one.average is None else f"{one.average:.2%}"
    if one.average_range is not None:
        average += f" [{one.average_range[0]:.2%}, {one.average_range[1]:.2%}]"
    return [_share(one.highest), average, _share(one.at_risk)]


def _share(value: float | None) -> str:
    return "not known" if value is None else f"{value:.1%}"


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", title, *lines] if lines else []


def _columns(report: RiskReport) -> list[str]:
    width = max(len(one.name) for one in report.roles)
    return [f"  {one.name:<{width}}  {one.role:<17}  {one.distinct:>9,} values  ({one.why})" for one in report.roles]


def _singling(report: RiskReport) -> list[str]:
    lines = []
    for shares, one in report.smallest_sets:
        told = (
            "no set of up to 4 columns"
            if one is None
            else f"{join_names(one.columns)} ({one.alone / report.counted:.1%})"
        )
        lines.append(f"  {shares} of the {report.unit} unique: {told}")
    if report.without and report.anonymity is not None:
        worst = sorted(report.without.items(), key=lambda pair: pair[1])[:3]
        said = [f"{name} {alone / report.counted:.1%}" for name, alone in worst]
        lines.append(f"  Unique if outsiders did not know a column: {', '.join(said)}.")
    return lines


def _alike(found: Anonymity) -> list[str]:
    lines = [f"  k = {found.k} on {join_names(found.quasi)}; {found.classes:,} classes, {found.alone:,} unique."]
    lines += [f"  {many:,} ({many / found.rows:.1%}) have fewer than {k} alike." for k, many in found.below.items()]
    for one in found.sensitive:
        lines.append(
            f"  {one.column}: l = {one.distinct:,} (entropy {one.entropy:.2f}), t = {one.closeness:.3f}, "
            f"beta = {one.gain:,.2f}; {one.told:,} follow from their class."
        )
    return lines


def _attackers(report: RiskReport) -> list[str]:
    lines = []
    for one in report.attackers:
        highest, average, at_risk = attacker_cells(one)
        more = f" ({one.note})" if one.note else ""
        lines.append(f"  {one.name}: highest {highest}, average {average}, above {one.threshold:.0%}: {at_risk}{more}")
    if report.population is not None:
        lines.append(f"  {report.population.explain()}")
    if report.presence is not None:
        seen = report.presence
        lines.append(
            f"  delta-presence: someone in the register is in the table with {seen.lowest:.1%} to {seen.highest:.1%}; "
            f"of {seen.sure:,} of {seen.people:,} it is certain. {seen.unmatched:,} rows fit nobody in the register."
        )
    if report.linkage is not None:
        lines += [f"  {line}" for line in report.linkage.explain().split("\n")]
    return lines


def _proposal(report: RiskReport, proposal: Proposal) -> list[str]:
    known = "no other steps lose less" if proposal.least else "the best found; others may lose less"
    lines = [f"  {proposal.criteria}: {loss_words(proposal)} ({proposal.tried:,} ways tried; {known})."]
    width = max(len(one.name) for one in proposal.loss.columns)
    for one in proposal.loss.columns:
        groups = group_words(one)
        such = f", such as {', '.join(one.labels[:3])}" if one.labels and one.groups > 1 else ""
        lines.append(f"    {one.name:<{width}}  {groups}{such} ({one.width:.0%} lost)")
    lines += [f"  {one.criteria} alone: {loss_words(one)}." for one in report.cheaper]
    return lines


def _instead(report: RiskReport) -> list[str]:
    found = report.instead
    if found is None:
        return []
    lines = [
        f"  {found.sentence()}",
        f"  People in a wrong cell, on average over these tables: {found.coarse:.2%} from the coarsened table;",
    ]
    lines += [
        f"    {one.error:.2%} at epsilon = {one.epsilon:g} ({one.noise}; each count within {one.within:,})"
        for one in found.noisy
    ]
    return [*lines, f"  One person counts with at most {found.each:,} row{'' if found.each == 1 else 's'}."]
