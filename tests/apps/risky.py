"""A table at risk, and commands run on it."""

import pytest

from discreet.apps.cli import main


@pytest.fixture(name="files")
def files_fixture(tmp_path):
    patients = tmp_path / "patients.csv"
    voters = tmp_path / "voters.csv"
    rows = [(20 + n % 60, f"02{n % 7}{n % 9}{n % 4}", "FM"[n % 2], ["flu", "gout", "cold"][n % 3]) for n in range(200)]
    patients.write_text("age,zip,sex,diagnosis\n" + "".join(f"{a},{z},{s},{d}\n" for a, z, s, d in rows))
    voters.write_text("name,age,zip,sex\n" + "".join(f"N{n},{a},{z},{s}\n" for n, (a, z, s, _) in enumerate(rows)))
    return patients, voters


def run(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    shown = capsys.readouterr()
    return stopped.value.code, shown.out, shown.err
