"""Workers: the prior that a pure urn needs, and measuring is nearer than drawing."""

from discreet.apps.demo.onthemap_lecture import show


def test_measuring_is_nearer_than_drawing():
    prior, urns, measured = show().numbers
    assert prior.here == "912.7"
    assert float(measured.here) < 0.05 < float(urns.here)
