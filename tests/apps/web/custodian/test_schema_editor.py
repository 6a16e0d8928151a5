"""A schema edited in a browser: checked as the command does, written to the folder for state and nowhere else."""

import re

import pytest
from custodian_pages import SECRET, TABLE, agree, decision, service_fixture, shared_fixture, signed, told, upload  # noqa: F401

from discreet.apps.web.custodian.schema_editor import setup_in
from discreet.errors import InputError

SCHEMA = """[dataset]
name = "visits"
[unit]
column = "person"
groups = 1
rows = 1
[budget]
epsilon = 1
[columns.age]
type = "integer"
lower = 0
upper = 100
[columns.town]
type = "category"
values = ["Ash", "Elm"]
"""


def test_uploads_of_one_name_can_be_told_apart(shared):
    carla = signed(shared)
    first = upload(carla, TABLE.encode()).headers["location"].rpartition("/")[2]
    sent = {"text": SCHEMA, "upload": first, "stored": "", "do": "check"}
    second = upload(carla, TABLE.encode()).headers["location"].rpartition("/")[2]
    both = told(carla.post("/custodian/datasets/schema", sent))
    assert f"({first[:8]}, {len(TABLE.encode()):,} bytes)" in both
    assert f"({second[:8]}, " in both


def test_a_schema_is_checked_against_an_upload_for_the_custodian_alone(shared):
    carla = signed(shared)
    place = upload(carla, TABLE.encode()).headers["location"]
    carla.get(place)
    sent = {"text": SCHEMA, "upload": place.rpartition("/")[2], "stored": "", "do": "check"}
    page = carla.post("/custodian/datasets/schema", sent)
    assert "For the custodian's eyes only" in told(page)
    assert "1 row (2.4%): above 100" in told(page)
    assert SECRET in page.text  # as `discreet check` shows it, to whoever may see the data
    assert page.headers["cache-control"] == "no-store"
    fits = carla.post("/custodian/datasets/schema", {**sent, "upload": ""})
    assert "The schema is complete" in told(fits)
    assert "to fill in" not in told(fits)
    commented = carla.post("/custodian/datasets/schema", {**sent, "upload": "", "text": SCHEMA + '# version = "?"\n'})
    assert "to fill in" not in told(commented)  # a comment is no gap
    assert SECRET not in fits.text
    agree(carla, f"{place}/remove")
    assert carla.post("/custodian/datasets/schema", sent).status_code == 404


def test_a_schema_is_written_once_agreed_and_opened_again(shared):
    carla = signed(shared, name="carla")
    carla.get("/custodian/datasets")
    path = shared.state / "schemas" / "visits.toml"
    shown = carla.post("/custodian/datasets/schema", {"text": SCHEMA, "upload": "", "stored": "", "do": "write"})
    assert f"Writes {path}" in told(shown)
    assert not path.exists()
    done = carla.post("/custodian/datasets/schema", decision(shown))
    assert path.read_text() == SCHEMA
    assert path.stat().st_mode & 0o077 == 0
    page = carla.follow(done)
    assert "Schema of visits" in told(page)
    assert "carla visits written" in told(carla.get("/custodian/datasets"))
    again = carla.post("/custodian/datasets/schema", {"text": SCHEMA, "upload": "", "stored": "", "do": "write"})
    assert (again.status_code, "a name that no schema in the folder has" in told(again)) == (422, True)
    changed = SCHEMA.replace("epsilon = 1", "epsilon = 2")
    agree(carla, "/custodian/datasets/schema", {"text": changed, "upload": "", "stored": "visits", "do": "write"})
    assert path.read_text() == changed
    opened = agree(carla, "/custodian/datasets/schemas/visits/open")
    assert opened.headers["location"] == "/custodian/budgets"
    (ledger,) = shared.ledgers
    assert ledger.account("visits").budget.epsilon == 2
    agree(carla, "/custodian/datasets/schema", {"text": SCHEMA, "upload": "", "stored": "visits", "do": "write"})
    other = carla.post("/custodian/datasets/schemas/visits/open", {})
    assert (other.status_code, "the one that 'visits' has already" in told(other)) == (422, True)
    file = carla.post("/custodian/datasets/schema", {"text": changed, "upload": "", "stored": "", "do": "download"})
    assert file.text == changed


def test_what_another_custodian_wrote_meanwhile_is_not_lost(service):
    carla, dan = signed(service, name="carla"), signed(service, name="dan")
    for one in (carla, dan):
        one.get("/custodian/datasets")
    place = "/custodian/datasets/schema"
    carla.follow(agree(carla, place, {"text": SCHEMA, "upload": "", "stored": "", "do": "write"}))
    path = service.state / "schemas" / "visits.toml"
    opened = {**hidden_of(carla.get("/custodian/datasets/schemas/visits")), "upload": "", "do": "write"}
    dans = {**hidden_of(dan.get("/custodian/datasets/schemas/visits")), "upload": "", "do": "write"}
    shown = carla.post(place, {**opened, "text": SCHEMA.replace("upper = 100", "upper = 90")})
    agree(dan, place, {**dans, "text": SCHEMA.replace("upper = 100", "upper = 120")})

    # Neither the yes to what was shown before, nor another text for what was opened before.
    for sent in (decision(shown), {**opened, "text": SCHEMA}):
        page = carla.post(place, sent)
        assert (page.status_code, "Somebody else wrote it meanwhile" in told(page)) == (422, True)
    stale = carla.post(place, {**decision(shown), "was": ""})
    assert (stale.status_code, "Something changed since this was shown" in told(stale)) == (422, True)
    assert "upper = 120" in path.read_text()
    assert [one.name for one in path.parent.iterdir()] == ["visits.toml"]


def hidden_of(page):
    """The hidden fields of the form with the schema."""
    form = next(one for one in page.text.split("<form")[1:] if 'name="text"' in one)
    return dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form))


def test_no_name_leads_out_of_the_folder(shared):
    carla = signed(shared)
    carla.get("/custodian/datasets")
    text = SCHEMA.replace('"visits"', '"../../../evil"')
    agree(carla, "/custodian/datasets/schema", {"text": text, "upload": "", "stored": "", "do": "write"})
    assert not list(shared.state.parent.glob("*evil*"))
    (path,) = (path for path in shared.state.rglob("*evil*"))
    assert path.parent == shared.state / "schemas"
    for name in ("..%2f..%2ft", "nothing", "%2e%2e"):
        assert carla.get(f"/custodian/datasets/schemas/{name}").status_code in (404, 405)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[dataset\n", "valid TOML"),
        (SCHEMA.replace("upper = 100", 'upper = "?"'), "columns.age.upper"),
        (SCHEMA + 'values_file = "/etc/passwd"\n', "columns.town.values_file"),
        (SCHEMA + '[lookups.x]\nkey = "town"\nfile = "/etc/passwd"\n[lookups.x.columns]\n', "lookups.x.file"),
        (SCHEMA + "[grid]\n", "grid"),
    ],
)
def test_what_is_wrong_with_a_text_is_said_and_no_other_file_is_opened(shared, text, says):
    with pytest.raises(InputError, match=says):
        setup_in(text)
    carla = signed(shared)
    carla.get("/custodian/datasets")
    page = carla.post("/custodian/datasets/schema", {"text": text, "upload": "", "stored": "", "do": "check"})
    assert (page.status_code, says in told(page)) == (422, True)
    assert "root:" not in page.text


def test_a_text_of_very_deep_nesting_is_refused_on_both_pages(shared):
    carla = signed(shared)
    carla.get("/custodian/datasets")
    deep = "a" + ".a" * 5000 + " = 1"
    for place, field in (("/custodian/datasets/schema", "schema"), ("/custodian/surveys/new", "survey")):
        page = carla.post(place, {"text": deep, "upload": "", "stored": "", "do": "check"})
        assert (page.status_code, f"{field} must be at most 100 names or lists" in told(page)) == (422, True)


def test_a_number_of_thousands_of_digits_is_refused_on_both_pages(shared):
    carla = signed(shared)
    carla.get("/custodian/datasets")
    for place in ("/custodian/datasets/schema", "/custodian/surveys/new"):
        text = {"text": f"minimum = {'9' * 5000}\n", "upload": "", "stored": "", "do": "check"}
        page = carla.post(place, text)
        assert (page.status_code, "must be valid TOML" in told(page)) == (422, True)
