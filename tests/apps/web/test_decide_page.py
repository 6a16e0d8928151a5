"""Decisions as a page: of tables and hierarchies, with groups, repair and another price; free, and bounded."""

import html

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")

from job_pages import (
    service_fixture,  # noqa: F401
    signed,
)

from discreet import count

AT = "/d/people/releases"


@pytest.fixture(name="releases")
def releases_fixture(service):
    curator = service.curators["people"]
    table = curator.table().group_by("county").agg(n=count(), m=count()).plan(epsilon="0.1").release(release="t")
    tree = curator.tree(["state", "county"]).plan(epsilon="0.1").release(release="tree")
    return table, tree, curator.standing()


def told(answer):
    return html.unescape(answer.text)


def test_a_release_leads_to_its_decisions(service, releases):
    ann = signed(service)
    assert "/releases/t/decide?" in ann.get(f"{AT}/t").text
    assert "/releases/tree/decide" in ann.get("/d/people/map?release=tree").text
    first = ann.get(f"{AT}/t/decide")
    assert first.status_code == 200
    assert "Effect of the noise" not in first.text  # nothing is tried until a decision is named


def test_a_fund_is_told_by_group_with_a_picture_and_the_repair(service, releases):
    table, _, spent = releases
    page = signed(service).get(f"{AT}/t/decide?what=fund&amount=1000&by=county")
    found = table.decide(fund=1000, by="county")
    for line in found.lines():
        assert line in told(page)
    assert page.text.count("<figure>") == 1
    assert "Repaired" in page.text
    for effect in found.groups:
        assert f"{effect.got:.1%}" in page.text
    assert service.curators["people"].standing() == spent


def test_a_hierarchy_is_decided_by_at_any_level(service, releases):
    _, tree, _ = releases
    ann = signed(service)
    page = ann.get(f"{AT}/tree/decide?what=threshold&amount=50&level=state&by=size")
    assert tree.decide(threshold=50, level="state", by="size").lines()[0] in told(page)
    page = ann.get(f"{AT}/tree/decide?what=fund&amount=50&by=state&blend=0.5")
    assert tree.decide(fund=50, by="state", blend=0.5).lines()[0] in told(page)
    assert '<option value="state"' in page.text


def test_groups_of_ones_own_and_files(service, releases):
    table, _, _ = releases
    ann, asked = signed(service), "what=fund&amount=9&groups=A1,north%0AA2,north%0AB1,south"
    groups = {"A1": "north", "A2": "north", "B1": "south"}
    page = ann.get(f"{AT}/t/decide?{asked}")
    assert "north" in page.text
    assert ann.get(f"{AT}/t/decide.csv?{asked}").text == table.decide(fund=9, by=groups).to_csv()
    repaired = table.decide(fund=9, by=groups, repair="groups").to_csv()
    assert ann.get(f"{AT}/t/decide.csv?{asked}&repair=groups").text == repaired


def test_another_price_is_tried_before_it_is_paid(service, releases):
    _, _, spent = releases
    ann = signed(service)
    offer = service.curators["people"].table().group_by("county").agg(n=count(), m=count()).plan(epsilon=1)
    sizes = {"A1": 100, "A2": 50, "B1": 7}
    typed = "%0A".join(f"{name},{size}" for name, size in sizes.items())
    page = ann.get(f"{AT}/t/decide?what=fund&amount=1000&price=1&sizes={typed}")
    assert offer.decide(sizes, fund=1000.0).lines()[0] in told(page)
    page = ann.get(f"{AT}/tree/decide?what=fund&amount=1000&price=1")
    assert "epsilon = 1, simulated" in page.text
    assert service.curators["people"].standing() == spent


REFUSED = (
    "what=fund&amount=-1",
    "what=fund&amount=many",
    "what=fund&amount=<b>",
    "what=fund&amount=1&by=shoe",
    "what=fund&amount=1&groups=A1",
    "what=fund&amount=1&groups=A1,x",
    "what=fund&amount=1&price=0",
    "what=fund&amount=1&price=lots",
    "what=fund&amount=1&price=1&sizes=A1,3",
    "what=fund&amount=1&price=1&sizes=A1,x%0AA2,3%0AB1,3",
    "what=fund&amount=1&output=shoe",
    "what=prize&amount=1",
    f"what=fund&amount=1&groups={'x' * 20_001}",
)


def test_what_makes_no_sense_is_refused_on_the_page(service, releases):
    ann = signed(service)
    for asked in REFUSED:
        page = ann.get(f"{AT}/t/decide?{asked}")
        assert page.status_code == 422, asked
        assert 'class="alert"' in page.text or "A fund or a threshold" in page.text, asked
        assert "got '<b>'" not in page.text


def test_only_releases_with_numbers_have_the_page(service, releases):
    ann = signed(service)
    assert ann.get(f"{AT}/none/decide?what=fund&amount=1").status_code == 404
    assert ann.get("/d/other/releases/t/decide").status_code == 404
