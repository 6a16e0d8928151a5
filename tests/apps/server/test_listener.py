"""A connection that sends nothing, or never ends what it began, is closed; one whose request is worked on is not."""

import asyncio
import contextlib
import socket

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
import uvicorn

from discreet.apps.server.listener import Timeouts, run

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
async def listening(http):
    how = {"http": http, "lifespan": "off", "log_config": None, "log_level": "error", "timeout_keep_alive": 60}
    server = uvicorn.Server(uvicorn.Config(slow, **how))
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


def test_the_server_has_it(monkeypatch):
    seen = {}
    monkeypatch.setattr("uvicorn.run", lambda app, **how: seen.update(how))

    class Asked:
        workers = 1

        def application(self, service, pages):
            return None

    run(Asked(), None)
    assert seen["http"] is Timeouts
