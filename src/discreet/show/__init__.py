"""Pictures and pages: plain values become SVG and HTML that need nothing else.

One kit, one page shell, one style sheet.

A chart is a function from values to a `Picture`, which a template or a page takes as it is, and which saves itself as
.svg, .html, .png or .pdf. Every picture has a title, a description and, where it has numbers, a table of them.
"""

from discreet.show.bars import Bar, bars
from discreet.show.burndown import Moment, burndown
from discreet.show.columns import Column, columns
from discreet.show.dots import dots
from discreet.show.flow_map import Home, flow_map
from discreet.show.groups import Group, groups
from discreet.show.heat import grid, image, matrix
from discreet.show.intervals import Error, Span, errors, span, span_key
from discreet.show.lines import Band, Line, Step, lines, roc, steps
from discreet.show.meter import Reach, meter, reach, reach_axis
from discreet.show.notebook import cell, facts, fold, verbatim
from discreet.show.page import embedded, frame, page, policy, served_policy
from discreet.show.picture import Picture, stack
from discreet.show.plot import Axis
from discreet.show.scale import Scale, brief, compact, share
from discreet.show.scatter import Point, scatter
from discreet.show.series import Series, series
from discreet.show.style import style
from discreet.show.svg import Markup, clean, element, shorten
from discreet.show.table import Table
from discreet.show.tiles import tiles
from discreet.show.twins import Twin, twin_bars, twins

__all__ = [
    "Axis",
    "Band",
    "Bar",
    "Column",
    "Error",
    "Group",
    "Home",
    "Line",
    "Markup",
    "Moment",
    "Picture",
    "Point",
    "Reach",
    "Scale",
    "Series",
    "Span",
    "Step",
    "Table",
    "Twin",
    "bars",
    "brief",
    "burndown",
    "cell",
    "clean",
    "columns",
    "compact",
    "dots",
    "element",
    "embedded",
    "errors",
    "facts",
    "flow_map",
    "fold",
    "frame",
    "grid",
    "groups",
    "image",
    "lines",
    "matrix",
    "meter",
    "page",
    "policy",
    "reach",
    "reach_axis",
    "roc",
    "scatter",
    "series",
    "served_policy",
    "share",
    "shorten",
    "span",
    "span_key",
    "stack",
    "steps",
    "style",
    "tiles",
    "twin_bars",
    "twins",
    "verbatim",
]
