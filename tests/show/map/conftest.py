"""A map opened as a file in a real browser, which must say nothing and ask for nothing."""

import pytest


@pytest.fixture
def visit(browser, tmp_path):
    """Open a map as a file; at the end, the page must have said nothing and asked for nothing."""
    contexts, said, asked = [], [], []

    def opened(drawn, **settings):
        context = browser.new_context(
            **{"viewport": {"width": 1200, "height": 900}, "reduced_motion": "reduce", **settings}
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)  # the machine may be busy
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(drawn.save(tmp_path / "map.html").as_uri())
        return page

    opened.said, opened.asked = said, asked
    yield opened
    for context in contexts:
        context.close()
    assert said == []
    assert {url.rpartition("/")[2] for url in asked} == {"map.html"}
