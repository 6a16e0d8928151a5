"""One door: private data is opened, and plans are run, in one module only."""

import ast
from pathlib import Path

import pytest

import discreet

SOURCE = Path(discreet.__file__).parent
DOOR = SOURCE / "ledger" / "door.py"
# Reports of a survey were scrambled by those who sent them: they may be read wherever they are added up.
SCRAMBLED = {SOURCE / "local" / "replies.py", SOURCE / "apps" / "survey" / "files.py"}
# What of the data does not fit its schema is said to the custodian, who may see it. Nothing else imports it.
SHOWN_TO_THE_CUSTODIAN = {SOURCE / "curator" / "inspection.py"}
# A public table that synthetic rows start from is read by the rules that private ones are read by.
PUBLIC = {SOURCE / "synth" / "public_table.py"}

# What measures within a run: meters of marginals, trees of quantiles, layers whose gradients are clipped; and the plan
# that another one only sorts (`self.found`), whose own `measure` the door calls.
METERS = {"self.found", "meter", "self.meter", "coarse", "self.coarse", "mechanism", "self.search", "one"}


def doors(text: str) -> list[str]:
    """Every place in a source text that opens data (`x.open()`) or has a plan measure it (`x.measure(...)`), or gets
    hold of either.

    Files and ledgers are opened with arguments; private data is opened with none. What measures besides plans is named.
    """
    found = []
    called = set()
    meters = METERS if "def publish(" in text else METERS | {"self", "super()"}  # only where no plan is written
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=ast.Attribute(attr="open") as function, args=args, keywords=keywords):
                called.add(function)
                if not args and not keywords:
                    found.append(f"line {node.lineno}: {ast.unparse(node)}")
            case ast.Call(func=ast.Attribute(attr="measure") as function) if ast.unparse(function.value) in meters:
                called.add(function)
            case ast.Call(func=ast.Attribute(attr="measure") as function):
                called.add(function)
                found.append(f"line {node.lineno}: {ast.unparse(node)}")
            case ast.Call(func=ast.Name("getattr" | "methodcaller"), args=[*_, ast.Constant("open" | "measure")]):
                found.append(f"line {node.lineno}: {ast.unparse(node)}")
    for node in ast.walk(ast.parse(text)):
        match node:  # a method taken without calling it: plan.measure passed on
            case ast.Attribute(attr="measure", ctx=ast.Load()) if ast.unparse(node.value) not in meters and not any(
                function.lineno == node.lineno and function.col_offset == node.col_offset for function in called
            ):
                found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_private_data_is_opened_in_one_module_only(path):
    if path in SCRAMBLED | SHOWN_TO_THE_CUSTODIAN | PUBLIC:
        assert [found.split(": ")[1] for found in doors(path.read_text())] == ["source.open()"]
    elif path != DOOR:
        assert doors(path.read_text()) == []


def test_the_door_opens_and_measures_once():
    assert [found.split(": ")[1] for found in doors(DOOR.read_text())] == ["data.open()", "plan.measure(private, bits)"]


@pytest.mark.parametrize(
    "text",
    [
        "with source.open() as c: pass",
        "plan.measure(connection, bits)",
        "self.plan.measure(data=x, bits=y)",
        "f = plan.measure",
        "getattr(plan, 'measure')(x)",
        "map(job.measure, rows)",
        "class P:\n    def publish(self, x): return self.measure(data, bits)",
    ],
)
def test_another_door_is_found(text):
    assert doors(text)


@pytest.mark.parametrize(
    "text",
    [
        "open(path)",
        "Ledger.open(place, create=True)",
        "path.open('w')",
        "app = run(1)",
        "os.open(p, 0)",
        "meter.measure(columns, amount)",
        "self.search.measure(counts)",
    ],
)
def test_other_things_are_not_doors(text):
    assert not doors(text)
