"""Logs as people have them: other languages, prompts, odd endings, nothing to judge. No silence over any of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lapsus.formats import convert, read
from lapsus.model import Entry
from lapsus.samples import sample_path
from tests.command_process import lapsus, refused

JA = ["こんにちは", "今日は何をしましたか？", "映画を見ました", "それは楽しそうですね"]
EN = ["Hello there", "What did you do today?", "I saw a film", "That sounds like fun"]


def line(id: str, texts: list[str], prompt: str = "") -> str:
    turns = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]
    first = [{"role": "system", "content": prompt}] if prompt else []
    return json.dumps({"id": id, "messages": [*first, *turns]}, ensure_ascii=False)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(name: str, *lines: str) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text("\n".join(lines), encoding="utf-8")
    return name


@pytest.mark.parametrize(
    "chat",
    [
        line(
            "d", JA, prompt="You are a helpful assistant that answers in Japanese. Be short, polite and kind."
        ),
        line("d", ["https://example.com/a/very/long/address?with=many&words=in_it " + JA[0], *JA[1:]]),
        line("d", [*JA, "Traceback (most recent call last): " * 20, "大変ですね"]),
    ],
)
def test_prompts_addresses_and_quotations_do_not_tell_the_language(chat: str) -> None:
    _, remarks = lapsus("detect", put("log.jsonl", chat), "-o", "run.zip")
    assert "judged by breakdown-ja" in remarks
    assert "breakdown-en" not in remarks


def test_kanji_alone_are_japanese_in_a_japanese_log() -> None:
    log = put("log.jsonl", line("k", ["了解", "承知"]), line("j", JA), line("l", ["了解", "承知"]))
    out, remarks = lapsus("detect", log, "-o", "run.zip")
    assert "3 documents, 4 turns" in out
    assert "breakdown-zh" not in remarks
    said = refused("detect", put("zh.jsonl", line("e", EN), line("z", ["天气很好", "是的"])), "-o", "z.zip")
    assert "document 'z'" in said
    assert "breakdown-zh" in said


@pytest.mark.parametrize("texts", [["مرحبا", "كيف حالك؟"], ["สวัสดี", "สบายดีไหม"], ["Γεια σου", "Τι κάνεις;"]])
def test_a_script_that_no_model_reads_is_named(texts: list[str]) -> None:
    for lines in ([line("e", EN), line("odd", texts)], [line("odd", texts), line("e", EN)]):
        said = refused("check", put("log.jsonl", *lines))
        assert "document 'odd'" in said
        assert "no shipped model" in said


def test_a_chat_format_takes_no_judgments() -> None:
    log = put("log.jsonl", line("d", EN))
    for name in ("run.chat.jsonl", "run.chat.csv"):
        assert "cannot carry judgments" in refused("detect", log, "-o", name)
        assert not Path(name).exists()


@pytest.mark.parametrize(
    "turns",
    [
        [{"role": "user", "content": "hello"}],
        [{"role": "user", "content": "a"}, {"role": "system", "content": "b"}],
    ],
)
def test_nothing_to_judge_is_not_all_clear(turns: list[dict[str, str]]) -> None:
    log = put("log.jsonl", json.dumps({"messages": turns}))
    assert "turn of the system" in refused("check", log)
    assert "turn of the system" in refused("detect", log, "-o", "run.zip")
    assert not Path("run.zip").exists()


def test_a_run_is_no_log() -> None:
    lapsus("detect", put("log.jsonl", line("d", EN)), "-o", "run.zip")
    assert "without the dialogues" in refused("check", "run.zip")


def test_documents_without_a_system_turn_are_counted() -> None:
    log = put("log.jsonl", line("d", EN), line("u", ["hello"]))
    out, remarks = lapsus("detect", log, "-o", "run.jsonl")
    assert "1 documents, 2 turns" in out
    assert "left out: 1" in remarks
    assert [entry.id for entry in read("run.jsonl")] == ["d"]


def test_files_that_are_not_read_are_named() -> None:
    put("logs/a.jsonl", line("d", EN))
    put("logs/b.csv", "x,y", "1,2")
    _, remarks = lapsus("check", "logs")
    assert "not read, being no chat: logs/b.csv" in remarks


@pytest.mark.parametrize(
    ("codec", "shown"), [("cp932", "Shift_JIS"), ("euc_jp", "EUC-JP"), ("utf-16", "UTF-16")]
)
@pytest.mark.parametrize("name", ["log.jsonl", "log.csv"])
def test_other_encodings_are_read_and_named(codec: str, shown: str, name: str) -> None:
    table = "conversation,role,text\nd,user,こんにちは\nd,assistant,はい\n"
    Path(name).write_bytes((line("d", JA) if name.endswith("jsonl") else table).encode(codec))
    out, remarks = lapsus("look", name)
    assert "d (ja)" in out
    assert remarks.count(f"{name} is in {shown}") == 1


def test_the_encoding_of_a_table_of_judgments_is_named() -> None:
    entries = list(read(sample_path("dialogues-en")))
    of_one = [
        Entry(one.id, one.document, tuple(j for j in one.judgments if j.annotator == "avery"))
        for one in entries
    ]
    convert(entries, Path("gold.csv"), lossy=True)
    convert(of_one, Path("one.csv"), lossy=True)
    Path("run.csv").write_bytes(Path("one.csv").read_text(encoding="utf-8").encode("utf-16"))
    _, remarks = lapsus("score", "gold.csv", "run.csv", "--scheme", "breakdown")
    assert remarks.count("run.csv is in UTF-16") == 1


def test_an_empty_file_is_said_to_be_empty() -> None:
    for name in ("log.jsonl", "log.csv"):
        assert "is empty" in refused("check", put(name, ""))


def test_the_report_replaces_neither_the_log_nor_what_is_no_file(folder: Path) -> None:
    log = put("log.jsonl", line("d", EN))
    before = Path(log).read_bytes()
    assert "is what is to be read" in refused("check", log, "--html", log, "--overwrite")
    os.mkfifo("pipe.html")
    assert "is no plain file" in refused("check", log, "--html", "pipe.html", "--overwrite")
    assert "no such folder" in refused("check", log, "--html", "nowhere/x.html")
    put("real.html", "old")
    Path("link.html").symlink_to("real.html")
    lapsus("check", log, "--html", "link.html", "--overwrite")
    assert Path("link.html").is_symlink()
    assert "<html" in Path("real.html").read_text(encoding="utf-8")
    assert Path(log).read_bytes() == before
