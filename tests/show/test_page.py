"""The shell of a page: one file, a policy that lets nothing else in, and data that can only be data."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.show import element, embedded, frame, page, policy, style

EVIL = "</title><script>alert(1)</script>"
JSON = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class Reader(HTMLParser):
    """Elements in order, and whether each is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.tags = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(text):
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader.tags


def test_a_page_is_one_file_and_its_title_is_only_text():
    text = page(EVIL, [element("h1", None, EVIL)])
    assert "script" not in read(text)
    assert "&lt;script&gt;" in text
    assert style() in text
    assert 'lang="en"' in text
    assert 'content="width=device-width, initial-scale=1"' in text
    assert "noindex" not in text
    assert "noindex" in page("t", [], private=True)


def test_the_policy_lets_in_its_own_style_and_script_and_nothing_else():
    text = page("t", [], script="run()", data={"a": EVIL})
    allowed = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    assert allowed == policy(style(), "run()")
    assert allowed.startswith("default-src 'none'; ")
    for inside in re.findall(r"<style>(.*?)</style>|<script>(.*?)</script>", text, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256("".join(inside).encode()).digest()).decode()
        assert f"'sha256-{digest}'" in allowed
    assert "unsafe" not in allowed
    assert "script-src" not in policy("body {}")


def test_a_page_of_a_server_names_its_style_sheet_and_leaves_the_policy_to_the_server():
    text = page("t", [], linked="style.css", icon="icon.svg")
    assert '<link rel="stylesheet" href="style.css">' in text
    assert '<link rel="icon" href="icon.svg" type="image/svg+xml">' in text
    assert "<style" not in text
    assert "Content-Security-Policy" not in text


@given(JSON)
def test_data_comes_back_as_it_was_and_ends_no_element(value):
    text = embedded(value)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == value


def test_numbers_that_json_does_not_have_are_refused():
    with pytest.raises(ValueError, match="JSON"):
        embedded(float("nan"))


def test_a_page_inside_a_notebook_is_cut_off_from_it():
    text = frame('"t"', '<p title="x">', 100, scripts=False)
    assert 'sandbox=""' in text
    assert 'srcdoc="&lt;p title=&quot;x&quot;&gt;"' in text
    assert 'sandbox="allow-scripts allow-downloads allow-modals"' in frame("t", "", 100, scripts=True)
