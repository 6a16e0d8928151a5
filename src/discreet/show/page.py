"""The shell of a page: one file with its style, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from typing import Any

from discreet.show.style import style
from discreet.show.svg import Markup, element

__all__ = ["embedded", "frame", "page", "policy", "served_policy"]

# What could end a script element or a line of script, and halves of surrogate pairs, which have no UTF-8.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def page(
    title: str,
    body: Sequence[Any],
    *,
    kind: str = "",
    private: bool = False,
    data: Any = None,
    parts: Any = None,
    script: str = "",
    linked: str = "",
    module: str = "",
    icon: str = "",
) -> str:
    """One HTML page around a body of markup, pictures and tables.

    It holds its own style sheet, and its content security policy forbids every request and every style and script but
    its own (by hash), so even a mistake in escaping would not run anything. `data` is put in as JSON for its `script`,
    and so are `parts`, by id: what the script reads later, or never.
    A page that a server gives out beside a style sheet names its address in `linked`, and that of a script in `module`;
    its policy is then the server's.
    `kind` is a class of the body, and a `private` page asks search engines to leave it alone.
    """
    head = [Markup('<meta charset="utf-8">')]
    if not linked:
        head.append(_meta("http-equiv", "Content-Security-Policy", policy(style(), script)))
    head += [
        _meta("name", "viewport", "width=device-width, initial-scale=1"),
        _meta("name", "color-scheme", "light dark"),
        *([_meta("name", "robots", "noindex")] if private else []),
        element("title", None, title),
        *([_link("icon", icon, "image/svg+xml")] if icon else []),
        _link("stylesheet", linked) if linked else element("style", None, Markup(style())),
    ]
    end = [] if data is None else [_script(embedded(data), type="application/json", id="data")]
    end += [_script(embedded(part), type="application/json", id=name) for name, part in (parts or {}).items()]
    end += [_script(script)] if script else []
    end += [_script("", type="module", src=module)] if module else []
    inside = element("body", {"class": f"page {kind}".rstrip()}, element("main", None, *body), *end)
    return f"<!doctype html>\n{element('html', {'lang': 'en'}, element('head', None, *head), inside)}\n"


def policy(style: str, script: str = "") -> str:
    """A content security policy for one style and one script, by hash.

    >>> policy("body {}").split(";")[0], len(policy("body {}", "run()").split(";"))
    ("default-src 'none'", 5)
    """
    scripts = f"; script-src '{_hash(script)}'" if script else ""
    return f"default-src 'none'; style-src '{_hash(style)}'{scripts}; base-uri 'none'; form-action 'none'"


def served_policy(*, forms: bool = False) -> str:
    """The policy of a page that a server gives out with files of its own; whether it may send `forms` to it.

    >>> served_policy().split("; ")[-3:]
    ["form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'"]
    """
    own = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"
    return f"{own}; form-action '{'self' if forms else 'none'}'; base-uri 'none'; frame-ancestors 'none'"


def embedded(content: Any) -> str:
    r"""JSON for a script element: nothing in it can end the element, open a comment or end a line of script.

    >>> embedded("</script><!--\u2028&")
    '"\\u003c/script\\u003e\\u003c!--\\u2028\\u0026"'
    """
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def frame(title: str, text: str, height: int, *, scripts: bool) -> str:
    """A page inside another, as notebooks show it: cut off from whatever is around it."""
    allowed = "allow-scripts allow-downloads allow-modals" if scripts else ""
    shown = f'sandbox="{allowed}" width="100%" height="{height}" style="border:0;color-scheme:normal"'
    return f'<iframe title="{html.escape(title)}" {shown} srcdoc="{html.escape(text)}"></iframe>'


def _meta(name: str, value: str, content: str) -> Markup:
    return Markup(f'<meta {name}="{value}" content="{html.escape(content, quote=False)}">')


def _link(kind: str, address: str, type: str = "") -> Markup:
    more = f' type="{type}"' if type else ""
    return Markup(f'<link rel="{kind}" href="{html.escape(address)}"{more}>')


def _script(text: str, **attributes: str) -> Markup:
    return element("script", attributes, Markup(text))


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
