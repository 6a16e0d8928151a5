"""What chance sends in a real browser, against the law that is claimed; and pages that cheat."""

import itertools
import math
import re
from importlib.resources import files

import numpy as np
import pytest
from small_survey import FRUIT, Site, survey

from chance import LEVEL, fits
from discreet.audit.many_runs import audit
from discreet.core.loss import Pure
from discreet.local import Longitudinal
from discreet.local.questionnaire.law import Choice, law_to_page
from questionnaires import asked

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


MORE = [
    {"kind": "choice", "options": [str(n) for n in range(30)], "epsilon": 2, "mechanism": "olh"},
    {"kind": "choice", "options": [str(n) for n in range(30)], "epsilon": 2, "mechanism": "hadamard"},
    {"kind": "several", "options": FRUIT, "epsilon": 1},
    {"kind": "ranking", "options": FRUIT, "epsilon": 1},
    {"kind": "distribution", "low": 0, "high": 8, "step": 1, "epsilon": 1},
]


@pytest.mark.statistical
def test_laws_of_many_options_and_of_several_parts_are_followed(visit, site):
    page = visit()
    for entry in MORE:
        question = asked(entry)
        values = (
            [0, question.law.values - 1]
            if question.form is None
            else [question.form.encode(question.example(n), "q") for n in (1, 4)]
        )
        seen = drawn(page, site.url + "randomise.js", question.law, values[0])
        assert agrees(seen, question.law, values[0])
        assert not agrees(seen, question.law, values[1])  # the law of another answer is another one


WORDS = [
    ({"kind": "word", "letters": "abc", "length": 1, "epsilon": 1}, [2], [3]),
    ({"kind": "word", "letters": "ab", "length": 2, "epsilon": "0.5"}, [1, 2], [2]),
]
CARELESS = {
    "a key that is always the same": ("below(1n << BigInt(size * law.parities))", "0n"),
    "all letters, however many were drawn": ("i < level ? word[i] ?? 0 : 0", "word[i] ?? 0"),
    "a sum that is not modulo 2": ("odd = 1 - odd", "odd = 1"),
}


@pytest.mark.statistical
def test_words_are_sent_by_their_law_and_pages_that_cheat_are_found_out(visit, site):
    page = visit(**OTHER)
    for entry, word, another in WORDS:
        law = asked(entry).law
        seen = drawn(page, site.url + "randomise.js", law, word)
        assert agrees(seen, law, word)
        assert not agrees(seen, law, another)
    body = [SOURCE]
    page.route("**/randomise.js?*", lambda route: route.fulfill(body=body[0], content_type="text/javascript"))
    entry, word, _ = WORDS[1]
    for number, (before, after) in enumerate(CARELESS.values()):
        assert SOURCE.count(before) == 1
        body[0] = SOURCE.replace(before, after)
        law = asked(entry).law
        assert not agrees(drawn(page, f"{site.url}randomise.js?word{number}", law, word), law, word)


ROUNDS = """async ([module, permanent, instant, value, runs]) => {
  const { again, settle } = await import(module);
  const seen = {};
  for (let i = 0; i < runs; i++) {
    const settled = settle(permanent);
    const report = settled.join("") + ":" + again(instant, settled, value) + again(instant, settled, value);
    seen[report] = (seen[report] ?? 0) + 1;
  }
  return seen;
}"""


def agrees_in_rounds(page, module):
    """Whether what is remembered for all options, and the reports of two rounds, follow the law they should have."""
    law, value = Longitudinal(3, 1, 2), 1
    pages = [law_to_page(Choice(3, part.hit)) for part in (law.permanent, law.instant)]
    seen = page.evaluate(ROUNDS, [module, *pages, value, RUNS])
    listed = list(itertools.product(range(3), repeat=5))
    chances = np.array(
        [
            float(
                math.prod(law.permanent.law(option)[kept] for option, kept in enumerate(memory))
                * math.prod(law.instant.law(memory[value])[sent] for sent in (first, second))
            )
            for *memory, first, second in listed
        ]
    )
    times = [seen.get("{}{}{}:{}{}".format(*one), 0) for one in listed]
    assert sum(times) == RUNS
    samples = np.repeat(np.arange(len(listed)), times)
    return fits(samples, lambda numbers: np.append(chances, np.zeros(numbers.max() + 1))[numbers])


FORGETFUL = {
    "a memory that is not used": ("randomise(law, settled[value])", "randomise(law, value)"),
    "a memory drawn anew in each round": ("randomise(law, settled[value])", "randomise(law, settle(law)[value])"),
    "the same memory for all options": ("randomise(law, value));", "randomise(law, 1));"),
}


@pytest.mark.statistical
def test_memories_and_reports_of_two_rounds_follow_their_law_and_pages_that_cheat_are_found_out(visit, site):
    page = visit(**OTHER)
    assert agrees_in_rounds(page, site.url + "randomise.js")
    body = [SOURCE]
    page.route("**/randomise.js?*", lambda route: route.fulfill(body=body[0], content_type="text/javascript"))
    for number, (before, after) in enumerate(FORGETFUL.values()):
        assert SOURCE.count(before) == 1
        body[0] = SOURCE.replace(before, after)
        assert not agrees_in_rounds(page, f"{site.url}randomise.js?{number}")


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
