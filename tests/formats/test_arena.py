"""Two models' replies and who won, in the spellings of arenas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lapsus
from lapsus.errors import InputError

USER = {"role": "user", "content": "When do you open?"}
TEN, NINE = {"role": "assistant", "content": "At ten."}, {"role": "assistant", "content": "At nine."}


def battle(winner: str | None = "model_b", **more: Any) -> dict[str, Any]:
    record = {"question_id": 7, "model_a": "heron", "model_b": "lark", "winner": winner, "judge": "ann"}
    return {**record, "conversation_a": [USER, TEN], "conversation_b": [USER, NINE], **more}


def written(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def test_replies_systems_and_winners(tmp_path: Path) -> None:
    spelt = {"model_a": "A|AB", "model_b": "B|AB", "tie": "both|AB", "tie (bothbad)": "neither|AB"}
    path = written(tmp_path / "battles.jsonl", *(battle(one) for one in spelt), battle(None))
    entries = list(lapsus.read(path))
    assert [one.judgments[0].answers["better"] for one in entries[:4]] == list(spelt.values())
    assert entries[4].judgments == ()
    document = entries[0].document
    assert document is not None
    assert [(one.id, one.text) for one in document.segments] == [
        ("0", "When do you open?"),
        ("A", "At ten."),
        ("B", "At nine."),
    ]
    assert [one.metadata["system"] for one in document.segments[1:]] == ["heron", "lark"]
    assert len({one.id for one in entries}) == 5


def test_tables_with_prompts_and_flags(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    head = "id,model_a,model_b,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie"
    path.write_text(
        f'{head}\n1,heron,lark,"[""Hi?""]","[""Hello.""]","[""Hello.""]",0,1,0\n', encoding="utf-8"
    )
    (entry,) = lapsus.read(path)
    assert entry.judgments[0].answers == {"better": "B|AB"}
    assert entry.document is not None
    assert [one.text for one in entry.document.segments] == ["Hi?", "Hello.", "Hello."]


def test_what_is_no_battle_is_told_with_its_line(tmp_path: Path) -> None:
    for wrong in (battle("me"), {"model_a": "x"}, battle(conversation_a="hello")):
        with pytest.raises(InputError) as error:
            list(lapsus.read(written(tmp_path / "wrong.jsonl", battle(), wrong)))
        assert "line 2" in str(error.value)


def test_a_ranking_from_the_file_to_the_table(tmp_path: Path) -> None:
    won = ["model_a"] * 6 + ["model_b"] * 3 + ["tie"]
    path = written(tmp_path / "b.jsonl", *(battle(one, question_id=place) for place, one in enumerate(won)))
    table = lapsus.rank(path)
    best, _ = table.data["better"]["systems"]
    assert (best["system"], best["win_rate"], best["ties"]) == ("heron", 0.65, 0.1)
    assert table.data["better"]["shown_first"] == pytest.approx(6 / 9)
    with pytest.raises(InputError):
        lapsus.rank(written(tmp_path / "none.jsonl", battle(None)), scheme="preference")
