"""The repair corpus: a question is a dialogue, each of its lines one person's judgment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lapsus.errors import InputError
from lapsus.formats import read
from lapsus.model import Entry, latest
from lapsus.schemes import broken_rules, load_scheme

HISTORY = [
    {"role": "user", "text": "お茶は好きですか？\n"},
    {"role": "system", "text": "ええ、毎日飲みます。\n"},
    {"role": "user", "text": "どんなお茶を？\n"},
    {"role": "system", "text": "飲みません。"},
]


def row(question: int | str = 1, **changes: Any) -> dict[str, Any]:
    return {
        "question_id": question,
        "dialogue_history": HISTORY,
        "breakdown_type": "自己矛盾",
        "breakdown_reason": "前の発話と合わない",
        "severity": 7,
        "user_response": " 飲むと言いましたよね？",
        "expected_repair": "失礼しました。緑茶です。",
    } | changes


def entries(folder: Path, *rows: dict[str, Any]) -> list[Entry]:
    path = folder / "rows.jsonl"
    # Python writes NaN for a missing text, as the corpus does.
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return list(read(path))


def test_a_line_is_one_persons_judgment_of_the_last_turn(tmp_path: Path) -> None:
    (entry,) = entries(tmp_path, row())
    assert entry.document
    assert entry.id == "dbrc-1"
    assert entry.document.language == "ja"
    assert [(s.id, s.role, s.text) for s in entry.document.segments] == [
        ("0", "user", "お茶は好きですか？"),
        ("1", "system", "ええ、毎日飲みます。"),
        ("2", "user", "どんなお茶を？"),
        ("3", "system", "飲みません。"),
    ]
    (judgment,) = entry.judgments
    scheme = load_scheme("error-types")
    assert (judgment.segment, judgment.scheme, judgment.version) == ("3", scheme.id, scheme.version)
    assert judgment.answers == {"types": ("self-contradiction",), "remark": "前の発話と合わない"}
    assert judgment.is_anonymous
    assert judgment.metadata == {
        "severity": 7,
        "user_response": " 飲むと言いましたよね？",
        "expected_repair": "失礼しました。緑茶です。",
    }
    assert not broken_rules(scheme, judgment.answers, entry.document, judgment.segment)


def test_lines_of_a_question_are_judgments_of_one_dialogue(tmp_path: Path) -> None:
    first, second = entries(tmp_path, row(1), row(1, severity=2), row(2), row(2, severity=3), row(2))
    assert [len(first.judgments), len(second.judgments)] == [2, 3]
    assert [judgment.annotator for judgment in second.judgments] == ["?01", "?02", "?03"]
    # Nobody is taken for somebody else, even where two say the very same.
    assert len(latest([*first.judgments, *second.judgments])) == 5


def test_turns_that_are_not_there_are_left_out_and_the_last_that_is_there_is_judged(tmp_path: Path) -> None:
    gone = [turn | {"text": float("nan")} for turn in HISTORY]
    short, late, null = entries(
        tmp_path,
        row(1, dialogue_history=[*HISTORY[:2], *gone[2:]]),
        row(2, dialogue_history=[gone[0], *HISTORY[1:]]),
        row(3, dialogue_history=[HISTORY[0] | {"text": None}, *HISTORY[1:]]),
    )
    assert short.document
    assert [segment.id for segment in short.document.segments] == ["0", "1"]
    assert short.judgments[0].segment == "1"
    assert late.document
    assert [segment.id for segment in late.document.segments] == ["1", "2", "3"]
    assert null.document
    assert null.document.segments == late.document.segments


def test_every_spelling_of_a_type_is_understood(tmp_path: Path) -> None:
    labels = load_scheme("error-types").questions[0].labels
    names = [(name, label.id) for label in labels for name in (label.id, label.name["ja"], *label.aliases)]
    found = entries(tmp_path, *(row(n, breakdown_type=name) for n, (name, _) in enumerate(names)))
    assert [entry.judgments[0].answers["types"] for entry in found] == [(label,) for _, label in names]


def test_keys_of_later_versions_become_metadata_and_an_empty_reason_no_remark(tmp_path: Path) -> None:
    (entry,) = entries(tmp_path, row(breakdown_reason=None, worker={"age": 30}))
    assert entry.judgments[0].metadata["worker"] == {"age": 30}
    assert "remark" not in entry.judgments[0].answers


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row(), row(breakdown_type="不思議")], "rows.jsonl, line 2: unknown error type '不思議'"),
        ([row(breakdown_type="繰り返す")], "did you mean '繰り返し'?"),
        ([row(dialogue_history=[{"role": "bot", "text": "a"}])], "line 1, turn 0: unknown role 'bot'"),
        ([row(dialogue_history=HISTORY[:3])], "does not end in a turn of the system"),
        ([row(dialogue_history=[])], "does not end in a turn of the system"),
        (
            [row(), row(dialogue_history=HISTORY[2:])],
            "line 2: its dialogue is not that of the lines before it",
        ),
        ([row(), row(2), row(1)], "1 ids come twice"),
        ([row(question=None)], "line 1: not as the corpus has it"),  # type: ignore[arg-type]
        ([row(), row(severity=float("inf"))], "line 2: not as the corpus has it: Infinity is no JSON"),
        ([row(), row(user_response="\ud800")], "line 2: not as the corpus has it"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, rows: list[dict[str, Any]], words: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(read(path))
    assert words in str(caught.value)


@pytest.mark.parametrize("line", ["[" * 100_000, "[1]", "nothing", '{"question_id": 1' + "0" * 5000 + "}"])
def test_a_line_that_is_no_row_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps(row())}\n\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 3: not as the corpus has it"):
        list(read(path, "dbrc"))
