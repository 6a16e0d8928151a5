"""An object store for tests that speaks as much of S3 as is read: lists, heads, and parts of objects."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

SPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'


class ObjectStore(ThreadingHTTPServer):
    """Buckets of objects in memory; `asked` counts requests, `sent` the bytes of each object that left."""

    daemon_threads = True

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.asked: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()
        self.down = False
        self.after: dict[str, bytes] = {}
        """What an object is replaced by after its next part was sent."""
        super().__init__(("127.0.0.1", 0), _Handler)

    def put(self, folder: Path, bucket: str = "clinic/visits") -> None:
        """Put every file of a folder there."""
        for file in folder.rglob("*"):
            if file.is_file():
                self.objects[f"{bucket}/{file.relative_to(folder).as_posix()}"] = file.read_bytes()

    def address(self, path: str, scheme: str = "s3") -> str:
        """Where a path of it is, for whoever opens it."""
        return f"{scheme}://{path}?endpoint=http://127.0.0.1:{self.server_address[1]}&anonymous=true"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ObjectStore

    def log_message(self, *_: object) -> None:
        """Nothing on the screen."""

    def do_HEAD(self) -> None:
        self._object(head=True)

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        if "list-type" in parse_qs(asked.query):
            self._list(unquote(asked.path).strip("/"), parse_qs(asked.query))
        else:
            self._object()

    def _say(self, status: int, body: bytes, headers: dict[str, str], *, head: bool = False) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if not head:
            self.wfile.write(body)

    def _refused(self, status: int, code: str, *, head: bool = False) -> None:
        body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>told by the store</Message></Error>"
        self._say(status, b"" if head else body.encode(), {"Content-Type": "application/xml"}, head=head)

    def _list(self, bucket: str, options: dict[str, list[str]]) -> None:
        self.server.asked["list"] += 1
        if self.server.down:
            return self._refused(403, "AccessDenied")
        if not any(path.startswith(f"{bucket}/") for path in self.server.objects):
            return self._refused(404, "NoSuchBucket")
        prefix = f"{bucket}/{options.get('prefix', [''])[0]}"
        found = sorted(path for path in self.server.objects if path.startswith(prefix))
        several = "".join(
            f"<Contents><Key>{escape(path.partition('/')[2])}</Key><Size>{len(self.server.objects[path])}</Size>"
            "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
            for path in found
        )
        told = f"<IsTruncated>false</IsTruncated><KeyCount>{len(found)}</KeyCount>{several}"
        body = f"<?xml version='1.0'?><ListBucketResult {SPACE}>{told}</ListBucketResult>"
        self._say(200, body.encode(), {"Content-Type": "application/xml"})
        return None

    def _object(self, *, head: bool = False) -> None:
        self.server.asked["head" if head else "get"] += 1
        path = unquote(urlsplit(self.path).path).strip("/")
        if self.server.down:
            return self._refused(403, "AccessDenied", head=head)
        content = self.server.objects.get(path)
        if content is None:
            return self._refused(404, "NoSuchKey", head=head)
        first, last, whole = 0, len(content) - 1, True
        if asked := self.headers.get("Range"):
            begin, _, end = asked.removeprefix("bytes=").partition("-")
            first, last, whole = int(begin), min(int(end or last), last), False
        part = content[first : last + 1]
        headers = {
            "ETag": f'"{hashlib.md5(content, usedforsecurity=False).hexdigest()}"',
            "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT",  # the same for ever: only the tag tells states apart
            "Content-Length": str(len(part)),
        }
        if not whole:
            headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
        self._say(200 if whole else 206, part, headers, head=head)
        if not head:
            self.server.sent[path] += len(part)
            if path in self.server.after:
                self.server.objects[path] = self.server.after.pop(path)
        return None


@contextmanager
def object_store():
    """A store on this machine, for as long as this lasts."""
    server = ObjectStore()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
