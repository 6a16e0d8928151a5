"""A bar in a notebook: one output that is drawn anew, and says at the end how long it took."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from discreet.core.notebook_bar import NotebookBar, notebook_bar
from discreet.core.progress import notify, showing


class Screen:
    """What IPython shows: each output under its name, as it is now, and how often it was drawn."""

    def __init__(self):
        self.outputs, self.drawn = {}, 0

    def __call__(self, data, *, raw, display_id, update=False):
        assert raw
        assert update == (display_id in self.outputs)
        self.outputs[display_id] = data
        self.drawn += 1


@pytest.fixture
def screen(monkeypatch):
    """A kernel around this process."""
    made, kernel, display = Screen(), ModuleType("IPython"), ModuleType("IPython.display")
    kernel.get_ipython = lambda: SimpleNamespace(kernel=object())
    display.display = made
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return made


def only(screen):
    (output,) = screen.outputs.values()
    return output


def test_work_in_a_kernel_is_shown_as_one_output_that_changes(screen, monkeypatch):
    monkeypatch.setattr("discreet.core.notebook_bar._PAUSE", 0)
    with showing(patience=0):
        notify("measuring")
        assert only(screen)["text/plain"] == "measuring"
        notify("fitting", 0.5)
        assert "fitting: 50%" in only(screen)["text/plain"]
        assert 'aria-label="50% done"' in only(screen)["text/html"]
        assert "<script" not in only(screen)["text/html"]
    assert only(screen)["text/plain"] == "Done in 0 s."


def test_a_failure_is_not_called_done(screen):
    def work():
        with showing(patience=0):
            notify("fitting", 0.5)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        work()
    assert only(screen)["text/plain"].startswith("Stopped after")


def test_short_work_shows_nothing_and_quick_news_is_drawn_seldom(screen):
    with showing(patience=1e9):
        notify("fitting", 0.5)
    assert screen.outputs == {}
    bar = NotebookBar(screen)
    for step in range(1000):
        bar.show("fitting", step / 1000, 1.0)
    assert screen.drawn < 100


def test_elsewhere_there_is_no_bar(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert notebook_bar() is None
    terminal = ModuleType("IPython")
    terminal.get_ipython = lambda: SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", terminal)
    assert notebook_bar() is None
