"""What every file of a release says of it: title, price, unit, condition, confidence, id, notes, and how to cite it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.core.release import Release

__all__ = ["ENDINGS", "citation", "metadata", "released_on", "source_lines"]

ENDINGS = ("csv", "json", "parquet", "html", "md", "svg", "png", "pdf")
"""What a release can be saved as."""


def metadata(release: Release) -> dict[str, Any]:
    """Plain values, numbers as numbers; what is not known is left out."""
    facts = release.facts
    told: dict[str, Any] = {
        "title": release.title,
        "dataset": release.dataset,
        "release": release.id,
        "released": facts.get("released"),
        "unit": facts.get("unit"),
        **facts.get("price", {}),
        "cost": release.cost,
        "confidence": release.confidence if release.outputs else None,
        "filter": facts.get("where"),
        "keys": list(release.keys),
        "outputs": {name: facts.get("outputs", {}).get(name, name) for name in release.outputs},
        "noise": release.mechanism,
        "data": release.data,
        "plan": release.digest,
        "citation": citation(release),
        "notes": [note.to_dict() for note in release.notes],
    }
    return {name: value for name, value in told.items() if value not in (None, "", [], {})}


def citation(release: Release) -> str:
    """How to cite it: what it is, of which data, under which guarantee, when and by what."""
    from discreet import __version__

    day = released_on(release)
    unit = str(release.facts.get("unit", ""))
    promise = "; ".join(filter(None, (release.cost, f"protects {unit}" if unit else "")))
    parts = [
        f"{release.title}",
        f"Differentially private release from the dataset \u201c{release.dataset}\u201d ({promise})",
        f"Release {release.id}" + (f", {day}" if day else ""),
        f"Made with discreet {__version__}",
    ]
    return ". ".join(parts) + "."


def released_on(release: Release) -> str:
    """The day of the release as people write it; nothing where that is not known."""
    try:
        day = datetime.fromisoformat(str(release.facts.get("released", "")))
    except ValueError:
        return ""
    return f"{day.day} {day:%B %Y}"


def source_lines(release: Release) -> list[str]:
    """What stands below a picture that leaves its page: where its numbers come from, in short lines."""
    from discreet.core.release import percent

    facts = release.facts
    filtered = f"where {facts['where']}" if facts.get("where") else ""
    sure = f"{percent(release.confidence)} confidence intervals" if release.outputs else ""
    unit = f"protects {facts['unit']}" if facts.get("unit") else ""
    lines = [
        [f"Dataset {release.dataset}", filtered, sure],
        [release.cost, unit],
        [f"release {release.id}", released_on(release)],
    ]
    return [" \u00b7 ".join(filter(None, line)) for line in lines]
