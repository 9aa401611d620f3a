"""The labelling interface for Label Studio, "none" as an answer, and exports that are refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from lapsus.cli.app import app
from lapsus.errors import InputError
from lapsus.formats import read
from lapsus.formats.labelstudio_answers import labelling_interface
from lapsus.kinds import kinds_of
from lapsus.model import Document, Entry, Judgment, Segment, Span
from lapsus.schemes import load_scheme, scheme_names
from tests.formats.test_labelstudio import entries, result, saved, turn
from tests.formats.test_labelstudio_written import exported, written

TALK = [{"author": "User", "text": "hi"}, {"author": "System", "text": "so what"}]
TYPES = {
    "Choices": "choices",
    "Number": "number",
    "TextArea": "textarea",
    "ParagraphLabels": "paragraphlabels",
}


def interface(name: str, language: str = "en") -> ET.Element:
    return ET.fromstring(labelling_interface(load_scheme(name), language))  # noqa: S314  our own text


def controls(view: ET.Element) -> dict[str, ET.Element]:
    return {tag.get("name", ""): tag for tag in view if tag.get("toName")}


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("name", scheme_names())
def test_it_holds_to_the_rules_of_label_studio(name: str, language: str) -> None:
    view = interface(name, language)
    names = [tag.get("name") for tag in view if tag.get("name")]
    assert len(set(names)) == len(names)
    objects = {tag.get("name") for tag in view if tag.get("value", "").startswith("$")}
    for control in controls(view).values():
        assert control.tag in TYPES
        assert control.get("toName") in objects
        for key in ("value", "alias"):
            given = [choice.get(key) for choice in control]
            assert all(given)
            assert len(set(given)) == len(given)
        assert bool(len(control)) == (control.tag in ("Choices", "ParagraphLabels"))
    by_turn = load_scheme(name).unit.role != "document"
    asked = [control for id, control in controls(view).items() if control.tag != "ParagraphLabels"]
    assert all((control.get("perRegion") == "true") == by_turn for control in asked)


@pytest.mark.parametrize("name", scheme_names())
def test_what_its_controls_give_is_read_as_answers(name: str, tmp_path: Path) -> None:
    """Each control is used once, as somebody there would."""
    scheme = load_scheme(name)
    place = turn(1, "so what") if scheme.unit.role != "document" else {}
    given = []
    for id, control in controls(interface(name)).items():
        kind = TYPES[control.tag]
        value: dict[str, Any] = {kind: [control[0].get("alias")] if len(control) else 3}
        if kind == "textarea":
            value = {"text": ["well"]}
        if kind == "paragraphlabels":
            value |= turn(1, "so what")
        if not id.endswith(".none"):
            given.append(result(id, kind, {**place, **value}))
    task = {"id": 1, "data": {"dialogue": TALK}, "annotations": [{"result": given, "completed_by": 7}]}
    (entry,) = entries(saved(tmp_path, [task]))
    (judgment,) = entry.judgments
    assert judgment.answers.keys() == kinds_of(scheme).keys()
    assert all(kinds_of(scheme)[id].holds(answer) for id, answer in judgment.answers.items())


def none_of(name: str, place: dict[str, Any]) -> dict[str, Any]:
    return result(f"{name}.none", "choices", {**place, "choices": ["none"]}, "n")


def test_nothing_to_mark_is_an_annotation(tmp_path: Path) -> None:
    results = [none_of("semantic-errors.errors", {}), none_of("error-types.types", turn(1, "so what"))]
    task = {"id": 1, "data": {"dialogue": TALK}, "annotations": [{"result": results, "completed_by": 7}]}
    (entry,) = entries(saved(tmp_path, [task]))
    said = [(j.scheme, j.segment, dict(j.answers)) for j in entry.judgments]
    assert said == [("semantic-errors", None, {"errors": ()}), ("error-types", "1", {"types": ()})]


def test_nothing_and_something_at_once(tmp_path: Path) -> None:
    mark = result(
        "semantic-errors.errors", "paragraphlabels", turn(1, "so what", paragraphlabels=["addition"])
    )
    results = [mark, none_of("semantic-errors.errors", {})]
    task = {"id": 1, "data": {"dialogue": TALK}, "annotations": [{"result": results}]}
    with pytest.raises(InputError, match="is answered, and 'none' is said too"):
        entries(saved(tmp_path, [task]))


def test_files_of_before_that_have_no_control_for_it(tmp_path: Path) -> None:
    """Where an earlier version wrote the task, an answer of nothing had no result: that is no change."""
    document = Document("d", (Segment("1", "text", "so what"),), "en")
    version = load_scheme("semantic-errors").version
    given = Judgment("d", None, "a", "semantic-errors", version, {"errors": (), "remark": "fine"})
    tasks = exported(written(tmp_path, Entry("d", document, (given,))))
    results = tasks[0]["annotations"][0]["result"]
    results[:] = [one for one in results if one["type"] == "textarea"]
    (entry,) = entries(saved(tmp_path, tasks))
    assert entry.judgments == (given,)


def test_marks_after_nothing_are_a_new_revision(tmp_path: Path) -> None:
    document = Document("d", (Segment("1", "text", "so what"),), "en")
    given = Judgment("d", None, "a", "semantic-errors", "1.1", {"errors": ()})
    tasks = exported(written(tmp_path, Entry("d", document, (given,))))
    (none,) = tasks[0]["annotations"][0]["result"]
    none |= {"from_name": "semantic-errors.errors", "type": "paragraphlabels"}
    none["value"] = turn(0, "so what", paragraphlabels=["addition"])
    (entry,) = entries(saved(tmp_path, tasks))
    assert entry.judgments[1].answers == {"errors": (Span("1", 0, 7, "addition"),)}
    assert entry.judgments[1].revision == 2


MINIMAL = {"dialogue": TALK, "id": 1, "breakdown": "X", "annotator": 1, "annotation_id": 4, "lead_time": 2.5}


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("min.json", json.dumps([MINIMAL]), "JSON-MIN"),
        ("out.csv", "annotation_id,annotator,id,lead_time,breakdown\n4,1,1,2.5,X\n", "CSV"),
        ("out.tsv", "annotation_id\tannotator\tid\tlead_time\tbreakdown\n4\t1\t1\t2.5\tX\n", "TSV"),
    ],
)
def test_other_exports_are_refused_by_name(tmp_path: Path, name: str, content: str, what: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    done = CliRunner().invoke(app, ["convert", str(path), str(tmp_path / "x.jsonl")])
    with pytest.raises(InputError) as caught:
        list(read(path))
    assert done.exit_code != 0
    assert f"{name}: is Label Studio's {what} export" in str(caught.value)
    assert "export the project again as JSON" in str(caught.value)
    assert not (tmp_path / "x.jsonl").exists()


def test_the_command_writes_and_prints(tmp_path: Path) -> None:
    path = tmp_path / "breakdown.xml"
    printed = CliRunner().invoke(app, ["scheme", "labelstudio", "breakdown", "--lang", "ja"])
    assert (
        CliRunner()
        .invoke(app, ["scheme", "labelstudio", "breakdown", "--lang", "ja", "-o", str(path)])
        .exit_code
        == 0
    )
    assert printed.stdout == path.read_text(encoding="utf-8")
    assert "対話破綻" in printed.stdout
    assert CliRunner().invoke(app, ["scheme", "labelstudio", "breakdown", "-o", str(path)]).exit_code != 0
