"""How far work is, in a notebook: one output of the cell, drawn anew while it runs. No script, no widget."""

from __future__ import annotations

import sys
import time
import uuid
from importlib import import_module
from typing import Any

from discreet.core.progress import time_left
from discreet.show import cell, element, meter

__all__ = ["NotebookBar", "notebook_bar"]

_PAUSE = 0.2  # seconds between two drawings


class NotebookBar:
    """A bar in the output of a cell. `display` is that of IPython."""

    patience = 0.5

    def __init__(self, display: Any) -> None:
        self._display = display
        self._name = f"discreet-{uuid.uuid4().hex}"
        self._drawn: float | None = None

    def show(self, stage: str, done: float | None, seconds: float) -> None:
        """The stage, and a bar where it is known how much is done."""
        now = time.monotonic()
        if self._drawn is not None and now - self._drawn < _PAUSE:
            return
        words = stage if done is None else f"{stage}: {done:.0%}{time_left(seconds, done)}"
        share = "progress not known" if done is None else f"{done:.0%} done"
        self._draw(words, element("p", {"class": "note"}, words), meter(done, share))
        self._drawn = now

    def end(self, seconds: float, over: bool) -> None:
        """How long it took."""
        words = f"Done in {seconds:,.0f} s." if over else f"Stopped after {seconds:,.0f} s."
        self._draw(words, element("p", {"class": "note"}, words))

    def _draw(self, plain: str, *parts: Any) -> None:
        data = {"text/plain": plain, "text/html": cell("", *parts, bare=True)}
        known = {"update": True} if self._drawn is not None else {}
        self._display(data, raw=True, display_id=self._name, **known)


def notebook_bar() -> NotebookBar | None:
    """A bar, where this process is the kernel of a notebook; None anywhere else."""
    find = getattr(sys.modules.get("IPython"), "get_ipython", None)
    if find is None or getattr(find(), "kernel", None) is None:
        return None
    return NotebookBar(import_module("IPython.display").display)
