"""Someone at the pages, without a browser: keeps cookies, follows forms, and looks at what pages are made of."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urlencode

from asgi_client import Client
from discreet.apps.web.site import application

_INLINE = re.compile(r"<style|\sstyle\s*=|\son[a-z]+\s*=\s*[\"']|javascript:|<script(?![^>]*\bsrc=)", re.IGNORECASE)


_APPLICATIONS: dict[int, tuple] = {}


def served(service):
    """The application of a service: made once, for making one takes longer than a request."""
    if id(service) not in _APPLICATIONS:  # an id is its own as long as the service lives
        _APPLICATIONS[id(service)] = (service, application(service))
    return _APPLICATIONS[id(service)][1]


class Visitor:
    """A browser's cookies and forms, over an application in this process."""

    def __init__(self, application, base="http://localhost"):
        self.client = Client(application)
        self.base = base
        self.cookies: dict[str, str] = {}
        self.page = None

    def get(self, path, **headers):
        return self._sent("GET", path, None, headers)

    def post(self, path, fields, csrf=None, **headers):
        """Send a form as the page shown last would: with its hidden value, unless another is given."""
        token = self.csrf if csrf is None else csrf
        pairs = [("csrf", token), *(fields.items() if isinstance(fields, dict) else fields)]
        headers = {"content-type": "application/x-www-form-urlencoded", **headers}
        return self._sent("POST", path, urlencode(pairs).encode(), headers)

    def sign_in(self, token, then="/"):
        self.get("/login")
        return self.post("/login", {"token": token, "then": then})

    @property
    def csrf(self):
        found = re.search(r'name="csrf" value="([0-9a-f]{64})"', self.page.text if self.page is not None else "")
        return found[1] if found else ""

    def follow(self, answer):
        """Where an answer sends the browser."""
        assert answer.status_code == 303
        return self.get(answer.headers["location"])

    def _sent(self, method, path, body, headers):
        named = {"accept": "text/html", **headers}
        if self.cookies:
            named["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        answer = self.client.request(method, self.base + path, content=body, headers=named)
        for one in answer.headers.get_list("set-cookie"):
            name, _, rest = one.partition("=")
            self.cookies[name] = rest.partition(";")[0]
        if answer.headers.get("content-type", "").startswith("text/html"):
            self.page = answer
            sound(answer)
        return answer


class _Seen(HTMLParser):
    """What a page holds: labels, fields, headings, landmarks."""

    def __init__(self):
        super().__init__()
        self.tags, self.headings, self.fields, self.labelled, self.ids, self.described = [], [], [], set(), [], []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        if tag in ("h1", "h2", "h3", "h4"):
            self.headings.append(int(tag[1]))
        if tag in ("input", "select", "textarea") and given.get("type") != "hidden" and "hidden" not in given:
            self.fields.append(given)
        if tag == "label":
            self.labelled.add(given.get("for"))
        self.described += given.get("aria-describedby", "").split()


def sound(answer):
    """Every page: nothing inline, a strict policy, a language, one main heading, labels, ids that are there."""
    text = answer.text
    assert not _INLINE.search(text), _INLINE.search(text)
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    seen = _Seen()
    seen.feed(text)
    for name in seen.described:
        assert name in seen.ids
    for given in seen.fields:
        assert given.get("id") in seen.labelled or given.get("aria-label"), given
    assert len(seen.ids) == len(set(seen.ids))
    tags = [tag for tag, _ in seen.tags]
    if "html" not in tags or answer.status_code == 500:  # a part of a page, or the page for what nobody foresaw
        return seen
    assert next(given for tag, given in seen.tags if tag == "html")["lang"] == "en"
    assert [tags.count(tag) for tag in ("main", "header", "footer")] == [1, 1, 1]
    assert seen.headings[0] == 1
    assert seen.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(seen.headings, seen.headings[1:], strict=False))
    for tag, given in seen.tags:
        for name in ("src", "href", "action"):
            target = given.get(name)
            assert target is None or (tag == "a" and target == "") or target.startswith(("/", "#")), (tag, target)
            assert target is None or not target.startswith("//")
    return seen
