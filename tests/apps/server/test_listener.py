"""A connection that sends nothing, or never ends what it began, is closed; one whose request is worked on is not."""

import asyncio
import contextlib
import os
import socket
import threading
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
import uvicorn

from discreet.apps.server.guard import OneLength
from discreet.apps.server.listener import run
from discreet.apps.server.service import Service
from discreet.apps.server.timeouts import Timeouts

WAIT = 0.3


class Hasty(Timeouts):
    wait = WAIT


async def slow(scope, receive, send):
    """Reads the body, then takes three times as long as a connection may."""
    while (message := await receive())["type"] == "http.request" and message.get("more_body"):
        pass
    await asyncio.sleep(3 * WAIT)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@contextlib.asynccontextmanager
async def listening(http, app=slow):
    how = {"http": http, "lifespan": "off", "log_config": None, "log_level": "error", "timeout_keep_alive": 60}
    server = uvicorn.Server(uvicorn.Config(app, **how))
    server.install_signal_handlers = lambda: None
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen()
        task = asyncio.create_task(server._serve([bound]))
        try:
            yield bound.getsockname()[1]
        finally:
            server.should_exit = True
            await task


async def answered(port, *pieces, pause=0.0, wait=8 * WAIT):
    """What comes back, up to the end of the connection; None if it stays open."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(pause)
        return await asyncio.wait_for(reader.read(), wait)
    except ConnectionResetError:
        return b""
    except TimeoutError:
        return None
    finally:
        writer.close()


HALF = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc"
WHOLE = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc"
SENT = {"nothing": (), "part of a head": (b"GET / HT",), "part of a body": (HALF,)}


@pytest.mark.parametrize("pieces", SENT.values(), ids=SENT)
def test_who_keeps_it_waiting_is_sent_away(pieces):
    async def both():
        async with listening(Hasty) as port:
            assert await answered(port, *pieces) == b""
        async with listening("auto") as port:  # without it they would stay
            assert await answered(port, *pieces) is None

    asyncio.run(both())


def test_who_waits_for_an_answer_has_it_and_then_goes():
    async def one():
        async with listening(Hasty) as port:
            assert (await answered(port, WHOLE)).endswith(b"ok")
            # the first byte of another request does not keep the connection
            assert (await answered(port, WHOLE, b"G", pause=3.5 * WAIT)).endswith(b"ok")

    asyncio.run(one())


SMUGGLED = b"0\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\nx-forwarded-user: carla\r\nconnection: close\r\n\r\n"


def test_a_request_of_two_lengths_brings_no_other_along():
    asked = []

    async def named(scope, receive, send):
        asked.append([name for name, _ in scope["headers"]])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    def sent(*lengths):
        async def whole():
            async with listening(Timeouts, OneLength(named)) as port:
                head = b"".join(b"%b\r\n" % length for length in lengths)
                return await answered(port, b"POST / HTTP/1.1\r\nhost: x\r\n" + head + b"\r\n" + SMUGGLED, wait=60)

        return asyncio.run(whole())

    both = (b"content-length: %d" % len(SMUGGLED), b"transfer-encoding: chunked")
    assert sent(*both).startswith(b"HTTP/1.1 400")
    assert asked == []
    sent(*both[1:])  # what stands behind the end of the body is a request of its own
    assert [b"x-forwarded-user" in names for names in asked] == [False, True]


def test_the_server_has_it_and_old_uploads_go_while_it_runs(monkeypatch, tmp_path):
    seen = {}

    def served(app, **how):
        seen.update(how, threads=[one.name for one in threading.enumerate()])

    monkeypatch.setattr("uvicorn.run", served)

    class Asked:
        workers = 1
        config = None

        def application(self, service, pages):
            return None

    run(Asked(), Service({}, None, state=tmp_path))
    assert seen["http"] is Timeouts
    assert "discreet-uploads" in seen["threads"]


@pytest.mark.parametrize("number", [1, 3])
def test_settings_in_a_file_are_read_again_by_one_process_as_by_several(monkeypatch, number):
    seen = {}

    class Made:
        def __init__(self, *given):
            seen["number"], seen["how"] = given[:2]

        def run(self):
            self.died(2)
            seen["deaths"] = (Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]) / "deaths").read_text()
            return False

    monkeypatch.setattr("discreet.apps.server.listener.Workers", Made)

    class Asked:
        workers = number
        config = "server.toml"
        shared = staticmethod(contextlib.nullcontext)

    with pytest.raises(SystemExit):  # no process could begin
        run(Asked(), Service({}, None), port=0, worker="module:name")
    assert seen["number"] == number
    assert (seen["how"]["app"], seen["how"]["factory"], seen["how"]["http"]) == ("module:name", True, Timeouts)
    assert seen["deaths"] == "2"
