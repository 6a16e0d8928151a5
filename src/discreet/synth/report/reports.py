"""Quality reports: the public one costs nothing and shows nothing new; the owner's one is not to be published."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.release import percent
from discreet.core.signature import typed
from discreet.errors import InputError
from discreet.mechanisms.inputs import read_confidence
from discreet.query.predicate import Predicate
from discreet.show import cell, verbatim
from discreet.synth.report.codes import encoded
from discreet.synth.report.figures import Figures, figures_of, real_figures_of
from discreet.synth.report.page import page
from discreet.synth.report.prediction import task_of
from discreet.synth.report.statistic import Statistic, default_statistics, read_statistics
from discreet.synth.report.words import privacy

if TYPE_CHECKING:
    from discreet.synth.release import SyntheticRelease

__all__ = ["Report", "compare", "report"]

COPIES = 6
"""How many other draws and how many trials a report makes, unless said otherwise."""
_MOST = 100
_NAMED = 6  # differences that a report names in few lines


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A report: `figures` in numbers, `to_html()` as a page. If `owner_only`, it was made from private rows."""

    release: str
    dataset: str
    owner_only: bool
    figures: Figures
    html: str
    privacy: str
    names: tuple[str, ...]

    def to_html(self) -> str:
        """The page: one file, nothing else needed."""
        return self.html

    def save(self, path: str | Path) -> Path:
        """Write the page to a .html file; that of the owner can be read by the one who wrote it only."""
        place = Path(path)
        if place.suffix.lower() not in (".html", ".htm"):
            raise InputError("path", str(path), "a file that ends in .html")
        if self.owner_only:
            place.touch(mode=0o600)
            place.chmod(0o600)
        place.write_text(self.html, encoding="utf-8")
        return place

    def _repr_html_(self) -> str:
        title, *lines = repr(self).split("\n")
        return cell(title, verbatim("\n".join(lines)), kind="Report")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        figures = self.figures
        names = self.names
        found: dict[str, Any] = {
            "release": self.release,
            "dataset": self.dataset,
            "owner_only": self.owner_only,
            "privacy": self.privacy,
            "confidence": figures.confidence,
            "copies": figures.copies,
            "total": None if figures.total is None else [figures.total.lower, figures.total.upper],
            "inside": _plain(figures.inside),
            "asks": [
                {
                    "text": one.text,
                    "answer": _plain(one.answer),
                    "known": None if one.known is None else [one.known.lower, one.known.upper],
                    "measured": [] if one.known is None else [[names[c] for c in s] for s in one.known.source],
                    "about": None if one.about is None else list(one.about),
                    "draws": [_plain(draw) for draw in one.draws],
                    **({} if one.real is None else {"real": _plain(one.real)}),
                }
                for one in figures.asks
            ],
            "measured": [
                {**asdict(one), "columns": [names[column] for column in one.columns], "gap": _plain(one.gap)}
                for one in figures.agreements
            ],
            "association": _table(figures.association),
        }
        if figures.real is not None:
            real = figures.real
            found["real"] = {
                "rows": real.rows,
                "marginals": {
                    str(ways): {
                        "compared": len(every),
                        "mean_tv": float(np.mean([one.tv for one in every])),
                        "largest_tv": max(one.tv for one in every),
                        "max_error": max(one.largest for one in every),
                    }
                    for ways, every in real.distances.items()
                    if every
                },
                "association": _table(real.association),
                "prediction": None if real.prediction is None else asdict(real.prediction),
                **real.values.to_dict(),
            }
        return found

    def __repr__(self) -> str:
        figures = self.figures
        kind = "Owner's report (NOT private, not a release)" if self.owner_only else "Report"
        lines = [f"{kind} on synthetic rows of {self.dataset!r}, release {self.release}"]
        if figures.real is not None:
            lines += [f"  Differs: {one.text}" for one in figures.real.values.findings[:_NAMED]]
        lines.append(f"  {figures.inside:.1%} of the measured cells agree with the noisy counts")
        for one in figures.asks:
            known = "no interval known" if one.known is None else f"{one.known.lower:.4g} to {one.known.upper:.4g}"
            real = "" if one.real is None else f"; real {one.real:.4g}"
            lines.append(f"  {one.text}: {one.answer:.4g} (true: {known}, {percent(figures.confidence)}{real})")
        if figures.real is not None:
            for ways, every in figures.real.distances.items():
                if every:
                    mean, most = np.mean([one.tv for one in every]), max(one.largest for one in every)
                    lines.append(f"  {ways}-way: mean TV {mean:.4f}, max error {most:.4f} over {len(every)} marginals")
            if figures.real.prediction is not None:
                learnt = figures.real.prediction
                score = f"AUC {learnt.synthetic.auc:.3f}, from real rows {learnt.real.auc:.3f}"
                lines.append(f"  {learnt.text}, trained on synthetic, tested on real: {score}")
        return "\n".join(lines)


@typed
def report(
    release: SyntheticRelease,
    asks: Iterable[str | Predicate] | None = None,
    *,
    copies: int = COPIES,
    confidence: float = 0.95,
) -> Report:
    """The public report, made from the release alone: free, and fit to be published with the rows.

    Guarantee
        It is a function of what was released (rows, noisy counts, the law of their noise) and of random numbers that
        follow from that: post-processing, whose loss is that of the release and no more.
    """
    questions, sure = _read(release, asks, copies, confidence)
    figures = figures_of(release, questions, copies, sure)
    return _made(release, figures)


def compare(
    release: SyntheticRelease,
    real: Any,
    asks: Iterable[str | Predicate] | None = None,
    *,
    not_private: bool = False,
    target: str | None = None,
    copies: int = COPIES,
    confidence: float = 0.95,
) -> Report:
    """The owner's report: the same, against the real rows, without noise and without a guarantee.

    `real` is a table in memory, given by a person who has it anyway; the curator, the door and the ledger have no part
    in it. Nothing on the page may be published: ask the curator, at a price, for a figure that may.
    """
    if not_private is not True:
        hint = "What comes out shows private rows: it is for the owner's eyes. report() is the one to publish."
        raise InputError("not_private", not_private, "True, set by the owner of the data", hint)
    questions, sure = _read(release, asks, copies, confidence)
    if target is not None:
        task_of(release.domain, release.codes, target)
    rows = encoded(real, release.domain, release.declared, release.parts)
    figures = figures_of(release, questions, copies, sure, rows.codes)
    return _made(release, real_figures_of(release, questions, figures, rows, target))


def _read(
    release: SyntheticRelease, asks: Iterable[str | Predicate] | None, copies: int, confidence: float
) -> tuple[tuple[Statistic, ...], float]:
    if isinstance(copies, bool) or not isinstance(copies, int) or not 0 <= copies <= _MOST:
        raise InputError("copies", copies, f"a whole number from 0 to {_MOST}")
    sure = float(read_confidence(confidence))
    if len(release) == 0:
        raise InputError("release", release.id, "a release with rows: this one has none")
    if asks is None:
        return default_statistics(release.domain, release.declared, release.codes, release.parts), sure
    return read_statistics(asks, release.domain, release.declared), sure


def _made(release: SyntheticRelease, figures: Figures) -> Report:
    owner = figures.real is not None
    words = privacy(release.cost, owner)
    names = release.domain.names
    return Report(release.id, release.dataset, owner, figures, page(release, figures), words, names)


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _table(matrix: Any) -> list[list[float | None]]:
    return [[_plain(value) for value in row] for row in matrix]
