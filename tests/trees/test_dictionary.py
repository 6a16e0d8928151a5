"""Every file says what its columns are: in words, as CSV on the Web, and in the schema of Parquet."""

import csv
import io
import json
import re
import zipfile

import pyarrow
import pyarrow.parquet
import pytest
from tree_desk import COUNTIES

import discreet
from discreet import Budget, Category, Rules, Schema, Text
from discreet.errors import InputError
from discreet.trees.export import archive
from discreet.trees.measurement_reader import read_measurements

# What the W3C's Metadata Vocabulary for Tabular Data defines (sections 5.3 to 5.7); the rest has to have a prefix.
INHERITED = {
    "aboutUrl", "datatype", "default", "lang", "null", "ordered", "propertyUrl", "required", "separator",
    "textDirection", "valueUrl",
}  # fmt: skip
TABLE = {
    "@context", "@id", "@type", "url", "dialect", "notes", "suppressOutput", "tableDirection", "tableSchema",
    "transformations",
}  # fmt: skip
SCHEMA = {"@id", "@type", "columns", "foreignKeys", "primaryKey", "rowTitles"}
COLUMN = {"@id", "@type", "name", "suppressOutput", "titles", "virtual"}
READ = {"string": str, "integer": int, "double": float, "boolean": lambda text: {"True": True, "False": False}[text]}


def defined(found, names):
    assert {name for name in found if not re.match(r"(dc|schema):\w+$", name)} <= names | INHERITED


def conforms(path):
    """Whether a CSV file has metadata as the vocabulary requires it, and keeps to it."""
    about = json.loads(path.with_name(f"{path.name}-metadata.json").read_text())
    defined(about, TABLE)
    assert about["@context"] == "http://www.w3.org/ns/csvw"
    assert about["url"] == path.name
    assert all(isinstance(note, dict) for note in about.get("notes", []))
    for one in about["schema:additionalProperty"]:
        assert set(one) == {"@type", "schema:name", "schema:value"}
    schema = about["tableSchema"]
    defined(schema, SCHEMA)
    columns = schema["columns"]
    names = [column["name"] for column in columns]
    assert len(set(names)) == len(names)
    assert set(schema.get("primaryKey", [])) <= set(names)
    head, *rows = csv.reader(io.StringIO(path.read_text()))
    assert [column["titles"] for column in columns] == head
    for place, column in enumerate(columns):
        defined(column, COLUMN)
        assert re.fullmatch(r"([A-Za-z0-9]|%[0-9A-F]{2})([A-Za-z0-9_.]|%[0-9A-F]{2})*", column["name"])
        assert column["dc:description"].endswith(".")
        kind = column["datatype"]
        for row in rows:
            if row[place] or column["required"]:
                READ[kind if isinstance(kind, str) else kind["base"]](row[place])
    keys = [names.index(name) for name in schema.get("primaryKey", [])]
    assert len({tuple(row[key] for key in keys) for row in rows}) == len(rows)
    return about


@pytest.fixture
def release(curator):
    rules = Rules(totals={"all": [4000]}, by={"totals.all": "Statistics Act"})
    question = curator.tree(["state", "county"], by=["sex"], rules=rules)
    return question.plan(epsilon=1, method="topdown").release(release="census")


def test_csv_files_have_metadata_as_the_web_has_it(release, tmp_path):
    paths = [*release.save(tmp_path, "csv"), *release.replicates(10).save(tmp_path, "csv")]
    found = {path.name: conforms(path) for path in paths if path.suffix == ".csv"}
    assert len(found) == 9
    county = found["county.csv"]
    assert county["tableSchema"]["primaryKey"] == ["state", "county", "sex"]
    facts = {one["schema:name"]: one["schema:value"] for one in county["schema:additionalProperty"]}
    assert (facts["release"], facts["cost"], facts["confidence"]) == ("census", "epsilon = 1", 0.95)
    assert facts["rules"] == ["Totals of all: declared public by Statistics Act."]
    assert "added or removed" in facts["protects"]
    assert [note["kind"] for note in county["notes"]] == ["outside", "outside"]


def test_parquet_files_say_the_same_in_their_schema(release, tmp_path):
    paths = {path.name: path for path in release.save(tmp_path)}
    schema = pyarrow.parquet.read_schema(paths["county.parquet"])
    said = {name.decode(): text.decode() for name, text in schema.metadata.items()}
    assert said["title"] == "people: county.parquet"
    assert (said["discreet.release"], said["discreet.confidence"]) == ("census", "0.95")
    assert json.loads(said["discreet.notes"])[0]["kind"] == "outside"
    columns = json.loads(said["discreet.columns"])
    assert [column["name"] for column in columns] == schema.names
    assert b"not simultaneous" in schema.field("count_lower").metadata[b"description"]


def test_the_dictionary_has_every_column_of_every_file(release, tmp_path):
    paths = release.save(tmp_path)
    text = (tmp_path / "dictionary.md").read_text()
    for path in paths:
        if path.suffix == ".parquet":
            part = text.split(f"## {path.name}\n")[1].split("\n## ")[0]
            rows = [line.split(" | ") for line in part.splitlines() if line.startswith("| ")]
            assert [row[0][2:] for row in rows] == ["column", *pyarrow.parquet.read_schema(path).names]
            assert all(len(row) == 6 for row in rows)
    assert "| sex | text | sex, as declared" in text
    assert "f, m" in text
    assert "- rules: Totals of all: declared public by Statistics Act." in text


def test_sizes_of_groups_are_said_to_be_such(tmp_path):
    schema = Schema("people", {"county": Category(COUNTIES, nullable=False), "house": Text()})
    rows = {"county": [code for code in COUNTIES for _ in range(9)], "house": [f"{i // 3}" for i in range(72)]}
    curator = discreet.open(
        pyarrow.table(rows), schema, ledger=tmp_path / "b.db", budget=Budget(9), who="ann", create=True
    )
    release = curator.tree(["county"], sizes="house", largest=4).plan(epsilon=1).release()
    for path in release.save(tmp_path / "out", "csv"):
        if path.suffix == ".csv":
            conforms(path)
    text = (tmp_path / "out" / "dictionary.md").read_text()
    assert "number of groups of one house of that size or larger" in text
    assert "| size | integer | How many members a group has | members | 1, 2, 3, 4 | never |" in text
    exactly = "How many members a group has; 4 stands for 4 or more"
    assert f"| size | integer | {exactly} | members | 1, 2, 3, 4 | never |" in text
    assert "1, 2, 3, 4 or more" in text
    release.save_measurements(tmp_path / "noisy")
    assert read_measurements(tmp_path / "noisy").largest == 4
    about = json.loads((tmp_path / "noisy" / "measurements.json").read_text())
    (tmp_path / "noisy" / "measurements.json").write_text(json.dumps(about | {"largest": "4"}))
    with pytest.raises(InputError, match="largest"):
        read_measurements(tmp_path / "noisy")


def test_all_files_go_into_one(release):
    packed = zipfile.ZipFile(io.BytesIO(archive(lambda folder: release.save(folder, "csv"))))
    assert {"county.csv", "county.csv-metadata.json", "dictionary.md", "README.json"} <= set(packed.namelist())
    assert packed.testzip() is None
