"""A risk report as one HTML page that needs nothing else: no network, no scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.risk.measures import PROMISE, Anonymity, join_names
from discreet.risk.population import Population
from discreet.risk.report import NOT_A_RELEASE, Proposal, RiskReport
from discreet.risk.report_text import attacker_cells, findings, group_words
from discreet.risk.roles import DIRECT
from discreet.risk.singling import Telling
from discreet.show import Axis, Bar, Line, Markup, Picture, Scale, Table, bars, element, lines, page
from discreet.show import share as percent

__all__ = ["report_page"]

_SETS = 8  # columns in a picture
_EACH = 2  # sets of columns of one size in a picture


def report_page(report: RiskReport) -> str:
    """The whole page."""
    people = "" if report.people is None else f" of {report.people:,} people"
    body: list[Any] = [
        element("h1", None, f"Risk of {report.name}"),
        element("p", {"class": "alert"}, NOT_A_RELEASE),
        element("p", None, f"{report.rows:,} rows{people}, {len(report.roles):,} columns."),
        element("h2", None, "In short"),
        element("ul", None, *(element("li", None, line) for line in findings(report))),
        *(element("p", {"class": "note"}, note) for note in report.notes),
        element("h2", None, "Columns"),
        _roles(report),
        *_singling(report),
    ]
    if report.anonymity is not None:
        body += [*_alike(report, report.anonymity), *_attackers(report)]
    if report.population is not None:
        body += _population(report.population)
    if report.proposal is not None:
        body += _proposal(report, report.proposal)
    body += _instead(report)
    body += [element("h2", None, "What none of this promises"), element("p", None, PROMISE)]
    return page(f"Risk of {report.name}", body, private=True)


def _roles(report: RiskReport) -> Table:
    rows = [
        [one.name, _role(one.role), f"{one.distinct:,}", f"{one.missing:.1%}" if one.missing else "", one.why]
        for one in report.roles
    ]
    head = ("column", "taken for", "values", "missing", "because")
    return Table.of(head, rows, "What each column is taken for", numbers=(2, 3))


def _role(role: str) -> Any:
    return element("span", {"class": "wrong"}, role) if role == DIRECT else role


def _singling(report: RiskReport) -> list[Any]:
    shown = [one for one in _by_size(report.telling) if one.alone]
    if not shown:
        return []
    rows = [
        [shares, "no set of up to 4 columns" if one is None else join_names(one.columns)]
        for shares, one in report.smallest_sets
    ]
    parts: list[Any] = [
        element("h2", None, "What singles people out"),
        Table.of((f"unique {report.unit}", "the fewest columns that do it"), rows, "Smallest sets", numbers=()),
        _card(
            bars(
                f"Unique {report.unit}, by columns that are known",
                [Bar(join_names(one.columns), one.alone / report.counted) for one in shown],
                format=percent,
                ticks=percent,
                scale=Scale(0, 1),
            )
        ),
    ]
    if report.without and report.anonymity is not None:
        worst = sorted(report.without.items(), key=lambda pair: pair[1])[:_SETS]
        picture = bars(
            f"Unique {report.unit} if outsiders did not know a column",
            [Bar(name, alone / report.counted) for name, alone in worst],
            format=percent,
            ticks=percent,
            scale=Scale(0, 1),
        )
        parts.append(_card(picture))
    return parts


def _by_size(telling: Sequence[Telling]) -> list[Telling]:
    """The two sets of each size that tell most, small sets first."""
    return [
        one
        for many in sorted({len(one.columns) for one in telling})
        for one in [each for each in telling if len(each.columns) == many][:_EACH]
    ]


def _alike(report: RiskReport, found: Anonymity) -> list[Any]:
    rows = [[f"fewer than {k}", f"{many:,}", f"{many / found.rows:.1%}"] for k, many in found.below.items()]
    parts: list[Any] = [
        element("h2", None, "Who looks alike"),
        element("p", None, f"On {join_names(found.quasi)}: k = {found.k}, {found.classes:,} classes."),
        Table.of(("alike", report.unit, "share"), rows, f"{report.unit.capitalize()} by how many look like them"),
    ]
    if found.sensitive:
        secrets = [
            [
                one.column,
                f"{one.distinct:,}",
                f"{one.entropy:.2f}",
                f"{one.closeness:.3f}",
                f"{one.gain:,.2f}",
                f"{one.told:,}",
            ]
            for one in found.sensitive
        ]
        head = ("sensitive column", "l", "entropy l", "t", "beta", "follow from their class")
        parts.append(Table.of(head, secrets, "What a class gives away"))
    return parts


def _attackers(report: RiskReport) -> list[Any]:
    rows = [[one.name, one.knows, *attacker_cells(one), one.note] for one in report.attackers]
    above = f"above {report.attackers[0].threshold:.0%}" if report.attackers else ""
    head = ("attacker", "knows", "highest", "average", above, "how it is known")
    parts: list[Any] = [
        element("h2", None, "What attackers reach"),
        Table.of(head, rows, "Chances to name the right person for a row", numbers=(2, 3, 4)),
    ]
    if report.presence is not None:
        one = report.presence
        parts.append(
            element(
                "p",
                None,
                f"delta-presence: someone in the register is in the table with {one.lowest:.1%} to {one.highest:.1%}; "
                f"of {one.sure:,} of {one.people:,} people it is certain. {one.unmatched:,} rows fit nobody in the "
                "register.",
            )
        )
    if report.linkage is not None:
        parts += [element("p", None, line) for line in report.linkage.explain().split("\n")]
    return parts


def _population(found: Population) -> list[Any]:
    parts: list[Any] = [element("h2", None, "Unique in the population"), element("p", None, found.explain())]
    models = [(name, one) for name, one in found.models.items() if one["alone"] is not None]
    if not models:
        return parts
    ranges = [
        Bar(f"{name}{'' if one['fits'] else ' (does not fit the sample)'}", one["alone"], one["low"], one["high"])
        for name, one in models
    ]
    rows = [
        [
            name,
            f"{one['alone']:,.0f}",
            f"{one['low']:,.0f} to {one['high']:,.0f}",
            f"{one['kinds']:,.0f}",
            element("span", {"class": "right" if one["fits"] else "wrong"}, "fits" if one["fits"] else "does not fit"),
            "yes" if name == found.rule else "",
        ]
        for name, one in models
    ]
    head = ("model", "people alone", "range", "classes", "test of fit", "Dankar's rule")
    return [
        *parts,
        _card(bars("People alone in the population, by model", ranges, points=True)),
        Table.of(head, rows, "Models of the population", numbers=(1, 2, 3)),
    ]


def _proposal(report: RiskReport, proposal: Proposal) -> list[Any]:
    every = [proposal, *report.cheaper]
    costs = [
        [
            one.criteria,
            f"{one.loss.certainty:.1%}",
            f"{one.loss.entropy:.1%}",
            f"{one.loss.left_out:,}",
            f"{one.loss.discernibility:,.0f}",
            f"{one.loss.average_class:.1f}",
            f"{one.after.alone:,}",
            f"{one.tried:,}{' (all)' if one.least else ''}",
        ]
        for one in every
    ]
    columns = [
        [
            one.name,
            group_words(one),
            ", ".join(one.labels[:3]) if one.groups > 1 else "",
            f"{one.width:.0%}",
            f"{one.entropy:.0%}",
        ]
        for one in proposal.loss.columns
    ]
    known = "No other steps of these columns lose less." if proposal.least else "Others may lose less."
    head = (
        "criteria",
        "detail lost",
        "entropy lost",
        "rows left out",
        "rows alike",
        "class / k",
        "unique after",
        "ways tried",
    )
    return [
        element("h2", None, "A coarsening that meets the criteria"),
        element("p", None, f"{proposal.criteria}, the best of {proposal.tried:,} ways that were tried. {known}"),
        Table.of(("column", "becomes", "such as", "detail lost", "entropy lost"), columns, "Columns", numbers=(3, 4)),
        Table.of(head, costs, "What each criterion costs"),
    ]


def _instead(report: RiskReport) -> list[Any]:
    found = report.instead
    if found is None:
        return []
    rows = [[f"{one.epsilon:g}", one.noise, f"{one.within:,}", f"{one.error:.2%}"] for one in found.noisy]
    curve = [(one.epsilon, one.error) for one in found.noisy]
    top = max(found.coarse, *(error for _, error in curve))
    picture = lines(
        "People in a wrong cell, by epsilon",
        [Line("noise under a budget", tuple(curve))],
        x=Axis(Scale(0, max(epsilon for epsilon, _ in curve)), "epsilon"),
        y=Axis(Scale(0, min(1.1 * top, 1) or 1), "share of people", percent),
        levels=[("the coarsened table", found.coarse)],
    )
    each = f"{found.each:,} row{'' if found.each == 1 else 's'}"
    return [
        element("h2", None, "What noise under a privacy budget would cost instead"),
        element("p", None, found.sentence()),
        element(
            "p",
            None,
            "The tables are counts by each column, and by each column an outsider may know with each sensitive one. "
            f"From the coarsened table, {found.coarse:.2%} of the people are in a wrong cell on average, and the "
            "risk that is left is not known. Noise has a guarantee, whatever an outsider knows, and its error is known "
            f"beforehand. One person counts with at most {each}.",
        ),
        _card(picture),
        Table.of(("epsilon", "noise", "each count within (95%)", "error"), rows, "The same tables under a budget"),
    ]


def _card(picture: Picture) -> Markup:
    return element("div", {"class": "card"}, element("h3", None, picture.title), picture)
