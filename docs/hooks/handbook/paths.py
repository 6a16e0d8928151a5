"""The HTTP page, drawn from the server's own OpenAPI description: paths, bodies, answers, errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from handbook.words import cell, markdown, prose, table

__all__ = ["description", "operations", "path_pages"]

_UP = "../"


def description() -> dict[str, Any]:
    """The OpenAPI description of a server."""
    from discreet.apps.server.app import application
    from discreet.apps.server.service import Service

    return application(Service({}, None)).openapi()


def operations(described: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Method, path and operation, one after the other."""
    for path, by_method in described["paths"].items():
        for method, operation in by_method.items():
            if method in ("get", "post", "put", "patch", "delete"):
                yield method.upper(), path, operation


def path_pages(described: Mapping[str, Any]) -> dict[str, str]:
    """The page, by its path."""
    parts = ["# HTTP", _INTRO, "## Errors that every path has", _problems(described)]
    tag = None
    for method, path, operation in sorted(operations(described), key=lambda one: _order(described, one[2])):
        if (found := (operation.get("tags") or ["other"])[0]) != tag:
            tag = found
            parts.append(f"## {tag[:1].upper()}{tag[1:]}")
        parts += [f"### {method} {path}", markdown(operation.get("description", ""), _UP)]
        parts += _given(operation)
        parts += _answers(operation, described)
    parts += ["## Bodies", "What is sent and what comes back, by name."]
    for name, schema in sorted(described["components"]["schemas"].items()):
        parts += [f'<a id="{name}"></a>', f"### {name}", markdown(schema.get("description", ""), _UP)]
        wanted = schema.get("required", [])
        rows = [
            [f"`{field}`", _kind(one), "yes" if field in wanted else "", cell(_said(one), _UP)]
            for field, one in schema.get("properties", {}).items()
        ]
        if rows:
            parts.append(table(["field", "is", "required", ""], rows))
    return {"reference/http.md": "\n\n".join([part for part in parts if part] + [""])}


def _order(described: Mapping[str, Any], operation: Mapping[str, Any]) -> int:
    """Tags in the order in which they first come up."""
    tags = list(dict.fromkeys((one.get("tags") or ["other"])[0] for _, _, one in operations(described)))
    return tags.index((operation.get("tags") or ["other"])[0])


def _problems(described: Mapping[str, Any]) -> str:
    shared: dict[str, str] | None = None
    for _, _, operation in operations(described):
        bad = {code: one["description"] for code, one in operation["responses"].items() if code >= "400"}
        shared = bad if shared is None else {code: text for code, text in shared.items() if bad.get(code) == text}
    return table(["status", "means"], [[f"`{code}`", cell(text)] for code, text in sorted((shared or {}).items())])


def _given(operation: Mapping[str, Any]) -> list[str]:
    rows = [
        [f"`{one['name']}`", one["in"], _kind(one.get("schema", {})), cell(_said(one), _UP)]
        for one in operation.get("parameters", [])
        if one["in"] != "header"
    ]
    parts = [table(["parameter", "in", "is", ""], rows)] if rows else []
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"Body (`{kind}`): {_kind(body.get('schema', {}))}.")
    return parts


def _answers(operation: Mapping[str, Any], described: Mapping[str, Any]) -> list[str]:
    rows = []
    for code, one in operation["responses"].items():
        if code < "400":
            kinds = [
                f"`{kind}` {_kind(body.get('schema', {}))}".strip() for kind, body in one.get("content", {}).items()
            ]
            rows.append([f"`{code}`", cell(one.get("description", "")), "; ".join(kinds)])
    return [table(["answers", "means", "body"], rows)] if rows else []


def _said(one: Mapping[str, Any]) -> str:
    said = str(one.get("description", ""))
    limits = [f"{word} {one[key]}" for key, word in _LIMITS.items() if key in one]
    if "default" in one and one["default"] not in (None, ""):
        limits.append(f"default {one['default']}")
    return f"{said} ({', '.join(limits)})".strip() if limits else said


_LIMITS = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
}


def _kind(schema: Mapping[str, Any]) -> str:
    """What a value is, in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{prose(name, '')}](#{name})"
    for way in ("anyOf", "oneOf", "allOf"):
        if way in schema:
            return " or ".join(dict.fromkeys(_kind(one) for one in schema[way]))
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    match schema.get("type"):
        case "array":
            return f"list of {_kind(schema.get('items', {}))}"
        case "string":
            return "bytes" if schema.get("format") == "binary" else "text"
        case "integer":
            return "whole number"
        case "object":
            return "object"
        case str(kind):
            return kind
    return "anything"


_INTRO = """\
What `discreet serve` answers. A request shows its token as `Authorization: Bearer TOKEN`; a server on this machine that
has no tokens needs none. Bodies are JSON unless a path says otherwise. The same description for programs is at
`/api/openapi.json`; `discreet.connect` in [Python](python/curator.md) speaks it. Plans are free; releases spend, and
the same release id again is free."""
