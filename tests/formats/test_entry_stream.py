"""Reading counts what goes by, and never merges two documents that have the same id."""

from __future__ import annotations

import json
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lapsus.errors import InputError, UsageError
from lapsus.formats import read


def put(folder: Path, name: str, text: str, dialogue: str | None = None, annotators: int = 0) -> None:
    said = [{"breakdown": "O", "annotator-id": f"a{n}"} for n in range(annotators)]
    turn = {"turn-index": 0, "speaker": "S", "utterance": text, "annotations": said}
    path = folder / f"{name}.log.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"turns": [turn]} | ({"dialogue-id": dialogue} if dialogue else {})))


def test_ids_that_come_twice_are_told_all_at_once_with_every_place(tmp_path: Path) -> None:
    for n in range(7):
        put(tmp_path, f"one/d{n}", "hello")
        put(tmp_path, f"two/d{n}", "hello" if n else "other words")
    put(tmp_path, "three/x", "hello", dialogue="d3")
    put(tmp_path, "three/alone", "hello")
    with pytest.raises(InputError) as caught:
        list(read(tmp_path))
    message = str(caught.value)
    top = tmp_path.name
    assert "7 ids come twice (1 with different text; 6 with the same text)" in message
    assert f"d0 ({top}/one/d0.log.json; {top}/two/d0.log.json)" in message
    assert f"d3 ({top}/one/d3.log.json; {top}/three/x.log.json; {top}/two/d3.log.json)" in message
    assert "and 2 more" in message
    assert "alone" not in message
    assert "--only" in (caught.value.hint or "")
    assert "`only=`" in message


def test_a_choice_among_doubled_ids_can_be_read(tmp_path: Path) -> None:
    put(tmp_path, "one/d", "hello")
    put(tmp_path, "two/d", "hello")
    assert [entry.id for entry in read(tmp_path, only="*/one/*")] == ["d"]


def test_ids_that_come_twice_in_one_file_are_told(tmp_path: Path) -> None:
    document = '{"document":{"id":"%s","segments":[]}}\n'
    path = tmp_path / "a.jsonl"
    path.write_text('{"lapsus":1}\n' + document % "x" + document % "y" + document % "x")
    with pytest.raises(
        InputError, match=r"1 ids come twice \(1 with the same text\).*\n  x \(a.jsonl, 2 times\)"
    ):
        list(read(path))


def test_counts_are_complete_after_each_reading(tmp_path: Path) -> None:
    put(tmp_path, "a", "hello", annotators=3)
    put(tmp_path, "b", "こんにちは")
    reading = read(tmp_path)
    for _ in range(2):
        list(reading)
        assert (reading.documents, reading.units, reading.judgments) == (2, 1, 3)
        assert reading.languages == {"en": 1, "ja": 1}
    assert reading.recognised
    assert not read(tmp_path, "dbdc").recognised


def test_the_language_may_be_told(tmp_path: Path) -> None:
    put(tmp_path, "a", "bonjour")
    reading = read(tmp_path, language="fr")
    list(reading)
    assert reading.languages == {"fr": 1}


def test_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.log.json").write_bytes(
        b'{"turns": [{"turn-index": 0, "speaker": "S", "utterance": "\xe9t\xe9"}]}'
    )
    with pytest.raises(InputError, match=r"a\.log\.json: not"):
        list(read(tmp_path))


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is in no known format"):
        read(tmp_path)
    with pytest.raises(InputError, match="nothing of format 'dbdc' is in it"):
        list(read(tmp_path, "dbdc"))


def test_two_formats_in_one_folder_are_not_guessed_between(tmp_path: Path) -> None:
    put(tmp_path, "a", "hello")
    (tmp_path / "b.jsonl").write_text('{"lapsus":1}\n')
    with pytest.raises(InputError, match=r"could be of several formats.*jsonl, dbdc"):
        read(tmp_path)
    assert [entry.id for entry in read(tmp_path, "dbdc")] == ["a"]


def test_a_file_that_is_named_beside_others_is_read_or_refused(tmp_path: Path) -> None:
    chats, table = tmp_path / "chats.jsonl", tmp_path / "judgments.csv"
    chats.write_text('{"messages": [{"role": "user", "content": "Hi"}]}\n')
    table.write_text("document,segment,scheme,annotator,question,answer\nchats-1,0,x,anna,fault,a\n")
    with pytest.raises(InputError, match=r"judgments\.csv: is in no format that can be read beside"):
        list(read([chats, table]))
    assert len(list(read(tmp_path))) == 1


def test_a_mistyped_format_is_guessed_at(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'webnlg'"):
        read(tmp_path, "WebNGL")


def test_memory_does_not_grow_with_what_is_read(tmp_path: Path) -> None:
    def peak(files: int) -> int:
        folder = tmp_path / str(files)
        for n in range(files):
            put(folder, f"{n % 10}/d{n}", "hello " * 400, annotators=20)
        reading = read(folder)
        tracemalloc.start()
        try:
            for _ in reading:
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)
    # 300 more files of 4 kilobytes each: what stays of one is its name.
    assert peak(330) - peak(30) < 300 * 500


def test_a_reading_may_be_given_up_in_another_thread(tmp_path: Path) -> None:
    """What it keeps on disk is given back there, too: nobody knows where Python clears up."""
    records = [{"id": id, "messages": [{"role": "assistant", "content": "Hello."}]} for id in "ab"]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, records)))
    entries = iter(read(tmp_path / "log.jsonl"))
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(next, entries).result().id == "a"
    entries.close()  # type: ignore[attr-defined]
