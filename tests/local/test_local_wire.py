"""What travels with a report stays what it was: ids of 0.1, and parameters read back."""

import pytest

from discreet.local.duchi import Duchi
from discreet.local.grr import GRR
from discreet.local.hadamard import Hadamard
from discreet.local.hybrid import Hybrid
from discreet.local.olh import OLH
from discreet.local.piecewise import Piecewise
from discreet.local.subset import Subset
from discreet.local.unary import OUE, SUE
from discreet.local.vector import VectorMean
from discreet.local.wire import KINDS, responder_from_dict

# As 0.1 made them: reports on file carry these.
IDS = {
    "1569c86b4b1d036d": GRR(3, 1),
    "e8b9f71023805438": GRR.coin(),
    "90186a7c1a981360": SUE(3, 1),
    "c670b91c179fe960": OLH(10, 1),
    "7126d6a581502b6f": OLH(10, "0.1"),
    "fd3c1496ad0c6b66": Hadamard(10, 1),
    "84e7d8cacc8c31f8": Subset(10, 1),
    "e719b4a5b8dbe679": Duchi(1),
    "9672ab20cf66362b": Piecewise(1, 0, 10, steps=64),
    "fac1099a346573c0": Hybrid(1, 0, 10, steps=64),
    "512f84ecc30e3a7c": VectorMean(2, 5),
}


@pytest.mark.parametrize(("identity", "responder"), IDS.items(), ids=[one.kind for one in IDS.values()])
def test_ids_are_those_of_0_1(identity, responder):
    assert responder.id == identity
    assert responder_from_dict(responder.to_dict()) == responder


def test_every_kind_writes_all_that_decides_its_law():
    assert {one.kind for one in IDS.values()} | {OUE.kind} == set(KINDS)
    assert OUE(4, ratio="3/2").to_dict() == {
        "kind": "oue",
        "categories": 4,
        "epsilon": str(OUE(4, ratio="3/2").epsilon),
        "ratio": "3/2",
    }
