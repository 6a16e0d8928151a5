"""Where a custodian begins."""

from custodian_pages import asked, service_fixture, signed, told  # noqa: F401


def test_what_is_left_and_what_was_asked_stand_on_one_page(service):
    carla = signed(service)
    assert "Questions paid for 0 by 0 people" in told(carla.get("/custodian"))
    asked(service, "SELECT COUNT(*) AS n FROM people", "0.25")
    page = told(carla.get("/custodian"))
    assert "Questions paid for 1 by 1 person" in page
    assert "0.75 of 1 epsilon left" in page
    assert "Number of rows ann" in page
