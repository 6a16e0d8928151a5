"""Files in an object store (s3://, gs://, az://): listed there, and copied beside the engine before they are read.

What is listed is what `Files` looks at on a disk: names, sizes, and what the store calls each state of an object (its
ETag or generation). A copy is of the state that was listed, or it is none. For names and types the engine is shown an
*outline* that holds no row: the end of a Parquet file, where its schema is, and the first line of a CSV file.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from discreet.core.digest import digest_of
from discreet.data.files import ENDINGS, Files, common_kind
from discreet.data.mirror import Copied, Mirror
from discreet.errors import DiscreetError, InputError, Phrase, SourceError

__all__ = ["OBJECT_STORES", "Objects", "objects_at"]

OBJECT_STORES = ("s3", "gs", "az")
_OPTIONS = {
    "s3": ("endpoint", "region", "anonymous"),
    "gs": ("endpoint", "anonymous"),
    "az": ("endpoint", "account"),
}
_TAGS = ("generation", "etag")  # what stores call a state of an object; the first one that is there
_FRESH = 1.0  # seconds that a listing is good for: a question needs it several times
_MANY = 10_000  # objects
_AT_ONCE = 16
_BLOCK = 8 << 20
_LINE = 1 << 20  # bytes in which the first line of a CSV file must end
_WILD = "*?["
_SECRETS = {"access_key", "secret_key", "session_token", "account_key", "sas_token", "key", "token", "password"}

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Stored:
    """An object as it was listed: its name below the folder that was asked for, and which state it is in."""

    name: str
    path: str
    size: int
    tag: str


@dataclass(frozen=True, slots=True, repr=False)
class Objects:
    """Objects of one kind (csv or parquet) under one address."""

    address: str
    kind: str
    _kept: dict[str, Any] = field(default_factory=dict, compare=False)
    _guard: Any = field(default_factory=threading.Lock, compare=False)

    def __repr__(self) -> str:
        return f"<private {self.kind} objects>"

    def listing(self) -> tuple[Stored, ...]:
        """Every object there now, in order of their names; looked up again after a second."""
        with self._guard:
            if "at" not in self._kept or time.monotonic() - self._kept["at"] >= _FRESH:
                found = _listed(self.address, repr(self))
                if common_kind([one.name for one in found]) != self.kind:
                    hint = "Nothing was spent. Keep one kind of file under an address."
                    allowed = f"the address of {self.kind} files, and of nothing else"
                    raise InputError("source", self, allowed, hint)
                self._kept.update(found=found, at=time.monotonic())
            found = self._kept["found"]
        return tuple(found)

    def stamps(self) -> list[tuple[str, int, str]]:
        """Name, size and state of every object."""
        return [(one.name, one.size, one.tag) for one in self.listing()]

    def mark(self) -> Hashable | None:
        """What changes whenever an object is written, replaced, added or taken away."""
        return (self.address, *self.listing())

    @contextmanager
    def outline(self) -> Iterator[Files]:
        """Files that have the names and types of the objects, and no row."""
        listing = self.listing()
        with self._mirrored("outline", listing, 0, self._outlined) as folder:
            yield Files(str(folder), self.kind)

    @contextmanager
    def copied(self) -> Iterator[Files]:
        """Copies of the objects, in the state that is listed now."""
        listing = self.listing()
        with self._mirrored("copy", listing, sum(one.size for one in listing), self._copy) as folder:
            yield Files(str(folder), self.kind)

    @contextmanager
    def _mirrored(
        self, what: str, listing: tuple[Stored, ...], size: int, one: Callable[[Stored, Path], None]
    ) -> Iterator[Path]:
        family = digest_of({"address": self.address, "as": what})
        states = {each.name: f"{each.size} {each.tag}" for each in listing}
        name = digest_of({"of": family, "states": states})

        def fill(folder: Path, known: Copied) -> None:
            def fetch(each: Stored) -> None:
                target = folder / each.name
                target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                if not known.link(each.name, states[each.name], target):
                    one(each, target)

            with ThreadPoolExecutor(_AT_ONCE) as pool:
                list(pool.map(fetch, listing))

        with Mirror().held(name, family, states, size, fill) as folder:
            yield folder

    def _copy(self, one: Stored, target: Path) -> None:
        def copy() -> None:
            store = _store(self.address)
            with store.open_input_file(one.path) as source, target.open("wb") as file:
                _check_same(one, source)
                while block := source.read(_BLOCK):
                    file.write(block)
            with store.open_input_file(one.path) as source:  # parts of two states would be neither
                _check_same(one, source)

        _asked(repr(self), copy)

    def _outlined(self, one: Stored, target: Path) -> None:
        def outline() -> None:
            with _store(self.address).open_input_file(one.path) as source:
                _check_same(one, source)
                if self.kind == "csv":
                    target.write_bytes(_first_line(source.read(_LINE)))
                    return
                with target.open("wb") as file:
                    file.truncate(one.size)  # and nothing is stored of what lies between
                    file.write(source.read_at(min(4, one.size), 0))
                    ends = source.read_at(8, one.size - 8) if one.size >= 12 else b""
                    length = min(int.from_bytes(ends[:4], "little") + 8, one.size) if ends[4:] == b"PAR1" else 0
                    file.seek(one.size - length)
                    file.write(source.read_at(length, one.size - length))

        _asked(repr(self), outline)


def objects_at(address: str, kinds: str) -> Objects:
    """The objects under an address that a person typed; `kinds` says what else would have been understood."""
    found = _listed(address, _shown(address))
    kind = common_kind([one.name for one in found])
    if not found or kind not in ("csv", "parquet"):
        endings = ", ".join(sorted({PurePosixPath(one.name).suffix.lower() for one in found}))
        here = f"objects here end in {endings}" if found else "nothing is there"
        raise InputError("source", Phrase(_shown(address)), f"{kinds}: {here}")
    return Objects(address, kind)


def _first_line(text: bytes) -> bytes:
    """The first record of a CSV file."""
    quotes = start = 0
    while (end := text.find(b"\n", start)) >= 0:
        quotes += text.count(b'"', start, end)
        if quotes % 2 == 0:
            return text[: end + 1]
        start = end + 1
    return text if len(text) < _LINE else b"\n"


def _check_same(one: Stored, source: Any) -> None:
    if source.size() != one.size or _tag(source.metadata()) != one.tag:
        hint = "Nothing was spent. Ask again."
        raise SourceError("source", Phrase("objects that changed"), "left alone while they are copied", hint)


def _tag(metadata: Mapping[Any, Any]) -> str:
    said = {str(name).lower(): bytes(value).decode("utf-8", "replace") for name, value in _pairs(metadata)}
    return next((f"{name} {said[name]}" for name in _TAGS if said.get(name)), said.get("last-modified", ""))


def _pairs(metadata: Mapping[Any, Any]) -> Iterator[tuple[str, bytes]]:
    for name, value in metadata.items():
        yield (
            (name.decode() if isinstance(name, bytes) else name),
            value if isinstance(value, bytes) else value.encode(),
        )


def _listed(address: str, said: str) -> tuple[Stored, ...]:
    """Every object under an address, which errors call by `said`: whoever opened it knows it, and callers need not."""
    scheme, path, _ = _parts(address)
    whole = PurePosixPath(path)
    wild = next((place for place, part in enumerate(whole.parts) if any(mark in part for mark in _WILD)), None)
    root = whole if wild is None else PurePosixPath(*whole.parts[:wild])
    pattern = None if wild is None else _pattern(whole.parts[wild:])
    if wild == 0:
        raise InputError("source", Phrase(_shown(address)), f"written with the name of a bucket: {scheme}://bucket/...")

    def entries() -> list[Any]:
        from pyarrow import fs

        store = _store(address)
        if pattern is None and len(root.parts) > 1:
            (one,) = store.get_file_info([str(root)])
            if one.type == fs.FileType.File:
                return [one]
        every = store.get_file_info(fs.FileSelector(str(root), recursive=True, allow_not_found=len(root.parts) > 1))
        return [one for one in every if one.type == fs.FileType.File]

    found = _asked(said, entries)
    named = []
    for one in found:
        if one.path == str(root):
            named.append((root.name, one.path))
            continue
        name = one.path.removeprefix(f"{root}/")
        wanted = pattern.fullmatch(name) if pattern else PurePosixPath(name).suffix.lower() in _KNOWN
        if wanted:
            named.append((name, one.path))
    if len(named) > _MANY:
        hint = "Write them as fewer and larger ones, or read them with Spark."
        raise InputError("source", Phrase(said), f"at most {_MANY:,} objects", hint)
    for name, _ in named:
        if not _fits(name):
            raise InputError("source", Phrase(said), "objects whose names can be names of files")

    def looked_up(each: tuple[str, str]) -> Stored:
        with _store(address).open_input_file(each[1]) as source:
            return Stored(each[0], each[1], source.size(), _tag(source.metadata()))

    def look() -> list[Stored]:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(looked_up, sorted(named)))

    return tuple(_asked(said, look))


_KNOWN = set().union(ENDINGS["parquet"], ENDINGS["csv"])


def _fits(name: str) -> bool:
    parts = name.split("/")
    return all(part not in ("", ".", "..") and len(part.encode()) <= 200 and "\0" not in part for part in parts)


def _pattern(parts: tuple[str, ...]) -> re.Pattern[str]:
    """What the rest of a glob pattern matches: `**` any folders, `*` and `?` within one name."""
    text = ""
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        if part == "**":
            text += ".*" if last else "(?:.*/)?"
            continue
        for piece in re.split(r"(\*|\?|\[!?[^]]+\])", part):
            if piece in ("*", "?"):
                text += "[^/]*" if piece == "*" else "[^/]"
            elif piece.startswith("[") and piece.endswith("]") and len(piece) > 2:
                inside = piece[1:-1].replace("\\", r"\\")
                text += f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
            else:
                text += re.escape(piece)
        text += "" if last else "/"
    return re.compile(text)


def _parts(address: str) -> tuple[str, str, dict[str, str]]:
    """The scheme, the bucket with the key, and the options of an address."""
    plain, mark, rest = address.rpartition("?")
    if not (mark and re.match(r"[a-z_]+=", rest)):  # a question mark is also a wildcard
        plain, rest = address, ""
    scheme, _, path = plain.partition("://")
    options = dict(parse_qsl(rest, keep_blank_values=True))
    if "@" in path.partition("/")[0] or _SECRETS & set(options):
        hint = "Nothing was read. Leave it out of the address and set it in the environment, as the store's tools do."
        raise InputError("source", Phrase("an address with a secret in it"), "an address without one", hint)
    for name in options:
        if name not in _OPTIONS[scheme]:
            raise InputError.unknown(f"source.{name}", _OPTIONS[scheme])
    if not path.strip("/") or path.startswith("/"):
        raise InputError("source", Phrase(_shown(address)), f"written as {scheme}://bucket/folder")
    return scheme, path.strip("/"), options


def _shown(address: str) -> str:
    """An address for a message: without options, and without what may stand before an @."""
    scheme, _, rest = re.split(r"\?[a-z_]+=", address)[0].partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


def _store(address: str) -> Any:
    scheme, path, options = _parts(address)
    told = tuple(os.environ.get(name, "") for name in ("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY", "AWS_REGION"))
    return _made(scheme, path.partition("/")[0], tuple(sorted(options.items())), told)


@lru_cache(maxsize=32)
def _made(scheme: str, bucket: str, given: tuple[tuple[str, str], ...], told: tuple[str, ...]) -> Any:
    """A file system of pyarrow: credentials are found where the store's own tools look for them."""
    del told  # what it was made of beside the address: another environment is another store
    from pyarrow import fs

    options = dict(given)
    endpoint = urlsplit(options.get("endpoint", ""))
    if endpoint.path.strip("/") or (options.get("endpoint") and endpoint.scheme not in ("http", "https")):
        raise InputError("source.endpoint", options["endpoint"], "written as https://host:port")
    if options.get("anonymous", "false") not in ("true", "false"):
        raise InputError("source.anonymous", options["anonymous"], "true or false")
    anonymous = options.get("anonymous") == "true"
    if scheme == "s3":
        how: dict[str, Any] = {"connect_timeout": 10, "request_timeout": 60, "anonymous": anonymous}
        how["retry_strategy"] = fs.AwsStandardS3RetryStrategy(max_attempts=3)
        if endpoint.netloc:
            how |= {"endpoint_override": endpoint.netloc, "scheme": endpoint.scheme}
        named = any(os.environ.get(name) for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL"))
        if "region" in options:
            how["region"] = options["region"]
        elif not (endpoint.netloc or named):
            how["region"] = fs.resolve_s3_region(bucket)
        return fs.S3FileSystem(**how)
    if scheme == "gs":
        how = {"anonymous": anonymous, "retry_time_limit": timedelta(seconds=30)}
        if endpoint.netloc:
            how |= {"endpoint_override": endpoint.netloc, "scheme": endpoint.scheme}
        return fs.GcsFileSystem(**how)
    account = options.get("account") or os.environ.get("AZURE_STORAGE_ACCOUNT")
    if not account:
        hint = "Set AZURE_STORAGE_ACCOUNT, or write az://container/folder?account=NAME."
        raise InputError("source.account", Phrase("nothing"), "the name of the storage account", hint)
    how = {"account_key": os.environ.get("AZURE_STORAGE_KEY") or None}
    if endpoint.netloc:
        how |= {f"{kind}_storage_authority": endpoint.netloc for kind in ("blob", "dfs")}
        how |= {f"{kind}_storage_scheme": endpoint.scheme for kind in ("blob", "dfs")}
    return fs.AzureFileSystem(account, **how)


def _asked(said: str, ask: Callable[[], Found]) -> Found:
    """What a store is asked for, or an error that quotes nothing of what it said but a word for what went wrong."""
    try:
        return ask()
    except DiscreetError:
        raise
    except Exception as problem:
        told = re.search(r"AWS Error ([A-Z_]+)|\b(PERMISSION_DENIED|UNAUTHENTICATED|NOT_FOUND)\b", str(problem))
    word = next((one for one in told.groups() if one), "") if told else ""
    about = f"The store says {word}. " if word else ""
    hint = (
        f"{about}Nothing was spent. Check the address, the credentials in the environment, and that it can be reached."
    )
    raise SourceError("source", Phrase(said), "an object store that can be reached", hint)
