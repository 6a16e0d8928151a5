"""Maps in a real browser: hover, touch and keys say the right numbers; nothing is fetched, nothing injected runs."""

import math
import re
from itertools import pairwise

import numpy as np
import pytest

from discreet.show.map import Layer, choropleth
from discreet.show.map.atlas import atlas

STATES = sorted(atlas(False)[0].rings)
COUNTIES = sorted(next(part for part in atlas(True) if "01001" in part.rings).rings)
TRACTS = [f"44007{number:06d}" for number in range(1, 151)]


def layer(name, codes, *, start, half, **more):
    """Each region has its own value, so that a wrong one is seen: start, start + 1000, ..."""
    value = np.arange(len(codes)) * 1000 + start
    return Layer(
        name,
        codes,
        {"women": (value, value - half, value + half), "men": (value * 2, value * 2 - half, value * 2 + half)},
        **more,
    )


NATION = layer("nation", ["US"], start=5, half=1, labels=["United States"])
PLANNING = [f"091{number}0" for number in range(1, 10)]
NEW = [code for code in COUNTIES if code[:2] != "09"] + PLANNING + ["02063", "72001"]
LAYERS = [
    NATION,
    layer("state", [*STATES, "72"], start=10_000, half=600),
    layer("county", NEW, start=20_000, half=300),
    layer("tract", TRACTS, start=7, half=30),
]


@pytest.fixture(scope="module")
def us():
    return choropleth(LAYERS, title="People", confidence=0.95, privacy="Epsilon is 1.")


def at(level, code):
    return f'#shapes [data-at="{level}:{LAYERS[level].codes.index(code)}"]'


def numbers(level, code, output="women"):
    """The three numbers as a page writes them."""
    index = LAYERS[level].codes.index(code)
    return [f"{int(part[index]):,}" for part in LAYERS[level].outputs[output]]


def point(page, selector):
    """Move to a place that is truly inside a shape: the middle of a box need not be."""
    spot = page.eval_on_selector(
        selector,
        """node => { const b = node.getBoundingClientRect();
        for (let i = 1; i < 40; i++) for (let j = 1; j < 40; j++) {
          const x = b.left + b.width * i / 40, y = b.top + b.height * j / 40;
          if (document.elementFromPoint(x, y) === node) return [x, y]; } }""",
    )
    page.mouse.move(*spot)
    return spot


def test_pointing_at_a_region_tells_value_interval_and_error(visit, us):
    page = visit(us)
    point(page, at(1, "48"))
    value, lower, upper = numbers(1, "48")
    tip = page.locator("#tip")
    assert tip.is_visible()
    assert tip.inner_text().split("\n") == [
        "Texas",
        value,
        f"95% interval {lower} to {upper}",
        f"Error ±600 ({math.ceil(600 * 1000 / (10_000 + STATES.index('48') * 1000)) / 10}%)",
        "Click or Enter to open Texas",
    ]
    page.select_option("#output", label="men")
    point(page, at(1, "06"))
    assert numbers(1, "06", "men")[0] in tip.inner_text()
    page.mouse.move(2, 2)
    assert tip.is_hidden()
    assert page.locator("#about").inner_text().count("95%") == 2
    assert page.locator("#privacy").inner_text() == "Epsilon is 1."


def test_a_click_opens_a_state_then_a_county_and_escape_returns(visit, us):
    page = visit(us)
    page.mouse.click(*point(page, at(1, "44")))
    trail = page.locator("#trail li")
    assert trail.all_inner_texts() == ["United States", "Rhode Island"]
    assert page.locator("#shapes path").count() == 5
    assert page.locator("#stage").evaluate("node => node.style.transform") != "none"
    assert page.locator("#figures").inner_text().split("\n")[0] == numbers(1, "44")[0]
    page.mouse.click(*point(page, at(2, "44007")))
    assert trail.all_inner_texts() == ["United States", "Rhode Island", "Providence"]
    assert page.locator("#shapes [aria-selected=true]").get_attribute("data-at") == f"2:{NEW.index('44007')}"
    assert page.locator("#below-title").inner_text() == "Providence, by tract"
    assert page.locator("#rows tr").count() == 100
    page.click("#more")
    assert page.locator("#rows tr").count() == 150
    page.keyboard.press("Escape")
    assert trail.all_inner_texts() == ["United States", "Rhode Island"]
    page.keyboard.press("Escape")
    assert trail.all_inner_texts() == ["United States"]
    assert page.locator("#shapes path").count() == 51
    page.keyboard.press("Escape")  # nothing above the nation
    assert trail.all_inner_texts() == ["United States"]


def test_keys_alone_reach_everything(visit, us):
    page = visit(us)
    focused = "document.activeElement.getAttribute('aria-label')"
    page.locator("#shapes [tabindex='0']").focus()
    assert page.locator("#shapes [tabindex='0']").count() == 1  # one stop, not 51
    page.locator(at(1, "08")).focus()  # Colorado
    page.keyboard.press("ArrowUp")
    value, lower, upper = numbers(1, "56")
    assert page.evaluate(focused).startswith(f"Wyoming: {value}, 95% interval {lower} to {upper}, error 600 (")
    assert "Wyoming" in page.locator("#tip").inner_text()
    assert page.locator("#halo").get_attribute("d") == page.locator(at(1, "56")).get_attribute("d")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused).startswith(("South Dakota", "Nebraska"))
    page.locator(at(1, "56")).focus()
    page.keyboard.press("Enter")
    assert page.locator("#trail li").all_inner_texts()[-1] == "Wyoming"
    assert page.evaluate("document.activeElement.dataset.at").startswith("2:")
    page.keyboard.press("Escape")
    assert page.evaluate(focused).startswith("Wyoming")
    assert page.evaluate("document.querySelector('#said').textContent").startswith("United States: 5,")


def test_the_first_tap_tells_and_the_second_opens(visit, us):
    page = visit(us, has_touch=True, viewport={"width": 390, "height": 800})
    spot = point(page, at(1, "48"))
    page.touchscreen.tap(*spot)
    assert numbers(1, "48")[0] in page.locator("#tip").inner_text()
    assert "Tap again to open Texas" in page.locator("#tip").inner_text()
    assert page.locator("#trail li").count() == 1
    page.touchscreen.tap(*spot)
    assert page.locator("#trail li").all_inner_texts()[-1] == "Texas"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_regions_without_a_shape_are_listed_not_dropped(visit, us):
    page = visit(us)
    value, lower, upper = numbers(1, "72")
    assert page.locator("#absent-list li").all_inner_texts() == [f"Puerto Rico: {value} ({lower} to {upper})"]
    page.click("#absent-list button")
    assert page.locator("#trail li").all_inner_texts()[-1] == "Puerto Rico"
    assert page.locator("#rows tr").count() == 1
    page.keyboard.press("Escape")
    page.mouse.click(*point(page, at(1, "09")))  # all of Connecticut has new codes
    assert page.locator("#absent-list li").count() == 9
    assert page.locator("#absent-list li").first.inner_text().startswith("Capitol: ")
    assert page.locator("#shapes path").count() == 0
    assert page.locator("#rows tr").count() == 9
    assert page.locator("#rows").inner_text().count("not on the map") == 9
    point(page, '.void[data-name="Hartford"]')  # the old county is there, and says that it has no number
    assert page.locator("#tip").inner_text().split("\n") == ["Hartford", "no number published"]


def test_cities_that_have_no_area_can_be_pointed_at(visit, us):
    page = visit(us)
    page.mouse.click(*point(page, at(1, "51")))
    for code, name in (("51610", "Falls Church"), ("51678", "Lexington"), ("51685", "Manassas Park")):
        point(page, at(2, code))
        assert page.locator("#tip").inner_text().split("\n")[:2] == [f"{name}, Virginia", numbers(2, code)[0]]


def test_every_county_at_once(visit, us):
    page = visit(us)
    page.click("#level label:nth-of-type(2)")
    drawn = sum(code in set(COUNTIES) for code in NEW)
    assert page.locator("#shapes path").count() == drawn
    assert page.locator("#absent-list li").count() == len(NEW) - drawn
    assert page.locator("#legend li").count() == 8  # seven classes, and counties without a number
    page.mouse.click(*point(page, at(2, "32023")))  # Nye has nothing below it: its state opens
    assert page.locator("#trail li").all_inner_texts()[-1] == "Nevada"


def colours(page):
    return page.eval_on_selector_all("#shapes path", "nodes => nodes.map(node => getComputedStyle(node).fill)")


def test_colours_follow_the_numbers_the_errors_and_the_light(visit, us):
    page = visit(us)
    light = colours(page)
    assert len(set(light)) == 7
    by_class = [light.count(colour) for colour in dict.fromkeys(light)]  # values rise with the code
    assert max(by_class) - min(by_class) <= 3
    page.click("#mode label:nth-of-type(2)")
    assert page.locator("#caption").inner_text() == "Relative error, by state"
    assert not set(colours(page)) & set(light)
    page.click("#mode label:nth-of-type(1)")
    assert colours(page) == light
    page.emulate_media(color_scheme="dark")
    assert not set(colours(page)) & set(light)
    page.emulate_media(media="print")
    assert colours(page) == light  # paper is white
    assert page.locator("#controls").is_hidden()


def luminance(colour):
    parts = [int(part) / 255 for part in colour[4:-1].split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("mode", [1, 2])
def test_classes_differ_in_lightness_so_that_no_hue_is_needed(visit, us, scheme, mode):
    page = visit(us, color_scheme=scheme)
    page.click(f"#mode label:nth-of-type({mode})")
    fills = page.eval_on_selector_all("#legend rect", "nodes => nodes.map(node => getComputedStyle(node).fill)")
    lights = [luminance(fill) for fill in fills]
    ratios = [(max(pair) + 0.05) / (min(pair) + 0.05) for pair in pairwise(lights)]
    assert len(fills) == 7
    assert lights == sorted(lights, reverse=scheme == "light")
    assert min(ratios) > 1.2


def test_the_table_sorts_and_finds(visit, us):
    page = visit(us)
    first = page.locator("#rows tr:first-child td:first-child")
    assert "Puerto Rico" in first.inner_text()  # the largest value
    page.click("#columns .name button")
    assert "Alabama" in first.inner_text()
    assert page.locator("#columns .name").get_attribute("aria-sort") == "ascending"
    page.click("#columns .relative button")
    assert "Alabama" in first.inner_text()  # the smallest value has the largest relative error
    page.fill("#find", "new ")
    assert page.locator("#rows tr").count() == 4
    page.fill("#find", "44")
    assert page.locator("#rows .interval").all_inner_texts() == [" to ".join(numbers(1, "44")[1:])]


def test_a_hierarchy_without_shapes_is_bars_to_go_down(visit):
    regions = Layer("region", ["n", "s"], {"people": ([0, 300], [0, 200], [40, 450])}, labels=["North", "South"])
    towns = Layer("town", ["a", "b"], {"people": ([100, 200], [90, 100], [110, 300])}, parents=["s", "s"])
    page = visit(choropleth([regions, towns], title="Bars"))
    assert page.locator("#map").is_hidden()
    assert page.locator("#trail li").all_inner_texts() == ["All"]
    rows = page.locator("#rows tr")
    assert rows.count() == 2
    whisker = rows.nth(0).locator(".meter path").first.get_attribute("d")
    ends = [float(number) for number in re.match(r"M(\S+) 5H([\d.]+)", whisker).groups()]
    assert ends == [pytest.approx(100 * 200 / 450), 100]  # the interval 200 to 450 on a scale up to 450
    assert rows.nth(1).locator(".relative").inner_text() == "\u2013"  # nothing is a share of 0
    page.click("#rows button")
    assert page.locator("#trail li").all_inner_texts() == ["All", "South"]
    assert page.evaluate("document.activeElement.id") == "place"
    assert page.locator("#rows td:first-child").all_inner_texts() == ["b", "a"]
    page.keyboard.press("Escape")
    assert page.locator("#trail li").count() == 1


def test_a_number_without_an_interval_shows_none(visit):
    codes = ["44", "09", "25"]
    page = visit(choropleth([Layer("state", codes, {"n": ([1, 2, 3], None, None)})], title="t", confidence=0.95))
    assert page.locator("#mode").is_hidden()
    point(page, '#shapes [data-at="0:0"]')
    assert page.locator("#tip").inner_text().split("\n")[1:] == ["1", "95% interval not stated", "Error not stated"]
    assert page.locator("#rows .interval").all_inner_texts() == ["not stated"] * 3
    assert page.locator("#rows .meter path").count() == 0
    both = {"n": ([1, 2, 3], None, None), "m": ([4, 5, 6], [3, 3, 3], [9, 9, 9])}
    page = visit(choropleth([Layer("state", codes, both)], title="t"))
    page.click("#mode label:nth-of-type(2)")
    assert page.locator("#shapes .void").count() == 3
    assert page.locator("#legend li").last.inner_text() == "no interval stated"
    page.select_option("#output", label="m")
    assert page.locator("#shapes .void").count() == 0


def test_a_geometry_of_ones_own(visit):
    def square(code, x):
        ring = [[x, 0], [x + 1, 0], [x + 1, 1], [x, 1], [x, 0]]
        return {"type": "Feature", "id": code, "geometry": {"type": "Polygon", "coordinates": [ring]}}

    own = {"type": "FeatureCollection", "features": [square("w", 0), square("e", 1), square("none", 2), square("x", 3)]}
    towns = Layer("town", ["w", "e", "x"], {"n": ([1, 2, 3], [0, 0, 0], [9, 9, 9])}, labels=["West", "East", "X"])
    page = visit(choropleth([towns], title="Own", geometry=own))
    boxes = [page.locator(f'#shapes [data-at="0:{i}"]').bounding_box() for i in range(3)]
    assert boxes[0]["x"] < boxes[1]["x"] < boxes[2]["x"]
    point(page, '#shapes [data-at="0:1"]')
    assert page.locator("#tip").inner_text().startswith("East\n")
    point(page, ".void")
    assert page.locator("#tip").inner_text() == "none\nno number published"


NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028\u2029"


def test_text_from_data_is_shown_as_text(visit):
    labels = [NASTY + str(i) for i in range(3)]
    nasty = Layer(NASTY, ["44", "09", "72"], {NASTY: ([1, 2, 3], [0, 0, 0], [9, 9, 9])}, labels=labels)
    page = visit(choropleth([nasty], title=NASTY, privacy=NASTY, about=NASTY, geometry="us"))
    assert page.title().startswith("</script><script>alert(1)")
    assert page.locator("#title").evaluate("node => node.textContent") == NASTY
    assert page.locator("#about").evaluate("node => node.textContent") == NASTY
    point(page, '#shapes [data-at="0:0"]')
    assert page.locator("#tip b").evaluate("node => node.textContent") == labels[0]
    assert page.locator("#absent-list li").count() == 1
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 3


def test_the_policy_stops_what_escaping_might_miss(visit, us):
    """The twin: put into the page what must never get there, and see that it neither runs nor calls out."""
    page = visit(us)
    failed = []
    page.on("requestfailed", lambda request: failed.append(request.failure))
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        document.body.append(script);
        const image = new Image();
        image.src = "http://127.0.0.1:9/beacon";
    }""")
    for _ in range(600):  # as long as it takes the browser to say so
        page.wait_for_timeout(100)
        if len(visit.said) >= 2 and failed:
            break
    assert page.evaluate("window.ran") is None
    assert len(visit.said) == 2
    assert all("Content Security Policy" in text for text in visit.said)
    assert visit.asked.pop().endswith("beacon")
    assert failed == ["csp"]
    visit.said.clear()


def test_a_notebook_shows_the_same_map(visit, us, tmp_path):
    page = visit(us)
    (tmp_path / "map.html").write_text(f"<!doctype html><body>{us._repr_html_()}</body>", "utf-8")
    page.reload()
    frame = page.frame_locator("iframe")
    assert frame.locator("#shapes path").count() == 51
    frame.locator(at(1, "48")).click()
    assert frame.locator("#trail li").all_inner_texts()[-1] == "Texas"


def test_a_picture_that_stands_still_has_the_colours_of_the_page(visit, us):
    page = visit(us)
    found = page.evaluate(
        "[...document.querySelectorAll('#shapes path')].map((one) => [one.dataset.at, one.classList[1]])"
    )
    on_page = {LAYERS[1].codes[int(at.split(":")[1])]: colour for at, colour in found}
    drawn = re.findall(r'class="region-shape (v\d)" d="([^"]+)"', us.picture("state").to_svg())
    shapes = {
        shape: code for code, shape in zip(LAYERS[1].codes, us.content["layers"][1]["shapes"], strict=True) if shape
    }
    assert {shapes[shape]: colour for colour, shape in drawn} == on_page
