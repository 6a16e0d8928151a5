"""A report of an audit as one page that needs nothing else: no network, no scripts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from discreet.accounting.words import percent, readable
from discreet.audit.drawing import bars, roc
from discreet.audit.finding import Finding
from discreet.audit.gate import Gate

__all__ = ["HEAD", "outcome", "page", "rows"]

HEAD = ("what", "claim", "claimed epsilon", "found, at least", "runs", "outcome")

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; padding: 0.3rem 0.6rem; border-bottom: 1px solid #8885; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.bad { color: #b3261e; font-weight: 600; } .good { color: #1b6e53; }
figure { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1.5rem 0; align-items: center; }
figcaption { flex: 1 1 18rem; }
svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
svg .frame { fill: none; stroke: #8888; } svg .coin { stroke: #8888; stroke-dasharray: 3 3; fill: none; }
svg .region { fill: #1b6e5333; stroke: none; } svg .claimed { fill: #8888; }
"""


def rows(findings: Sequence[Finding]) -> list[list[str]]:
    """The findings as a table; a number that is a lower bound is rounded down."""
    table = []
    for found in findings:
        name = f"{found.name} ({found.planted})" if found.planted else found.name
        at = f" at delta {readable(found.delta)}" if found.delta else ""
        claimed = readable(found.claimed, 4) + at if math.isfinite(found.claimed) else "none"
        shown = readable(found.found, 3, "down") if math.isfinite(found.found) else "infinite"
        table.append([name, found.claim.words, claimed, shown, f"{found.runs:,}", outcome(found)])
    return table


def outcome(found: Finding) -> str:
    """One word or two."""
    if found.planted:
        return "caught" if found.violated else "NOT CAUGHT"
    return "VIOLATED" if found.violated else "no violation"


def page(report: Gate | Finding, title: str = "Privacy audit") -> str:
    """The whole page."""
    findings: Sequence[Finding]
    if isinstance(report, Gate):
        findings, planted, said = report.findings, report.planted, report.sentence()
        notes = [f"Not attacked: {text}" for text in report.skipped]
        fine = report.passed
    else:
        findings, planted, said, notes, fine = [report], (), report.sentence(), [], not report.violated
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1><p class='{'good' if fine else 'bad'}'>{escape(said)}</p>",
        *(f"<p>{escape(note)}</p>" for note in notes),
        _table("Claims", findings),
    ]
    if planted:
        parts.append(_table("Bugs that were planted, and must be caught", planted))
    parts.append(
        "<h2>What an attacker reached</h2><p>The shaded region is what the claim allows. The line is the best attack "
        "we found; the dot is what we are sure of. A claim is refuted by a dot outside the region, or by bets that win "
        "too often. A dot inside proves nothing.</p>"
    )
    parts += [_figure(found) for found in findings]
    return "".join(parts) + "</body></html>\n"


def _table(title: str, findings: Sequence[Finding]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in (*HEAD[:4], "", *HEAD[4:]))
    lines = []
    for found, cells in zip(findings, rows(findings), strict=True):
        bad = found.violated != bool(found.planted)
        shown = [f"<td>{escape(cell)}</td>" for cell in cells]
        shown[-1] = f"<td class='{'bad' if bad else 'good'}'>{escape(cells[-1])}</td>"
        shown.insert(4, f"<td>{bars(found)}</td>")
        lines.append(f"<tr>{''.join(shown)}</tr>")
    return f"<h2>{escape(title)}</h2><table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _figure(found: Finding) -> str:
    where = f"<p>Neighbours: {escape(found.neighbours)}.</p>" if found.neighbours else ""
    sure = percent(found.confidence, 3, "down")
    return (
        f"<figure>{roc(found)}<figcaption><h3>{escape(found.name)}</h3><p>{escape(found.sentence())}</p>{where}"
        f"<p>Sign looked for: {escape(found.event)}. Each bound holds with {escape(sure)}.</p></figcaption></figure>"
    )
