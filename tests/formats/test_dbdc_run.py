"""Runs for the challenge: labels and distributions, checked before anybody scores them."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lapsus.errors import InputError
from lapsus.formats import convert, dbdc_records, read
from lapsus.formats.dbdc_records import LARGEST
from lapsus.formats.dbdc_run import DbdcRun
from lapsus.model import Entry, Judgment


def label(breakdown: str = "O", o: Any = 0.5, t: Any = 0.25, x: Any = 0.25, **more: Any) -> dict[str, Any]:
    shares = {"prob-O": o, "prob-T": t, "prob-X": x}
    return {
        "breakdown": breakdown,
        **{key: share for key, share in shares.items() if share is not None},
        **more,
    }


def run(*turns: tuple[int, list[dict[str, Any]]], **more: Any) -> dict[str, Any]:
    return {"dialogue-id": "d1", "turns": [{"turn-index": n, "labels": labels} for n, labels in turns]} | more


def put(folder: Path, content: Any, name: str = "run1.labels.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def one(path: Path) -> Entry:
    (entry,) = read(path)
    return entry


def test_a_label_and_its_distribution_are_a_judgment_without_its_dialogue(tmp_path: Path) -> None:
    entry = one(put(tmp_path, run((0, [label("T", 0.2, 0.7, 0.1)]), (2, [label("B", 0, 0, 1)]))))
    assert entry.document is None
    assert [(j.segment, j.annotator, j.answers) for j in entry.judgments] == [
        ("0", "run1", {"breakdown": "T"}),
        ("2", "run1", {"breakdown": "X"}),
    ]
    assert entry.judgments[0].distributions == {"breakdown": {"O": 0.2, "T": 0.7, "X": 0.1}}


def test_the_run_is_named_after_its_zip_or_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, run((0, [label()])), "teamrun/en/IRIS/d1.labels.json")
    with zipfile.ZipFile(tmp_path / "teamrun.zip", "w") as archive:
        archive.write(path, "en/IRIS/d1.labels.json")
    assert one(tmp_path / "teamrun") == one(tmp_path / "teamrun.zip")
    assert one(tmp_path / "teamrun").judgments[0].annotator == "teamrun"
    monkeypatch.chdir(tmp_path / "teamrun")
    assert one(Path()).judgments[0].annotator == "teamrun"


def test_labels_alone_need_no_probabilities(tmp_path: Path) -> None:
    (judgment,) = one(put(tmp_path, run((0, [label("O", None, None, None)])))).judgments
    assert judgment.distributions == {}


def test_several_labels_of_a_turn_are_several_judges(tmp_path: Path) -> None:
    labels = [label("O"), label("X", **{"annotator-id": None}), label("T", **{"annotator-id": "mine"})]
    entry = one(put(tmp_path, run((0, labels))))
    assert [(j.annotator, j.answers["breakdown"]) for j in entry.judgments] == [
        ("run1", "O"),
        ("run1.2", "X"),
        ("mine", "T"),
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            run((0, [label()]), (2, [label("O", 0.5, 0.5, 0.5)])),
            "turn 2: probabilities sum to 1.5000, not to 1",
        ),
        (run((4, [label("O", 0.3, 0.3, 0.3)])), "turn 4: probabilities sum to 0.9000, not to 1"),
        (run((0, [label("O", 1.5, -0.5, 0)])), "turn 0: probabilities must be from 0 to 1"),
        (run((0, [label("O", 1, None, 0)])), "turn 0: give all three of prob-O, prob-T and prob-X, or none"),
        (run((0, [label()]), (0, [label()])), "turn 0: stands there twice"),
        (run((6, [label("maybe")])), "turn 6: unknown breakdown label 'maybe'"),
        (
            run((0, [label("O", "1", 0, 0)])),
            "Expected `float | null`, got `str` - at `$.turns[0].labels[0].prob-O`",
        ),
        (run((0, [{"prob-O": 1}])), "missing required field `breakdown`"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_turn(tmp_path: Path, content: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        one(put(tmp_path, content))
    assert str(caught.value).startswith("run1.labels.json")
    assert words in str(caught.value)


def test_rounded_probabilities_pass(tmp_path: Path) -> None:
    (judgment,) = one(put(tmp_path, run((0, [label("O", 0.333, 0.333, 0.333)])))).judgments
    assert judgment.distributions == {"breakdown": {"O": 0.333, "T": 0.333, "X": 0.333}}


def test_keys_that_we_do_not_know_become_metadata(tmp_path: Path) -> None:
    content = run((0, [label(logit=2)]), system="v2")
    content["turns"][0]["seconds"] = 3
    (judgment,) = one(put(tmp_path, content)).judgments
    assert judgment.metadata == {"system": "v2", "seconds": 3, "logit": 2}


def test_distributions_that_no_run_may_hold_are_set_aside_and_come_back(tmp_path: Path) -> None:
    shares = {"breakdown": {"O": 3.0, "T": 1.0, "X": 0.0}}
    before = Entry("d1", None, (Judgment("d1", "0", "m", "breakdown", "2", {"breakdown": "O"}, shares),))
    assert not list(DbdcRun().losses(before))
    DbdcRun().write([before], tmp_path / "out")
    assert one(tmp_path / "out") == before


def test_two_entries_of_one_dialogue_do_not_overwrite_each_other(tmp_path: Path) -> None:
    put(tmp_path, run((0, [label("O")])), "runs/a/d1.labels.json")
    put(tmp_path, run((0, [label("X")])), "runs/b/d1.labels.json")
    for output in ("out", "out.zip"):
        with pytest.raises(
            InputError, match=r"d1\.labels\.json: two documents of the same name would go there"
        ):
            convert(read(tmp_path / "runs"), tmp_path / output, "dbdc-run")
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_a_file_larger_than_any_dialogue_is_refused_unread(tmp_path: Path) -> None:
    labels = ",".join(['{"breakdown":"O","key":1}'] * (LARGEST // 20))
    path = tmp_path / "d.labels.json"
    path.write_text(f'{{"turns":[{{"turn-index":1,"labels":[{labels}]}}]}}')
    tracemalloc.start()
    with pytest.raises(InputError, match="is larger than 8 MiB"):
        list(read(path, "dbdc-run"))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4 * LARGEST


def test_more_labels_of_a_turn_than_anybody_gives_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.labels.json"
    path.write_text(json.dumps({"turns": [{"turn-index": 1, "labels": [{"breakdown": "O"}] * 10_001}]}))
    with pytest.raises(InputError, match="length <= 10000"):
        list(read(path))


def test_what_a_record_may_hold_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    fields = msgspec.structs.fields
    monkeypatch.setattr(msgspec.structs, "fields", lambda kind: asked.append(kind) or fields(kind))
    dbdc_records._names.cache_clear()
    path = tmp_path / "d.labels.json"
    labels = [{"breakdown": "O", "mine": 1}] * 50
    path.write_text(json.dumps({"turns": [{"turn-index": n, "labels": labels} for n in range(20)]}))
    [entry] = read(path)
    assert len(entry.judgments) == 1000
    assert len(asked) == 3
