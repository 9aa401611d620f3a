"""The challenge's dialogues, with all the oddities that real corpora have."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from lapsus.errors import InputError
from lapsus.formats import convert, read
from lapsus.model import Document, Entry, Judgment


def turn(index: int, speaker: str = "S", annotations: list[dict[str, Any]] | None = None, **more: Any) -> Any:
    return {"turn-index": index, "speaker": speaker, "utterance": f"turn {index}", "time": ""} | {
        "annotations": annotations or [],
        **more,
    }


def label(breakdown: str, who: str | None = "a1", **more: Any) -> dict[str, Any]:
    return {"breakdown": breakdown, "comment": "", "ungrammatical-sentence": "", "annotator-id": who} | more


def dialogue(*turns: Any, name: str | None = "d1", **more: Any) -> dict[str, Any]:
    return {"dialogue-id": name, "speaker-id": "", "group-id": "", "turns": list(turns)} | more


def put(folder: Path, content: Any, name: str = "d1.log.json", start: bytes = b"") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(start + json.dumps(content, ensure_ascii=False).encode())
    return path


def one(path: Path) -> Entry:
    (entry,) = read(path)
    return entry


def document(path: Path) -> Document:
    found = one(path).document
    assert found
    return found


def answers(path: Path) -> list[tuple[str | None, str, Any]]:
    return [(j.segment, j.annotator, j.answers["breakdown"]) for j in one(path).judgments]


def test_a_byte_order_mark_is_no_hindrance(tmp_path: Path) -> None:
    with_mark = put(tmp_path, dialogue(turn(0, annotations=[label("O")])), "a.log.json", b"\xef\xbb\xbf")
    without = put(tmp_path, dialogue(turn(0, annotations=[label("O")])), "b.log.json")
    assert one(with_mark) == one(without)


def test_turns_may_have_no_annotations(tmp_path: Path) -> None:
    """Some corpora begin with a turn of the system that nobody judged, and some leave the key out."""
    bare = turn(3, "U")
    del bare["annotations"]
    path = put(tmp_path, dialogue(turn(0), turn(1, "U"), turn(2, annotations=[label("T")]), bare))
    assert answers(path) == [("2", "a1", "T")]
    assert [(s.id, s.role) for s in document(path).segments] == [
        ("0", "system"),
        ("1", "user"),
        ("2", "system"),
        ("3", "user"),
    ]


@pytest.mark.parametrize("blank", ["", None])
def test_annotators_without_a_name_are_numbered_by_turn(tmp_path: Path, blank: str | None) -> None:
    judged = [
        turn(0, annotations=[label("O", blank), label("X", blank)]),
        turn(2, annotations=[label("T", blank)]),
    ]
    path = put(tmp_path, dialogue(*judged))
    assert answers(path) == [("0", "?01", "O"), ("0", "?02", "X"), ("2", "?01", "T")]
    assert all(judgment.is_anonymous for judgment in one(path).judgments)


@pytest.mark.parametrize(
    ("spelt", "meant"),
    [*zip("OTX", "OTX", strict=True), *zip("○△×", "OTX", strict=True), ("NB", "O"), ("PB", "T"), ("B", "X")],
)
def test_every_spelling_of_a_label_is_understood(tmp_path: Path, spelt: str, meant: str) -> None:
    assert answers(put(tmp_path, dialogue(turn(0, annotations=[label(spelt)])))) == [("0", "a1", meant)]


def test_comments_and_flags_are_kept(tmp_path: Path) -> None:
    said = label("X", comment="odd", **{"ungrammatical-sentence": "O"})
    (judgment,) = one(put(tmp_path, dialogue(turn(0, annotations=[said])))).judgments
    assert judgment.answers == {"breakdown": "X", "comment": "odd"}
    assert judgment.metadata == {"ungrammatical-sentence": "O"}


def test_keys_that_we_do_not_know_become_metadata(tmp_path: Path) -> None:
    said = label("O") | {"seconds-spent": 4}
    path = put(tmp_path, dialogue(turn(0, annotations=[said], mood=["calm"]), season=2, **{"group-id": "g"}))
    entry = one(path)
    assert entry.document
    assert entry.document.metadata == {"season": 2, "group-id": "g"}
    assert entry.document.segments[0].metadata == {"mood": ("calm",)}
    assert entry.judgments[0].metadata == {"seconds-spent": 4}
    assert entry.judgments[0].answers == {"breakdown": "O"}


def test_without_an_id_the_file_names_the_dialogue(tmp_path: Path) -> None:
    nameless = dialogue(turn(0))
    del nameless["dialogue-id"]
    assert document(put(tmp_path, nameless, "chat7.log.json")).id == "chat7"
    assert document(put(tmp_path, dialogue(turn(0), name=None), "chat8.log.json")).id == "chat8"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            dialogue(turn(0), turn(4, annotations=[label("O"), label("0")])),
            "turn 4, annotation 2: unknown breakdown",
        ),
        (dialogue(turn(0), turn(1, "A")), "turn 1: unknown speaker 'A'"),
        (dialogue(turn(0), turn(0, "U")), "two segments have the id '0'"),
        (dialogue({"turn-index": 0, "speaker": "S"}), "`utterance` - at `$.turns[0]`"),
        ({"turns": {"turn-index": 0}}, "not as the challenge has it"),
        ({"turns": [3], "x": 1}, "not as the challenge has it"),
        ({"turns": [], "lapsus": 3, "x": 1}, "not as the challenge has it"),
        (3, "not as the challenge has it"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_turn(tmp_path: Path, content: Any, words: str) -> None:
    put(tmp_path, content, "corpus/bad.log.json")
    with pytest.raises(InputError) as caught:
        list(read(tmp_path / "corpus"))
    assert str(caught.value).startswith("corpus/bad.log.json")
    assert words in str(caught.value)


def test_json_that_is_cut_off_names_its_file(tmp_path: Path) -> None:
    path = put(tmp_path, dialogue(turn(0)))
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(InputError, match=r"d1\.log\.json: not sound JSON"):
        one(path)


@pytest.mark.parametrize(
    ("place", "speaker", "system", "split"),
    [
        ("corpus/dev/CIC_115", "", "CIC", "dev"),
        ("corpus/dev/CIC_115", "DBD-01", "CIC", "dev"),
        ("corpus/eval/TK_TK", "", "TK_TK", "eval"),
        ("corpus/ref/DCM", "DBD-01", "DCM", "ref"),
        ("corpus/dev", "Bot 001", "Bot 001", "dev"),
        ("corpus/dev", "", None, "dev"),
        ("corpus/Dev", "Bot 001", "Bot 001", "Dev"),
        ("IRIS_100", "x", "IRIS", None),
        ("dev", "Bot 001", "Bot 001", "dev"),
    ],
)
def test_folders_tell_system_and_split(
    tmp_path: Path, place: str, speaker: str, system: str | None, split: str | None
) -> None:
    content = dialogue(turn(0), **{"speaker-id": speaker})
    top = place.partition("/")[0]
    put(tmp_path, content, f"{place}/d1.log.json")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.write(tmp_path / place / "d1.log.json", f"{place}/d1.log.json")
    found = document(tmp_path / top)
    assert (found.system, found.metadata.get("split")) == (system, split)
    assert found.metadata.get("speaker-id", "") == speaker
    assert document(tmp_path / "packed.zip") == found


def test_a_file_alone_has_no_folder_to_tell_its_system(tmp_path: Path) -> None:
    path = put(tmp_path, dialogue(turn(0), **{"speaker-id": "Bot 1"}), "CIC/d1.log.json")
    assert document(path).system == "Bot 1"


def test_the_current_folder_has_a_name_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, dialogue(turn(0)), "CIC_9/d1.log.json")
    monkeypatch.chdir(tmp_path / "CIC_9")
    assert document(Path()).system == "CIC"


def test_what_lapsus_wrote_is_not_told_from_folders_again(tmp_path: Path) -> None:
    put(
        tmp_path,
        dialogue(turn(0, annotations=[label("O")]), **{"speaker-id": "s"}),
        "corpus/dev/CIC_5/d1.log.json",
    )
    before = one(tmp_path / "corpus")
    convert(read(tmp_path / "corpus"), tmp_path / "out", "dbdc")
    (tmp_path / "out" / "dev").rename(tmp_path / "test")
    assert one(tmp_path / "test") == before
    assert one(tmp_path / "test" / "CIC" / "d1.log.json") == before


def test_other_programs_can_read_what_lapsus_writes(tmp_path: Path) -> None:
    """The keys of the challenge hold what they always held; only `lapsus` is new."""
    said = [label("O", ""), label("T", "a2", comment="hm")]
    put(
        tmp_path,
        dialogue(turn(0, annotations=said, time="noon"), turn(1, "U")),
        "corpus/dev/CIC_5/d1.log.json",
    )
    convert(read(tmp_path / "corpus"), tmp_path / "out", "dbdc")
    written = json.loads((tmp_path / "out" / "dev" / "CIC" / "d1.log.json").read_text())
    assert written["dialogue-id"] == "d1"
    first, second = written["turns"]
    assert (first["turn-index"], first["speaker"], first["utterance"], first["time"]) == (
        0,
        "S",
        "turn 0",
        "noon",
    )
    assert first["annotations"] == said
    assert second["annotations"] == []
    assert set(written) == {"dialogue-id", "speaker-id", "group-id", "turns", "lapsus"}


def test_ids_that_are_no_small_numbers_come_back(tmp_path: Path) -> None:
    ids = ["007", "-1", "9" * 40, "9" * 5000, "٣", "x/y"]
    turns = [turn(n, lapsus={"id": name}) for n, name in enumerate(ids)]
    before = one(put(tmp_path, dialogue(*turns)))
    assert before.document
    assert [segment.id for segment in before.document.segments] == ids
    convert(read(tmp_path / "d1.log.json"), tmp_path / "out", "dbdc")
    assert one(tmp_path / "out") == before


def test_labels_outside_the_scheme_are_owned_up_to(tmp_path: Path) -> None:
    entry = one(put(tmp_path, dialogue(turn(0, annotations=[label("O")]))))
    dbdc = read(tmp_path / "d1.log.json").format
    for value in ("Z", "NB"):
        strange = Judgment("d1", "0", "a", "breakdown", "1", {"breakdown": value})
        losses = list(dbdc.losses(Entry("d1", entry.document, (strange,))))
        assert [(loss.what, loss.severe) for loss in losses] == [("labels that are not of the scheme", True)]
    assert not list(dbdc.losses(entry))
