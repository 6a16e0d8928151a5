"""The tour: six steps, each on its page, and an end."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")

from people_pages import shared_fixture, signed, told  # noqa: F401

from discreet.apps.web.tour import STEPS


def test_each_step_is_on_its_page_and_the_last_ends_it(shared):
    ann = signed(shared)
    assert "Take the tour" in told(ann.get("/"))
    page = ann.follow(ann.post("/tour", {"step": "1"}))
    for number, step in enumerate(STEPS, 1):
        assert f"{number} of 6: {step.title}" in told(page)
        assert f'data-tour="{step.mark}"' in page.text
        assert "Show me" not in told(page)
        page = ann.follow(ann.post("/tour", {"step": str(number + 1), "dataset": "people"}))
    assert 'class="tour"' not in page.text
    assert 'class="tour"' not in ann.get("/d/people/ask").text


def test_on_another_page_the_way_to_the_step_is_shown(shared):
    ann = signed(shared)
    ann.get("/")
    ann.post("/tour", {"step": "6"})
    page = ann.get("/d/people")
    assert 'href="/d/people/ledger">Show me' in page.text
    assert "data-tour" not in page.text


@pytest.mark.parametrize("step", ["7", "-1", "many", "", "99999999999"])
def test_there_are_no_other_steps(shared, step):
    ann = signed(shared)
    ann.get("/")
    ann.post("/tour", {"step": "2"})
    assert 'class="tour"' not in ann.follow(ann.post("/tour", {"step": step, "dataset": "nowhere"})).text
    ann.cookies["discreet-tour"] = f"{step}/<b>"
    assert 'class="tour"' not in ann.get("/d/people").text
