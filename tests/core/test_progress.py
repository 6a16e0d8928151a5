"""Progress of long work: heard by whoever listens, by nobody else, and never by two at once."""

import io
import threading

import pytest

from discreet.core.progress import listening, notify, showing


def test_what_is_told_is_heard_inside_and_not_after():
    heard = []
    with listening(lambda stage, done: heard.append((stage, done))):
        notify("counting")
        notify("solving", 0.5)
    notify("too late")
    assert heard == [("counting", None), ("solving", 0.5)]


def test_the_inner_listener_hears_and_the_outer_one_again_afterwards():
    outer, inner = [], []

    def work():
        with listening(lambda stage, done: inner.append(stage)):
            notify("inside")
            raise RuntimeError("the work failed")

    with listening(lambda stage, done: outer.append(stage)):
        with pytest.raises(RuntimeError):
            work()
        notify("outside")
    assert (outer, inner) == (["outside"], ["inside"])


def test_another_thread_is_not_heard():
    heard = []
    with listening(lambda stage, done: heard.append(stage)):
        other = threading.Thread(target=notify, args=("elsewhere",))
        other.start()
        other.join()
    assert heard == []


class Terminal(io.StringIO):
    """What a person looks at."""

    def isatty(self):
        return True


def test_a_terminal_where_nobody_listens_shows_a_line_and_wipes_it():
    terminal = Terminal()
    with showing(terminal, patience=0):
        notify("training: step 5 of 10", 0.5)
        seen = terminal.getvalue()
    assert seen.endswith("training: step 5 of 10")
    assert terminal.getvalue().endswith("\r\x1b[2K")


def test_nothing_is_shown_of_short_work_nor_off_a_terminal_nor_beside_a_listener_nor_in_a_thread():
    heard, quiet, terminal = [], io.StringIO(), Terminal()
    with showing(quiet, patience=0):
        notify("counting")
    with showing(terminal, patience=1e9):
        notify("counting")
    with listening(lambda stage, done: heard.append(stage)), showing(terminal, patience=0):
        notify("counting")

    def work():
        with showing(terminal, patience=0):
            notify("counting")

    other = threading.Thread(target=work)
    other.start()
    other.join()
    assert quiet.getvalue() == terminal.getvalue() == ""
    assert heard == ["counting"]
