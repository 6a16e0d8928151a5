"""Pictures of a survey's estimates as SVG, by hand: bars with error bars, readable on a phone, light and dark."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence

from discreet.local.questionnaire.estimate import Estimated

__all__ = ["figure", "figures"]

_WIDTH, _LEFT, _RIGHT = 400, 8, 12
_ROW, _AXIS, _HEAD = 46, 26, 6
_LETTERS = 44  # of a label or a title in one line
_FOREIGN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")

STYLE = """
text { font: 13px system-ui, "Segoe UI", Roboto, sans-serif; fill: #1c2430; }
.soft { fill: #56606d; font-size: 11px; } .title { font-weight: 600; }
.bar { fill: #2d7fb3; } .grid { stroke: #d5dae0; } .zero { stroke: #8a96a3; }
.error { stroke: #1c2430; stroke-width: 1.5; fill: none; } .dot { fill: #2d7fb3; }
.paper { fill: #fff; }
@media (prefers-color-scheme: dark) {
  text { fill: #e8ecf1; } .soft { fill: #a5b0bd; } .bar, .dot { fill: #3aa0d8; } .grid { stroke: #303a46; }
  .zero { stroke: #71808f; } .error { stroke: #e8ecf1; } .paper { fill: #12161c; }
}
"""


def figure(one: Estimated) -> str:
    """One question as an SVG element for a page whose style sheet colours it."""
    body, height = _body(one, 0)
    name = _safe(f"{one.question.text} {one.words()}")
    return (
        f'<svg class="plot" role="img" aria-label="{name}" viewBox="0 0 {_WIDTH} {height}" '
        f'xmlns="http://www.w3.org/2000/svg">{body}</svg>'
    )


def figures(title: str, every: Sequence[Estimated]) -> str:
    """Every question in one SVG file that needs nothing else."""
    top, parts = 34, [f'<text x="{_LEFT}" y="22" class="title">{_cut(title)}</text>']
    for one in every:
        parts.append(f'<text x="{_LEFT}" y="{top + 16}" class="title">{_cut(one.question.text)}</text>')
        body, height = _body(one, top + 24)
        parts.append(body)
        top += 24 + height + 14
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top}" width="{2 * _WIDTH}" '
        f'height="{2 * top}"><style>{STYLE}</style><rect class="paper" width="{_WIDTH}" height="{top}"/>'
        f"{''.join(parts)}</svg>\n"
    )


def _body(one: Estimated, top: int) -> tuple[str, int]:
    ticks = _ticks(min(one.lower.min(), one.floor), max(one.upper.max(), one.ceiling))
    first, last = ticks[0], ticks[-1]

    def across(value: float) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * (value - first) / (last - first), 2)

    height = _HEAD + _ROW * len(one.labels) + _AXIS
    bottom = top + height - _AXIS
    parts = []
    for tick in ticks:
        x = across(tick)
        kind = "zero" if tick == 0 else "grid"
        place = "start" if tick == first else "end" if tick == last else "middle"
        parts.append(f'<line class="{kind}" x1="{x}" x2="{x}" y1="{top + _HEAD}" y2="{bottom}"/>')
        parts.append(f'<text class="soft" x="{x}" y="{bottom + 15}" text-anchor="{place}">{one.number(tick)}</text>')
    for row, label in enumerate(one.labels):
        value, low, high = (float(part[row]) for part in (one.value, one.lower, one.upper))
        text, middle = top + _HEAD + _ROW * row + 14, top + _HEAD + _ROW * row + 29
        parts.append(f'<text x="{_LEFT + 4}" y="{text}">{_cut(label)}</text>')
        parts.append(f'<text x="{_WIDTH - _RIGHT - 4}" y="{text}" text-anchor="end">{one.number(value)}</text>')
        if one.shares:
            left, right = sorted((across(0), across(value)))
            parts.append(f'<rect class="bar" x="{left}" y="{middle - 8}" width="{right - left:.2f}" height="16"/>')
        else:
            parts.append(f'<circle class="dot" cx="{across(value)}" cy="{middle}" r="5"/>')
        a, b = across(low), across(high)
        ends = f"M{a} {middle - 5}V{middle + 5}M{a} {middle}H{b}M{b} {middle - 5}V{middle + 5}"
        parts.append(f'<path class="error" d="{ends}"/>')
    return "".join(parts), height


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers, three to six of them, around a range."""
    width = max(high - low, 1e-9)
    step = 10.0 ** math.floor(math.log10(width / 2))
    step *= next(factor for factor in (1, 2, 5, 10) if width / (step * factor) <= 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(place * step, digits) for place in range(first, last + 1)]


def _cut(text: str) -> str:
    return _safe(text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "\u2026")


def _safe(text: str) -> str:
    """Text inside a picture: no markup, and none of the characters that XML does not have."""
    return html.escape(_FOREIGN.sub("\ufffd", text))
