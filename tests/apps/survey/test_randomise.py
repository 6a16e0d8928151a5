"""What chance sends in a real browser, against the law that is claimed; and pages that cheat."""

import re
from importlib.resources import files

import numpy as np
import pytest
from small_survey import Site, survey

from chance import LEVEL, fits
from discreet.audit.many_runs import audit
from discreet.core.loss import Pure
from discreet.local.questionnaire.law import law_to_page

pytest.importorskip("fastapi", reason="needs discreet[server]")

pytest.importorskip("uvicorn", reason="needs discreet[server]")

SURVEY = survey()

OTHER = {"service_workers": "block"}  # or the page's own worker would fetch what the test wants to replace

RUNS = 25_000


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """One server for all: nothing here is sent."""
    here = Site(SURVEY, tmp_path_factory.mktemp("site") / "r.db")
    here.start()
    yield here
    here.stop()
    here.reports.close()


DRAW = """async ([module, law, value, runs]) => {
  const { randomise } = await import(module);
  const seen = {};
  for (let i = 0; i < runs; i++) { const r = randomise(law, value); seen[r] = (seen[r] ?? 0) + 1; }
  return seen;
}"""

SOURCE = (files("discreet.apps.survey") / "randomise.js").read_text("utf-8")


def drawn(page, module, law, value, runs=RUNS):
    """How often each report came out of the page's own function."""
    return page.evaluate(DRAW, [module, law_to_page(law), value, runs])


def agrees(seen, law, value):
    """Whether counts of reports agree with the law, by a test that errs once in 2e12."""
    listed = [str(report) for report in law.reports()]
    if set(seen) - set(listed):
        return False
    samples = np.repeat(np.arange(len(listed)), [seen.get(report, 0) for report in listed])
    chances = np.array([float(law.probability(report, value)) for report in law.reports()])
    return fits(samples, lambda numbers: np.append(chances, np.zeros(numbers.max() + 1))[numbers])


@pytest.mark.statistical
@pytest.mark.parametrize("question", SURVEY.questions, ids=lambda question: question.name)
def test_what_the_page_sends_follows_the_claimed_law(visit, site, question):
    page = visit()
    for value in (0, question.law.values - 1):
        assert agrees(drawn(page, site.url + "randomise.js", question.law, value), question.law, value)


LIST = """async ([module, law, value, runs]) => {
  const { randomise } = await import(module);
  return Array.from({ length: runs }, () => randomise(law, value));
}"""


def audited(page, module, question):
    """The page's own function, attacked by the auditor on two answers as far apart as they can be."""

    def side(value):
        return lambda runs: page.evaluate(LIST, [module, law_to_page(question.law), value, runs])

    pair = (side(0), side(question.law.values - 1))
    return audit(pair, Pure(question.epsilon), runs=RUNS, confidence=1 - LEVEL, name=question.name)


@pytest.mark.statistical
@pytest.mark.parametrize("question", SURVEY.questions, ids=lambda question: question.name)
def test_the_auditor_cannot_refute_the_page(visit, site, question):
    found = audited(visit(), site.url + "randomise.js", question)
    assert not found.violated
    assert found.found > 0.5 * float(question.epsilon)  # the attack is a good one


@pytest.mark.statistical
def test_the_auditor_refutes_a_page_that_tells_the_truth_too_often(visit, site):
    page = visit(**OTHER)
    cheat = SOURCE.replace("< BigInt(share)", "< BigInt(share) + BigInt(total) / 16n")
    page.route("**/randomise.js?*", lambda route: route.fulfill(body=cheat, content_type="text/javascript"))
    found = audited(page, site.url + "randomise.js?cheat", SURVEY.questions[0])
    assert found.violated
    assert found.found > float(SURVEY.questions[0].epsilon)


MUTANTS = {
    "a remainder instead of another draw": ("if (value < bound) return value;", "return value % bound;"),
    "a coin that favours the truth": ("< BigInt(share)", "< BigInt(share) + BigInt(total) / 16n"),
    "a generator that is not uniform": (
        "crypto.getRandomValues(bytes);",
        "bytes.forEach((_, i) => { bytes[i] = 256 * Math.random() ** 1.2; });",
    ),
    "a bit that is always zero": ("value << 8n | BigInt(byte)", "value << 8n | BigInt(byte & 127)"),
}


@pytest.mark.statistical
@pytest.mark.parametrize("name", MUTANTS)
def test_a_page_that_cheats_is_found_out(visit, site, name):
    before, after = MUTANTS[name]
    assert SOURCE.count(before) == 1
    page = visit(**OTHER)
    cheat = SOURCE.replace(before, after)
    page.route("**/randomise.js?*", lambda route: route.fulfill(body=cheat, content_type="text/javascript"))
    module = site.url + "randomise.js?cheat"
    # One law that it breaks is enough; the last ones draw the most.
    assert any(not agrees(drawn(page, module, one.law, 1), one.law, 1) for one in reversed(SURVEY.questions))


def test_the_scripts_know_no_other_chance_and_no_float():
    for name in ("page.js", "memory.js", "number.js", "randomise.js", "sw.js"):
        text = (files("discreet.apps.survey") / name).read_text("utf-8")
        assert "Math.random" not in text
        assert "Date" not in text
        assert not re.search(r"https?:", text)
    assert not re.search(r"\d\.\d|parseFloat|Math\.(?!ceil)", SOURCE)
