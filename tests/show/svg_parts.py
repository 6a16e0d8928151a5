"""Readers for pictures: the elements of an SVG text by name and class, and a check that it is well formed."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from discreet.show import Picture

SPACE = "{http://www.w3.org/2000/svg}"


def tree(picture: Picture) -> ElementTree.Element:
    """The file of a picture, parsed: anything that is no XML fails here."""
    return ElementTree.fromstring(picture.to_svg())


def parts(picture: Picture, tag: str, kind: str = "") -> list[ElementTree.Element]:
    """The elements of a picture by name and by one of their classes."""
    found = tree(picture).iter(f"{SPACE}{tag}")
    return [one for one in found if not kind or kind in one.get("class", "").split()]


def texts(picture: Picture) -> list[str]:
    """Every text in a picture."""
    return ["".join(one.itertext()) for one in parts(picture, "text")]


def share(value: str) -> float:
    """A percentage as a part of one."""
    assert re.fullmatch(r"-?[\d.]+%", value), value
    return float(value[:-1]) / 100
