"""Tasks that Lapsus writes, and what becomes of them in Label Studio."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lapsus.errors import InputError
from lapsus.formats import Loss, Source, format_for_output, read
from lapsus.formats.labelstudio import LabelStudio
from lapsus.formats.marks import from_utf16, to_utf16
from lapsus.model import Document, Entry, Judgment, Segment, Span
from lapsus.schemes import load_scheme
from tests import strategies
from tests.formats.test_labelstudio import TALK, entries, result, saved, task, turn

CHAT = Document("d", (Segment("u", "user", "hi 😀"), Segment("s", "system", "so 😀 what")), "en", {"k": 1})
PAIR = Document("p", (Segment.triple("t", "A😀", "p", "B"), Segment("x", "text", "😀 c d")), None)


def said(segment: str | None, annotator: str, scheme: str, answers: dict[str, Any], **more: Any) -> Judgment:
    document = "d" if segment else "p"
    return Judgment(document, segment, annotator, scheme, load_scheme(scheme).version, answers, **more)


TALKED = (
    said("s", "anna", "breakdown", {"breakdown": "T", "comment": "hm"}, revision=1),
    said("s", "anna", "breakdown", {"breakdown": "X", "comment": "hm"}, revision=2, seconds=3.0),
    said("u", "anna", "breakdown", {"breakdown": "O"}),
    said("s", "ben", "error-types", {"types": ("repetition", "contradiction")}),
    said("s", "cleo", "error-types", {"types": ()}),
)
MARKED = (
    said(
        None,
        "anna",
        "semantic-errors",
        {"errors": (Span("x", 2, 3, "addition", "q"), Span("t", 0, 2, "omission", "q")), "remark": "why"},
        at=datetime(2024, 1, 1, tzinfo=UTC),
    ),
    said(None, "ben", "semantic-errors", {"errors": ()}),
)


def written(folder: Path, *entries: Entry) -> list[dict[str, Any]]:
    path = folder / "out.json"
    LabelStudio().write(entries, path)
    tasks: list[dict[str, Any]] = json.loads(path.read_text())
    return tasks


def test_a_task_that_can_be_imported(tmp_path: Path) -> None:
    (chat,) = written(tmp_path, Entry("d", CHAT, TALKED))
    assert list(chat) == ["annotations", "data"]
    assert chat["data"]["dialogue"] == TALK
    first, second, third = chat["annotations"]
    assert list(first) == ["result", "ground_truth"], "nobody is named, for Label Studio refuses strangers"
    place = turn(1, "so 😀 what")
    assert place["endOffset"] == 10
    assert first["result"] == [
        {
            "type": "choices",
            "id": "lapsus-1",
            "from_name": "breakdown.breakdown",
            "to_name": "dialogue",
            "value": {**place, "choices": ["X"]},
        },
        {
            "type": "textarea",
            "id": "lapsus-1",
            "from_name": "breakdown.comment",
            "to_name": "dialogue",
            "value": {**place, "text": ["hm"]},
        },
        {
            "type": "choices",
            "id": "lapsus-2",
            "from_name": "breakdown.breakdown",
            "to_name": "dialogue",
            "value": {**turn(0, "hi 😀"), "choices": ["O"]},
        },
    ]
    assert second["result"][0]["value"]["choices"] == ["repetition", "contradiction"]
    (none,) = third["result"]
    assert (none["from_name"], none["value"]) == ("error-types.types.none", {**place, "choices": ["none"]})


def test_marks_count_utf16_units(tmp_path: Path) -> None:
    (pair,) = written(tmp_path, Entry("p", PAIR, MARKED))
    annotation, nothing = pair["annotations"]
    assert [(one["from_name"], one["value"]) for one in nothing["result"]] == [
        ("semantic-errors.errors.none", {"choices": ["none"]})
    ], "nothing to mark is an annotation too"
    first, second, line, remark = annotation["result"]
    assert (first["type"], first["value"]) == (
        "paragraphlabels",
        {
            "start": "1",
            "end": "1",
            "startOffset": 3,
            "endOffset": 4,
            "text": "c",
            "paragraphlabels": ["addition"],
        },
    )
    assert second["value"]["endOffset"] == 3
    assert line == {"type": "relation", "from_id": first["id"], "to_id": second["id"], "direction": "bi"}
    assert remark["value"] == {"text": ["why"]}
    assert remark["id"] not in (first["id"], second["id"])


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    given = [Entry("d", CHAT, TALKED), Entry("p", PAIR, MARKED)]
    written(tmp_path, *given)
    assert entries(tmp_path / "out.json") == given


def test_nothing_at_all(tmp_path: Path) -> None:
    LabelStudio().write([], tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text()) == []


def exported(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tasks as Label Studio gives them back: numbers of its own, the importer's name, another order."""
    for number, item in enumerate(tasks, 900):
        item |= {"id": number, "inner_id": 1, "meta": {}, "drafts": [], "predictions": [], "project": 4}
        for annotation in item["annotations"]:
            annotation |= {
                "id": 5,
                "completed_by": 99,
                "lead_time": 1.0,
                "created_at": "2030-01-01T00:00:00Z",
            }
            annotation["result"].reverse()
            for one in annotation["result"]:
                if "choices" in one.get("value", {}):
                    one["value"]["choices"].reverse()
    return tasks


def test_it_comes_back_from_label_studio_unchanged(tmp_path: Path) -> None:
    given = [Entry("d", CHAT, TALKED), Entry("p", PAIR, MARKED)]
    assert entries(saved(tmp_path, exported(written(tmp_path, *given)))) == given


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(entry=strategies.later_schemes_entries)
def test_anything_comes_back_from_label_studio_unchanged(entry: Entry) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (back,) = entries(saved(Path(folder), exported(written(Path(folder), entry))))
    assert back == entry


def test_a_change_there_is_a_new_revision(tmp_path: Path) -> None:
    tasks = exported(written(tmp_path, Entry("d", CHAT, TALKED), Entry("p", PAIR, MARKED)))
    chat, pair = (item["annotations"][0]["result"] for item in tasks)
    comment = next(one for one in chat if one["type"] == "textarea")
    comment["value"]["text"] = ["sure"]
    pair[:] = [one for one in pair if one["type"] == "textarea"]
    first, second = entries(saved(tmp_path, tasks))
    assert first.judgments[:-1] == TALKED
    assert first.judgments[-1] == said(
        "s", "anna", "breakdown", {"breakdown": "X", "comment": "sure"}, revision=3
    )
    assert second.judgments == (
        *MARKED,
        said(None, "anna", "semantic-errors", {"remark": "why", "errors": ()}, revision=2),
    )


def test_an_answer_about_another_turn_is_the_same_persons(tmp_path: Path) -> None:
    tasks = exported(written(tmp_path, Entry("d", CHAT, TALKED)))
    tasks[0]["annotations"][1]["result"].append(
        result("breakdown.breakdown", "choices", turn(1, "so 😀 what", choices=["O"]), "new")
    )
    (entry,) = entries(saved(tmp_path, tasks))
    assert entry.judgments[:-1] == TALKED
    new = entry.judgments[-1]
    assert (new.annotator, new.segment, new.answers, new.revision) == ("ben", "s", {"breakdown": "O"}, 1)


def test_somebody_else_judges_there(tmp_path: Path) -> None:
    tasks = exported(written(tmp_path, Entry("p", PAIR, MARKED)))
    value = {"start": "0", "end": "0", "startOffset": 0, "endOffset": 3, "text": "A😀", "labels": []}
    value["paragraphlabels"] = ["omission"]
    tasks[0]["annotations"] += [
        {"completed_by": 8, "result": [result("semantic-errors.errors", "paragraphlabels", value)]},
        {"completed_by": 9, "result": []},
    ]
    (entry,) = entries(saved(tmp_path, tasks))
    assert entry.judgments[:2] == MARKED
    assert [(j.annotator, j.answers["errors"]) for j in entry.judgments[2:]] == [
        ("8", (Span("t", 0, 2, "omission"),)),
        ("9", ()),
    ]


@given(st.text(max_size=12))
def test_counting_in_units_and_back(text: str) -> None:
    for place in range(len(text) + 1):
        units = to_utf16(text, place)
        assert units == len(text[:place].encode("utf-16-le", "surrogatepass")) // 2
        assert from_utf16(text, units) == place
    assert from_utf16("😀", 1) is None
    assert from_utf16(text, to_utf16(text, len(text)) + 1) is None


def test_the_example_in_the_docs(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/formats/labelstudio.md").read_text(encoding="utf-8")
    example = json.loads(page.split("```json\n")[1].split("```")[0])
    (entry,) = entries(saved(tmp_path, example))
    assert entry.judgments == (
        Judgment("en-01", "1", "avery", "breakdown", "1.0", {"breakdown": "T"}, seconds=3.2),
    )


def places_in(value: Any, so_far: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [so_far, *(place for key, item in inside for place in places_in(item, (*so_far, key)))]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_file_with_one_thing_wrong_is_an_error_of_ours(tmp_path: Path, data: st.DataObject) -> None:
    (tmp_path / "out.json").unlink(missing_ok=True)
    tasks: Any = exported(written(tmp_path, Entry("d", CHAT, TALKED), Entry("p", PAIR, MARKED)))
    mark = result("errors", "labels", {"start": 0, "end": 1, "text": "a", "labels": ["addition"]})
    tasks.append(
        task({"messages": [{"role": "user", "content": "x"}], "text": "abc"}, mark, completed_by={"id": 1})
    )
    *way, last = data.draw(st.sampled_from([place for place in places_in(tasks) if place]))
    spot = tasks
    for step in way:
        spot = spot[step]
    spot[last] = data.draw(
        st.one_of(strategies.json_values, st.sampled_from(["lapsus-0-1", "lapsus-99", 10**30]))
    )
    message = "export.json"
    try:
        entries(saved(tmp_path, tasks))
    except InputError as error:
        message = str(error)
    assert "export.json" in message


# Telling it from other files.


def test_it_is_recognised(tmp_path: Path) -> None:
    foreign = task({"text": "x"}, result("breakdown", "choices", {"choices": ["X"]}))
    assert read(saved(tmp_path, [foreign])).format.name == "labelstudio"
    long = Document("p", (Segment("x", "text", "a" * 200_000),))
    for number, entry in enumerate([Entry("p", PAIR, MARKED), Entry("p", PAIR), Entry("p", long)]):
        LabelStudio().write([entry], tmp_path / f"{number}.json")
        assert read(tmp_path / f"{number}.json").format.name == "labelstudio"
    assert isinstance(format_for_output(tmp_path / "new.json"), LabelStudio)


def test_a_long_first_task_is_recognised_by_its_head(tmp_path: Path) -> None:
    long = task({"text": "x"}, result("breakdown", "choices", {"choices": ["X"]}))
    long = {"annotations": long["annotations"] * 1000, "data": long["data"]}
    assert LabelStudio().recognises(Source(saved(tmp_path, [long])))


@pytest.mark.parametrize(
    "content",
    [
        [],
        [1],
        [{"data": {}}],
        [{"annotations": {"a": [1]}, "data": {}}],
        [{"context": "x", "annotations": [1]}],
        [{"text": '{"data": {}, "annotations": ['}],
        [{"inner": {"data": {}, "annotations": []}}],
        {"data": {}, "annotations": []},
        [{"messages": [], "data": "annotations"}],
    ],
)
def test_other_files_are_not(tmp_path: Path, content: Any) -> None:
    assert not LabelStudio().recognises(Source(saved(tmp_path, content)))


def test_losses() -> None:
    judgment = said("s", "a", "breakdown", {"breakdown": "X"})
    unknown = Judgment("d", "s", "a", "unheard-of", "1", {"x": 1})
    odd = said("s", "a", "breakdown", {"x": "X"})
    nowhere = said("gone", "a", "breakdown", {"breakdown": "X"})
    outside = Judgment("d", None, "a", "semantic-errors", "1.0", {"errors": (Span("s", 0, 99, "addition"),)})
    losses = LabelStudio().losses
    assert list(losses(Entry("d", None, (judgment,)))) == [
        Loss("judgments without their document", severe=True)
    ]
    assert list(losses(Entry("d", CHAT, (judgment,)))) == []
    for bad in (unknown, odd, nowhere, outside):
        (loss,) = losses(Entry("d", CHAT, (bad,)))
        assert not loss.severe


def test_what_cannot_be_shown_still_comes_back(tmp_path: Path) -> None:
    unknown = Judgment("d", "s", "a", "unheard-of", "1", {"x": 1})
    nowhere = said("gone", "a", "breakdown", {"breakdown": "X"})
    outside = Judgment("d", None, "a", "semantic-errors", "1.0", {"errors": (Span("s", 0, 99, "addition"),)})
    entry = Entry("d", CHAT, (unknown, nowhere, outside))
    written(tmp_path, entry)
    assert entries(tmp_path / "out.json") == [entry]
