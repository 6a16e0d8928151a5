"""What the guide to the server tells people to write does what it says."""

import re
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

import discreet

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.site import application
from servers import serving

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "server.md"


def test_the_python_of_the_guide(tmp_path, monkeypatch, capsys):
    shipped = Path(str(files("discreet.apps.demo")))
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(shipped / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    curator = discreet.open("people.csv", create=True)
    service = Service({curator.schema.name: curator}, Tokens("tokens.db"))
    (text,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    with serving(application(service)) as url:
        values = {"token": service.tokens.create("ann", "analyst")}
        exec(text.replace("https://curator.example", url), values)
        assert values["c"].standing() == curator.standing()
    assert "Cost: epsilon = 0.1" in capsys.readouterr().out
    assert (tmp_path / "counties.csv").read_text().startswith("county,sex,count")
    assert values["rows"].columns == ("age", "sex", "pay")
    assert curator.releases() == ["counties", "regions", "rows"]
