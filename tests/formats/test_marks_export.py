"""Marks for INCEpTION and Potato: what their own rules make of what is written."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import cassis
import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from lapsus.errors import InputError, LossError
from lapsus.formats import FORMATS, convert, read
from lapsus.formats.marks import lay_out
from lapsus.formats.marks_export import Inception, Potato
from lapsus.model import Document, Entry, Judgment, Segment, Span
from lapsus.schemes import load_scheme
from tests import strategies

VERSION = load_scheme("semantic-errors").version
DOCUMENT = Document(
    "doc/1", (Segment.triple("t", "A😀", "p", "C"), Segment("x", "text", "👩‍👩‍👧 one\ntwo")), "en"
)
SPANS = (Span("t", 0, 2, "omission", "q"), Span("x", 6, 13, "addition", "q"), Span("x", 6, 9, "repetition"))


def judged(annotator: str = "a/b", answers: Any = None, **more: Any) -> Judgment:
    return Judgment(
        "doc/1", None, annotator, "semantic-errors", VERSION, answers or {"errors": SPANS}, **more
    )


def cas(path: Path) -> Any:
    """The CAS as another program reads it, which is strict about types and references."""
    with path.open(encoding="utf-8") as stream:
        return cassis.load_cas_from_json(stream)


def test_another_program_reads_what_is_written_for_inception(tmp_path: Path) -> None:
    older = judged(answers={"errors": ()})
    Inception().write([Entry("doc/1", DOCUMENT, (judged(revision=2), older))], tmp_path / "out")
    found = cas(tmp_path / "out/a%2Fb/doc%2F1.json")
    assert found.sofa_string == lay_out(DOCUMENT).text
    spans = sorted(found.select("custom.Span"), key=lambda span: (span.begin, -span.end))
    assert [(span.label, span.get_covered_text()) for span in spans] == [
        ("omission", "A😀"),
        ("addition", "one\ntwo"),
        ("repetition", "one"),
    ]
    (relation,) = found.select("custom.Relation")
    assert (relation.Governor.label, relation.Dependent.label, relation.label) == (
        "omission",
        "addition",
        "Tied",
    )
    assert (relation.begin, relation.end) == (spans[1].begin, spans[1].end)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(entry=strategies.pair_entries)
def test_every_mark_stands_where_it_stood(tmp_path_factory: pytest.TempPathFactory, entry: Entry) -> None:
    if entry.document is None or any(loss.severe for loss in Inception().losses(entry)):
        return
    path = tmp_path_factory.mktemp("marks")
    Inception().write([entry], path / "inception")
    Potato().write([entry], path / "potato")
    for file in (path / "inception").rglob("*.json"):
        task = path / "potato" / file.parent.name
        (item,) = map(json.loads, (task / "data.jsonl").read_text(encoding="utf-8").split("\n")[:-1])
        ((_, marks),) = item["predictions"].items()
        marked = [(span.begin, span.end, span.label) for span in cas(file).select("custom.Span")]
        assert sorted(marked) == sorted((one["start"], one["end"], one["label"]) for one in marks)
        texts = {segment.text[span.start : span.end] for segment, span in _pairs(entry)}
        assert {item["text"][start:end] for start, end, _ in marked} <= texts


def _pairs(entry: Entry) -> list[tuple[Segment, Span]]:
    answers: list[Any] = [judgment.answers.get("errors", ()) for judgment in entry.judgments]
    assert entry.document is not None
    return [(entry.document.segment(span.segment), span) for answer in answers for span in answer]


def test_a_task_for_potato(tmp_path: Path) -> None:
    Potato().write(
        [Entry("doc/1", DOCUMENT, (judged("ann"),)), Entry("e", Document("e", ()), ())], tmp_path / "out"
    )
    config = yaml.safe_load((tmp_path / "out/ann/config.yaml").read_text(encoding="utf-8"))
    assert {"annotation_task_name", "task_dir", "item_properties", "output_annotation_dir"} <= config.keys()
    (scheme,) = config["annotation_schemes"]
    assert (scheme["annotation_type"], scheme["name"]) == ("span", "semantic-errors.errors")
    assert [label["name"] for label in scheme["labels"]] == ["omission", "addition", "repetition"]
    (item,) = map(json.loads, (tmp_path / "out/ann" / config["data_files"][0]).read_text().splitlines())
    assert (item[config["item_properties"]["id_key"]], item["text"]) == ("doc/1", lay_out(DOCUMENT).text)
    marks = item[config["pre_annotation"]["field"]][scheme["name"]]
    assert [(item["text"][one["start"] : one["end"]], one["label"]) for one in marks] == [
        ("A😀", "omission"),
        ("one\ntwo", "addition"),
        ("one", "repetition"),
    ]
    assert (tmp_path / "out/unannotated/data.jsonl").exists()


@pytest.mark.parametrize("name", ["inception", "potato"])
def test_what_they_cannot_carry_is_said(name: str, tmp_path: Path) -> None:
    format = FORMATS.get(name)()
    label = Judgment("doc/1", "x", "a", "breakdown", "1.0", {"breakdown": "X"})
    outside = judged(answers={"errors": (Span("x", 0, 99, "addition"),), "remark": "so"}, seconds=3.0)
    severe = {loss.what for loss in format.losses(Entry("doc/1", DOCUMENT, (label, outside))) if loss.severe}
    assert severe == {
        "judgments under the scheme 'breakdown' (only marks in texts)",
        "answers to 'remark'",
        "spans outside their text",
    }
    tied = {loss.what for loss in format.losses(Entry("doc/1", DOCUMENT, (judged(),)))}
    assert ("ties between marks" in tied) == (name == "potato")
    alone = Entry("doc/1", None, (judged(answers={"errors": ()}),))
    assert [loss.what for loss in format.losses(alone)] == ["judgments without their document"]
    with pytest.raises(LossError):
        convert([Entry("doc/1", DOCUMENT, (label,))], tmp_path / "out", name)
    convert([Entry("doc/1", DOCUMENT, (label, judged()))], tmp_path / "out.zip", name, lossy=True)
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert all(member.startswith("a%2Fb/") for member in archive.namelist())
    with pytest.raises(InputError, match="can be written but not read"):
        read(tmp_path / "out.zip", name)
