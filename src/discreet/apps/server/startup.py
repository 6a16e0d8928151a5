"""What is said when a server listens: to people, and to the service manager that started it."""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

__all__ = ["announcing", "notify"]

_PAUSE = 0.1
_UNKNOWN = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # every address of the machine: one of them answers


@contextmanager
def announcing(host: str, port: int, said: Callable[[], None], *, tls: bool = False) -> Iterator[None]:
    """Call `said` once the server at an address answers, and tell the service manager; at the end, that it stops."""
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(_address(host, port, tls), said, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        notify("STOPPING=1")


def _watch(address: str, said: Callable[[], None], over: threading.Event) -> None:
    # Only whether this machine's own server answers is asked, so whom its certificate names does not matter.
    trust = ssl._create_unverified_context()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trust))
    while not over.is_set():
        try:
            with opener.open(address, timeout=10):
                break
        except (OSError, urllib.error.URLError):
            time.sleep(_PAUSE)
    else:
        return
    said()
    notify("READY=1")


def _address(host: str, port: int, tls: bool) -> str:
    host = _UNKNOWN.get(host, host)
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}/livez"


def notify(state: str) -> None:
    """Tell systemd, or whoever speaks its protocol, how the service stands; nothing where nobody asked."""
    place = os.environ.get("NOTIFY_SOCKET", "")
    if not place.startswith(("/", "@")):
        return
    name = "\0" + place[1:] if place.startswith("@") else place
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.sendto(state.encode(), name)
