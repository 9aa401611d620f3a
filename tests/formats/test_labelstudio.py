"""Exports of Label Studio projects that Lapsus did not write."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lapsus.errors import InputError
from lapsus.formats import EntryStream, Source
from lapsus.formats.labelstudio import LabelStudio
from lapsus.model import Document, Entry, Judgment, Segment, Span
from lapsus.schemes import load_scheme

TALK = [{"author": "User", "text": "hi 😀"}, {"author": "System", "text": "so 😀 what"}]


def saved(folder: Path, tasks: Any, name: str = "export.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(tasks))
    return path


def entries(path: Path) -> list[Entry]:
    return list(EntryStream(Source(path), LabelStudio(), recognised=False))


def task(data: dict[str, Any], *results: dict[str, Any], **annotation: Any) -> dict[str, Any]:
    return {"id": 7, "data": data, "annotations": [{"result": list(results), **annotation}]}


def result(name: str, kind: str, value: dict[str, Any], name_of_region: str = "r1") -> dict[str, Any]:
    return {
        "id": name_of_region,
        "from_name": name,
        "to_name": "x",
        "type": kind,
        "value": value,
        "origin": "manual",
    }


def judgments(folder: Path, *tasks: dict[str, Any]) -> tuple[Judgment, ...]:
    return tuple(judgment for entry in entries(saved(folder, list(tasks))) for judgment in entry.judgments)


def answers(folder: Path, data: dict[str, Any], *results: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(j.scheme, j.segment, dict(j.answers)) for j in judgments(folder, task(data, *results))]


def problem(folder: Path, tasks: Any) -> str:
    with pytest.raises(InputError) as caught:
        entries(saved(folder, tasks))
    return str(caught.value)


def turn(place: int, text: str, **more: Any) -> dict[str, Any]:
    end = len(text.encode("utf-16-le")) // 2
    return {
        "start": str(place),
        "end": str(place),
        "startOffset": 0,
        "endOffset": end,
        "text": text,
        **more,
    }


def test_who_and_when(tmp_path: Path) -> None:
    choice = result("breakdown", "choices", {"choices": ["X"]})
    made = {
        "completed_by": {"id": 3, "email": "a@b.c"},
        "lead_time": 4.5,
        "created_at": "2024-01-02T03:04:05.6Z",
    }
    (judgment,) = judgments(tmp_path, task({"text": "hi"}, choice, **made))
    assert judgment == Judgment(
        "7",
        None,
        "a@b.c",
        "breakdown",
        load_scheme("breakdown").version,
        {"breakdown": "X"},
        at=datetime(2024, 1, 2, 3, 4, 5, 600_000, tzinfo=UTC),
        seconds=4.5,
    )


@pytest.mark.parametrize(
    ("completed_by", "annotator"),
    [
        (5, "5"),
        ("x@y.z", "x@y.z"),
        ({"id": 6}, "6"),
        ({"id": 6, "username": "mo"}, "mo"),
        (None, "?01"),
        ({}, "?01"),
    ],
)
def test_annotators(tmp_path: Path, completed_by: Any, annotator: str) -> None:
    choice = result("breakdown", "choices", {"choices": ["NB"]})
    (judgment,) = judgments(tmp_path, task({"text": "hi"}, choice, completed_by=completed_by))
    assert (judgment.annotator, judgment.answers) == (annotator, {"breakdown": "O"})


def test_the_document(tmp_path: Path) -> None:
    data = {"dialogue": TALK, "text": "as a whole", "topic": {"a": [1]}}
    (entry,) = entries(saved(tmp_path, [{"data": data, "meta": {"b": 2}, "annotations": []}]))
    assert entry.document == Document(
        "1",
        (
            Segment("0", "user", "hi 😀", None, {"speaker": "User"}),
            Segment("1", "system", "so 😀 what", None, {"speaker": "System"}),
            Segment("text", "text", "as a whole"),
        ),
        "en",
        {"topic": {"a": [1]}, "meta": {"b": 2}},
    )


def test_messages_of_chat_programs(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "hi", "time": 3},
        {"role": "assistant", "content": "yo"},
    ]
    (entry,) = entries(saved(tmp_path, [{"id": "c1", "data": {"messages": messages}}]))
    assert entry.document is not None
    assert [(s.role, s.text) for s in entry.document.segments] == [
        ("prompt", "be kind"),
        ("user", "hi"),
        ("system", "yo"),
    ]
    assert entry.document.segments[1].metadata == {"time": 3}


def test_answers_about_turns_and_about_all(tmp_path: Path) -> None:
    found = answers(
        tmp_path,
        {"dialogue": TALK},
        result("breakdown", "choices", turn(1, "so 😀 what", choices=["Breakdown"])),
        result("comment", "textarea", turn(1, "so 😀 what") | {"text": ["rude", "odd"]}),
        result("breakdown", "choices", turn(0, "hi 😀", choices=["O"]), "r2"),
        result("soundness", "rating", {"rating": 4}, "r3"),
        result("conciseness", "number", {"number": 2.0}, "r4"),
        result("types", "taxonomy", {"taxonomy": [["Contradiction"], ["自己矛盾"]]}, "r5"),
    )
    assert found == [
        ("breakdown", "1", {"breakdown": "X", "comment": "rude\nodd"}),
        ("breakdown", "0", {"breakdown": "O"}),
        ("response-quality", None, {"soundness": 4, "conciseness": 2}),
        ("error-types", None, {"types": ("contradiction", "self-contradiction")}),
    ]


def test_the_time_for_several_turns_is_no_judgments_own(tmp_path: Path) -> None:
    results = [
        result("breakdown", "choices", turn(1, "so 😀 what", choices=["X"])),
        result("breakdown", "choices", turn(0, "hi 😀", choices=["O"]), "r2"),
    ]
    found = judgments(tmp_path, task({"dialogue": TALK}, *results, lead_time=60.0, ground_truth=True))
    assert [(j.seconds, j.metadata) for j in found] == [(None, {"ground_truth": True, "lead_time": 60.0})] * 2


def test_predictions(tmp_path: Path) -> None:
    choice = result("breakdown", "choices", {"choices": ["X"]})
    predictions = [{"model_version": "m2", "score": 0.5, "result": [choice]}, {"result": [choice]}]
    found = judgments(tmp_path, {"id": 1, "data": {"text": "hi"}, "predictions": predictions})
    assert [(j.annotator, j.metadata) for j in found] == [("m2", {"score": 0.5}), ("prediction-2", {})]


def test_skipped_is_not_judged_and_twice_is_a_revision(tmp_path: Path) -> None:
    def said(label: str, **more: Any) -> dict[str, Any]:
        return {"completed_by": 1, "result": [result("breakdown", "choices", {"choices": [label]})], **more}

    tasks = {"data": {"text": "hi"}, "annotations": [said("O", was_cancelled=True), said("T"), said("T")]}
    assert [(j.answers["breakdown"], j.revision) for j in judgments(tmp_path, tasks)] == [("T", 1), ("T", 2)]


@pytest.mark.parametrize(
    ("start", "end"), [(5, 8), (6, 9)], ids=["code points, since 2022", "UTF-16 units, before"]
)
def test_offsets_in_a_text(tmp_path: Path, start: int, end: int) -> None:
    value = {"start": start, "end": end, "text": "cat", "labels": ["Addition"]}
    found = answers(tmp_path, {"text": "a 😀: cat"}, result("label", "labels", value))
    assert found == [("semantic-errors", None, {"errors": (Span("text", 5, 8, "addition"),)})]


def test_offsets_in_turns_are_utf16(tmp_path: Path) -> None:
    value = {"start": "1", "end": "1", "startOffset": 6, "endOffset": 10, "paragraphlabels": ["repetition"]}
    (found,) = answers(tmp_path, {"dialogue": TALK}, result("errors", "paragraphlabels", value))
    assert found[2] == {"errors": (Span("1", 5, 9, "repetition"),)}


def test_global_offsets(tmp_path: Path) -> None:
    value = {
        "start": "/p[1]/text()[1]",
        "end": "/p[1]/text()[1]",
        "startOffset": 1,
        "endOffset": 4,
        "globalOffsets": {"start": 2, "end": 5},
        "hypertextlabels": ["addition"],
    }
    (found,) = answers(tmp_path, {"text": "a cat"}, result("errors", "hypertextlabels", value))
    assert found[2] == {"errors": (Span("text", 2, 5, "addition"),)}


def test_relations_are_ties(tmp_path: Path) -> None:
    spans = [
        result("errors", "labels", {"start": i, "end": i + 1, "labels": ["addition"]}, f"r{i}")
        for i in range(3)
    ]
    lines = [{"type": "relation", "from_id": "r0", "to_id": "r2", "direction": "right"}]
    (found,) = answers(tmp_path, {"text": "abc"}, *spans, *lines)
    assert [span.tie for span in found[2]["errors"]] == ["1", None, "1"]


def test_a_control_is_known_by_its_neighbours(tmp_path: Path) -> None:
    data = {"text": "abc"}
    remark = result("remark", "textarea", {"text": ["hm"]})
    assert "control 'remark' could stand for error-types.remark, semantic-errors.remark" in problem(
        tmp_path, [task(data, remark)]
    )
    mark = result("errors", "labels", {"start": 0, "end": 1, "labels": ["addition"]})
    (found,) = answers(tmp_path, data, remark, mark)
    assert found[0] == "semantic-errors"


@pytest.mark.parametrize(
    ("name", "kind", "value"),
    [
        ("breakdown.breakdown", "choices", {"choices": ["X"]}),
        ("Breakdown", "choices", {"choices": ["X"]}),
        ("error-types", "choices", {"choices": ["repetition"]}),
        ("sentiment", "choices", {"choices": ["Possible breakdown"]}),
    ],
)
def test_how_a_control_is_found(tmp_path: Path, name: str, kind: str, value: dict[str, Any]) -> None:
    assert len(answers(tmp_path, {"text": "hi"}, result(name, kind, value))) == 1


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (
            [result("mood", "choices", {"choices": ["glad"]})],
            "control 'mood' fits no question of a known scheme",
        ),
        ([result("mood", "choices", {"choices": ["Y"]})], "control 'mood' could stand for response-quality."),
        ([result("breakdown", "choices", {"choices": ["Z"]})], "breakdown.breakdown: unknown label 'Z'"),
        ([result("breakdown", "choices", {"choices": ["O", "X"]})], "breakdown.breakdown has 2 answers"),
        ([result("breakdown", "choices", {"choices": "X"})], "is no list of labels"),
        ([result("types", "taxonomy", {"taxonomy": [["a", "b"]]})], "nested choices are not supported"),
        ([result("box", "rectanglelabels", {"x": 1})], "results of type 'rectanglelabels' (known types"),
        ([result("soundness", "rating", {"rating": "4"})], "'4' is no number"),
        ([result("breakdown.comment", "textarea", {"text": [4]})], "'text' is no text"),
        ([result("breakdown", "choices", {"choices": ["X"]})] * 2, "breakdown.breakdown is answered twice"),
        ([result("errors", "labels", {"labels": ["addition"]})], "control 'errors' marks nothing"),
        (
            [result("errors", "labels", {"start": 0, "end": 2, "text": "Hi", "labels": ["addition"]})],
            "'Hi' is said to be marked, but 'hi' stands at 0-2",
        ),
        (
            [result("errors", "labels", {"start": 0, "end": 99, "labels": ["addition"]})],
            "a region from 0 to 99 in a text of 12 signs",
        ),
        (
            [result("errors", "labels", {"start": "/p", "end": 2, "labels": ["addition"]})],
            "which are no whole numbers",
        ),
        (
            [result("breakdown", "choices", turn(1, "so", choices=["X"]))],
            "breakdown.breakdown is answered for 0-2 of turn '1' only",
        ),
        ([result("breakdown", "choices", turn(9, "so", choices=["X"]))], "in turn 9, but there are 3 turns"),
        (
            [result("breakdown", "choices", turn(0, "so", choices=["X"]) | {"end": "1"})],
            "a region from turn 0 to turn 1",
        ),
        ([], "annotation 1: says nothing"),
    ],
)
def test_results_that_cannot_be_read(tmp_path: Path, results: list[Any], message: str) -> None:
    said = problem(tmp_path, [task({"dialogue": TALK, "text": "hi and bye .\n"[:12]}, *results)])
    assert message in said
    assert "export.json, item 1, annotation 1" in said


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ({"id": 1}, "one JSON object, not a list"),
        (
            [{"id": 1, "text": "hi", "sentiment": "X"}],
            "item 1: has no 'data' (export as JSON, not as JSON-MIN",
        ),
        ([{"data": {"image": "a.png"}}], "no text in its data, only image"),
        ([{"data": {"text": 5}}], "'text' is no text"),
        ([{"data": {"dialogue": "hi"}}], "'dialogue' is one list of turns too many, or no list"),
        ([{"data": {"dialogue": [{"author": "Bob", "text": "x"}]}}], "turn 0: unknown speaker 'Bob'"),
        ([{"data": {"dialogue": [{"author": "S"}]}}], "turn 0: has no text or content"),
        ([{"data": {"text": "hi"}, "completions": []}], "before 1.0"),
        ([{"data": {"text": "hi"}, "annotations": {}}], "item 1: Expected `array`"),
        ([{"data": {"lapsus": {"format": 1}}}], "not as Lapsus wrote them"),
        ([{"data": {"lapsus": {"format": 9, "id": "a", "segments": []}, "dialogue": []}}], "newer Lapsus"),
        ([{"data": {"lapsus": {"format": 1, "id": "a", "segments": []}, "dialogue": TALK}}], "wrote 0 turns"),
    ],
)
def test_tasks_that_cannot_be_read(tmp_path: Path, tasks: Any, message: str) -> None:
    assert message in problem(tmp_path, tasks)
