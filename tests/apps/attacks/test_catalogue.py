"""Every attack of the catalogue is a command, says what a budget changes and costs, and is drawn."""

import pytest
import typer

from discreet.apps.attacks.catalogue import ATTACKS, find_attack
from discreet.apps.cli.attack import app
from discreet.errors import InputError

QUICK = [attack.name for attack in ATTACKS if not attack.extra and attack.name not in ("census", "rows")]


def test_every_attack_is_a_command_once():
    names = [attack.name for attack in ATTACKS]
    assert len(set(names)) == len(names)
    commands = set(typer.main.get_command(app).commands)
    verbs = {attack.verb or attack.name for attack in ATTACKS}
    assert verbs == commands - {"link"}  # which needs tables of somebody
    assert all(attack.command.split()[:3] == ["discreet", "attack", attack.verb or attack.name] for attack in ATTACKS)
    assert len({attack.command for attack in ATTACKS}) == len(names)


@pytest.mark.parametrize("name", QUICK)
def test_an_attack_says_what_it_found_and_what_a_budget_costs(name):
    found = find_attack(name).run(1.0)
    assert "epsilon = 1" in found.explain()
    assert found.picture().figure().startswith("<figure")


def test_an_attack_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="attack"):
        find_attack("shoulder")
