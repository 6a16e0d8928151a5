"""Jobs of every kind are attacked, and every kind of bug is planted somewhere."""

import subprocess
import sys
from importlib.util import find_spec

from discreet.apps.audits import MODULES
from discreet.audit.gate import _of, list_subjects

BUGS = {
    "half noise",
    "wrong sensitivity",
    "-10% noise",
    "reused seed",
    "cut tail",
    "skipped fallback",
    "key leak",
    "unbounded user",
    "not remembered",
}


def known():
    """All subjects of the rooms whose libraries are installed."""
    return [_of(module)[place] for module, place in list_subjects(MODULES, tier=3)[0]]


def test_every_kind_of_bug_is_planted():
    assert {subject.planted for subject in known() if subject.planted} == BUGS


def test_every_kind_of_job_is_attacked():
    kinds = {subject.kind for subject in known()}
    assert kinds - {"trainer", "estimator"} == {"mechanism", "question", "hierarchy", "synthesiser", "responder"}
    assert ("trainer" in kinds) == (find_spec("jax") is not None)
    assert ("estimator" in kinds) == (find_spec("sklearn") is not None)


def test_subjects_whose_libraries_are_missing_are_left_out_with_the_way_to_get_them():
    code = (
        "import sys\n"
        "sys.modules.update(jax=None, sklearn=None)\n"
        "from discreet.apps.audits import MODULES\n"
        "from discreet.audit.gate import list_subjects\n"
        "print(*list_subjects(MODULES)[1], sep='\\n')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["learn", "estimators"]
    assert all("pip install 'discreet[learn]'" in line for line in lines)
