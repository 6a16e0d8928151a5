"""What axe finds wrong with a page for people who see, hear or point differently; the script comes with a package."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from servers import missing

NEEDED = "Tests of accessibility need: pip install axe-playwright-python"
_RUN = """async () => {
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.length}, such as ${nodes[0].html.slice(0, 160)}`);
}"""


@cache
def script() -> str:
    """The script of axe; a skip that says what to install, or a failure where CI=true."""
    package = find_spec("axe_playwright_python")
    if package is None or not package.submodule_search_locations:
        return missing(NEEDED)
    return (Path(package.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")


def violations(page) -> list[str]:
    """What is wrong with a page as it stands; run through the debugger, which a page's policy does not stop."""
    page.evaluate(script())
    return page.evaluate(_RUN)
