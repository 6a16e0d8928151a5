"""The Python reference: a page for the names of the package, and one for each room."""

from __future__ import annotations

from handbook.names import Member, Module, Name, Source
from handbook.words import cell, fence, markdown, prose, table

__all__ = ["ORDER", "documented", "python_pages"]

# From where a reader starts to what it stands on.
ORDER = (
    "query",
    "data",
    "trees",
    "flows",
    "constraints",
    "power",
    "synth",
    "marginals",
    "learn",
    "local",
    "audit",
    "risk",
    "ledger",
    "accounting",
    "mechanisms",
    "noise",
    "core",
    "show",
)
_UP = "../../"
_WIDE = 100


def documented(source: Source) -> dict[str, list[Module]]:
    """The modules that the reference shows, by room. Of the applications it is the client; errors have a page."""
    rooms = {room: source.rooms[room] for room in ORDER if room in source.rooms}
    rest = [room for room in source.rooms if room not in (*ORDER, "apps", "curator", source.package, "errors")]
    rooms |= {room: source.rooms[room] for room in rest}
    top = source.rooms.get("curator", [])
    client = f"{source.package}.apps.client"
    apps = [one for one in source.rooms.get("apps", []) if one.name == client or one.name.startswith(f"{client}.")]
    return {**({"curator": [*top, *apps]} if top else {}), **rooms}


def python_pages(source: Source) -> dict[str, str]:
    """Pages by their path in the documentation."""
    rooms = documented(source)
    pages = {f"reference/python/{room}.md": _room(room, modules, source) for room, modules in rooms.items()}
    return {"reference/python/index.md": _index(source, rooms), **pages}


def _index(source: Source, rooms: dict[str, list[Module]]) -> str:
    whole = source.modules[source.package]
    homes = {module.name: room for room, modules in rooms.items() for module in modules}
    rows = []
    for name, home in source.passed_on(whole).items():
        found = next((one for one in source.names(source.modules[home]) if _same(one.name, name)), None)
        if found is None:
            continue
        link = f"{homes.get(home, 'core')}.md#{found.place}"
        rows.append([f"[`{source.package}.{name}`]({link})", cell(found.brief, _UP)])
    inside = [
        [f"[`{source.package}.{room}`]({room}.md)", cell(_about(room, mods, source), _UP)]
        for room, mods in rooms.items()
    ]
    return "\n\n".join(
        [
            "# Python",
            prose(" ".join(whole.doc.split("\n\n")[0].split()), _UP),
            "## Names of the package",
            table(["name", "what it is"], rows),
            "## Rooms",
            "The names above are where a person starts. The rooms hold everything else, for those who build on them; "
            "what a module exports is listed here with its signature, its words and its guarantee.",
            table(["room", "what it is for"], inside),
            "",
        ]
    )


def _same(defined: str, name: str) -> bool:
    return defined == name or defined == f"{name}_curator"


def _about(room: str, modules: list[Module], source: Source) -> str:
    whole = source.modules.get(f"{source.package}.{room}") or modules[0]
    return whole.doc.split("\n\n")[0]


def _room(room: str, modules: list[Module], source: Source) -> str:
    parts = [f"# {source.package}.{room}" if room != "curator" else f"# {source.package}: curator and client"]
    parts.append(markdown(_about(room, modules, source), _UP))
    for module in modules:
        names = source.names(module)
        passed = source.passed_on(module)
        if not names and not passed:
            continue
        parts.append(f"## {module.name}")
        if module.name != f"{source.package}.{room}" and module.doc:
            parts.append(markdown(module.doc, _UP))
        if passed:
            listed = ", ".join(f"`{name}`" for name in passed)
            parts.append(f"Passes on: {listed}.")
        values = [one for one in names if one.kind == "value"]
        if values:
            parts.append(table(["value", "is", ""], [_value(one) for one in values]))
        parts.extend(_name(one) for one in names if one.kind != "value")
    return "\n\n".join([*parts, ""])


def _value(one: Name) -> list[str]:
    text = " ".join(one.signature.split())
    short = text if len(text) <= 90 else text[:87] + "..."
    return [f'<a id="{one.place}"></a>`{one.name}`', f"`{short}`".replace("|", r"\|"), cell(one.doc, _UP)]


def _name(one: Name) -> str:
    title = "class" if one.kind == "class" else ""
    parts = [
        f'<a id="{one.place}"></a>',
        f"### {one.name}",
        fence(f"{title} {_broken(one.signature)}".strip(), "python"),
    ]
    parts.append(markdown(one.doc, _UP))
    parts.extend(_member(one, member) for member in one.members)
    return "\n\n".join(parts)


def _member(one: Name, member: Member) -> str:
    shown = f"{one.name}.{member.signature or member.name}"
    head = f"`{shown}`" if len(shown) <= _WIDE else f"`{one.name}.{member.name}(...)`"
    long = "" if len(shown) <= _WIDE else "\n\n" + fence(_broken(member.signature), "python")
    return f'<a id="{one.place}.{member.name}"></a>**{head}**{long}\n\n{markdown(member.doc, _UP)}'


def _broken(signature: str) -> str:
    """A long signature with a line for each parameter."""
    if len(signature) <= _WIDE or "(" not in signature:
        return signature
    head, _, rest = signature.partition("(")
    inside, _, back = rest.rpartition(")")
    parts, depth, quoted, word = [], 0, "", ""
    for letter in inside:
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "'\"":
            quoted = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        if letter == "," and not depth and not quoted:
            parts.append(word.strip())
            word = ""
        else:
            word += letter
    lines = "".join(f"    {part},\n" for part in [*parts, word.strip()] if part)
    return f"{head}(\n{lines}){back}"
