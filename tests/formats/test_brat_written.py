"""Brat projects that Lapsus writes, and what becomes of them in brat."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lapsus.errors import LossError
from lapsus.formats import Loss, convert, read
from lapsus.formats.brat import Brat
from lapsus.formats.jsonl import Jsonl
from lapsus.model import Document, Entry, Judgment, Segment, Span
from tests.formats.test_brat import VERSION, one, only, problem

LINED = Segment("s", "text", "one\ntwo three")
DOCUMENT = Document("doc/1", (Segment.triple("t", "A_B", "p", "C"), LINED), "en", {"split": "dev"})
SPANS = (
    Span("s", 2, 7, "addition", "x"),
    Span("t", 0, 3, "omission", "x"),
    Span("s", 8, 13, "repetition"),
    Span("s", 3, 4, "addition", "alone"),
)


def judgment(annotator: str = "Ann", **more: Any) -> Judgment:
    answers = more.pop("answers", {"errors": SPANS, "remark": "really\n two?"})
    return Judgment(
        "doc/1", None, annotator, "semantic-errors", more.pop("version", VERSION), answers, **more
    )


def written(tmp_path: Path, *judgments: Judgment) -> Path:
    path = tmp_path / "out"
    Brat().write([Entry("doc/1", DOCUMENT, judgments)], path)
    return path


def test_the_files(tmp_path: Path) -> None:
    folder = written(tmp_path, judgment()) / "Ann"
    assert sorted(path.name for path in folder.iterdir()) == [
        "annotation.conf",
        "doc%2F1.ann",
        "doc%2F1.lapsus.json",
        "doc%2F1.txt",
    ]
    assert (folder / "doc%2F1.txt").read_text() == "Triple: A_B | p | C\nVerbalisation: one\ntwo three\n"
    assert (folder / "doc%2F1.ann").read_text() == (
        "T1\taddition 37 38;39 42\te two\n"
        "T2\tomission 8 11\tA_B\n"
        "T3\trepetition 43 48\tthree\n"
        "R1\tTied Arg1:T1 Arg2:T2\n"
        "#1\tAnnotatorNotes T1\treally two?\n"
    )
    assert (folder / "annotation.conf").read_text() == (
        "[entities]\nomission\naddition\nrepetition\n\n"
        "[relations]\nTied\tArg1:<ENTITY>, Arg2:<ENTITY>, <REL-TYPE>:symmetric\n"
        "<OVERLAP>\tArg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>\n\n"
        "[events]\n\n[attributes]\n"
    )


def test_what_was_written_comes_back_from_folder_and_zip(tmp_path: Path) -> None:
    entry = Entry("doc/1", DOCUMENT, (judgment(revision=2, seconds=1.5), judgment(), judgment("b/c")))
    for name in ("out", "out.zip"):
        Brat().write([entry], tmp_path / name)
        assert one(tmp_path / name) == entry


def test_two_annotators_and_the_one_conf_each(tmp_path: Path) -> None:
    path = tmp_path / "out"
    documents = [Document(name, DOCUMENT.segments) for name in ("1", "2")]
    entries = [
        Entry(d.id, d, (msgspec.structs.replace(judgment(), document=d.id, version="0.1"),))
        for d in documents
    ]
    Brat().write(entries, path)
    assert sorted(p.name for p in (path / "Ann").iterdir() if p.suffix == ".conf") == ["annotation.conf"]


def change(path: Path, old: str, new: str) -> None:
    content = path.read_bytes().decode()
    assert old in content
    path.write_bytes(content.replace(old, new).encode())


def test_a_change_in_brat_is_a_new_revision(tmp_path: Path) -> None:
    given = judgment(revision=3, seconds=9.0, metadata={"batch": 1})
    path = written(tmp_path, given)
    change(path / "Ann/doc%2F1.ann", "T3\trepetition 43 48\tthree\n", "")
    old, new = one(path).judgments
    assert old == given
    assert (new.revision, new.seconds, new.metadata, new.version) == (4, None, {}, given.version)
    assert new.answers == {
        "errors": (Span("t", 0, 3, "omission", "1"), Span("s", 2, 7, "addition", "1")),
        "remark": "really\n two?",
    }


def test_a_changed_note_is_a_new_revision(tmp_path: Path) -> None:
    path = written(tmp_path, judgment())
    change(path / "Ann/doc%2F1.ann", "really two?", "surely")
    assert one(path).judgments[1].answers == {"errors": SPANS, "remark": "surely"}
    change(path / "Ann/doc%2F1.ann", "#1\tAnnotatorNotes T1\tsurely\n", "")
    assert one(path).judgments[1].answers == {"errors": SPANS}


def test_other_numbers_and_another_order_are_no_change(tmp_path: Path) -> None:
    path = written(tmp_path, judgment()) / "Ann/doc%2F1.ann"
    lines = path.read_text().replace("T3", "T7").splitlines(keepends=True)
    path.write_text("".join(reversed(lines)))
    assert one(path.parent.parent).judgments == (judgment(),)


def test_without_side_files_the_folder_says_who(tmp_path: Path) -> None:
    path = written(tmp_path, judgment())
    (path / "Ann/doc%2F1.lapsus.json").unlink()
    (path / "Ann").rename(path / "Cleo")
    entry = one(path)
    assert entry.document is not None
    assert [segment.text for segment in entry.document.segments] == ["A_B | p | C", "one\ntwo three"]
    assert entry.judgments[0].annotator == "Cleo"
    assert entry.judgments[0].answers["remark"] == "really two?"


def test_documents_that_nobody_judged(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert one(path) == Entry("doc/1", DOCUMENT)
    shutil.copytree(path / "unannotated", path / "dora")
    entry = one(path)
    assert [(j.annotator, dict(j.answers)) for j in entry.judgments] == [("dora", {"errors": ()})]
    (path / "unannotated/doc%2F1.ann").write_text("T1\tomission 8 11\tA_B\n")
    assert "unannotated/doc%2F1.ann: has marks, but stands in 'unannotated'" in problem(path)


def test_somebody_who_is_called_unannotated(tmp_path: Path) -> None:
    given = judgment("unannotated")
    assert only(written(tmp_path, given)) == given


def test_one_annotator_in_two_folders(tmp_path: Path) -> None:
    path = written(tmp_path, judgment())
    shutil.copytree(path / "Ann", path / "Ben")
    assert "out/Ben/doc%2F1.txt: 'Ann' has marked the same document in out/Ann/doc%2F1.txt" in problem(path)


def test_a_text_that_was_changed(tmp_path: Path) -> None:
    path = written(tmp_path, judgment())
    change(path / "Ann/doc%2F1.txt", "two", "zwo")
    assert "out/Ann/doc%2F1.txt: was changed after Lapsus wrote it" in problem(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"lapsus": 1', '"lapsus": 2', "newer Lapsus"),
        ('"lapsus": 1', '"lapsus": 1, "x": 1', "not as Lapsus writes it"),
        ('"scheme": "semantic-errors"', '"scheme": "other"', "'other', which is not installed here"),
        ('"document": "doc/1"', '"document": "doc/2"', "stands under 'doc/1'"),
        ('"A_B"', '"A_C"', "a triple's text is its parts"),
    ],
)
def test_a_side_file_that_was_changed(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = written(tmp_path, judgment())
    change(path / "Ann/doc%2F1.lapsus.json", old, new)
    said = problem(path)
    assert message in said
    assert "Ann/doc%2F1" in said


def test_side_files_of_different_documents(tmp_path: Path) -> None:
    path = written(tmp_path, judgment("a"), judgment("b"))
    change(path / "b/doc%2F1.lapsus.json", '"dev"', '"test"')
    assert "describes another document than that of out/a/doc%2F1.txt" in problem(path)


# What it cannot carry.


def severe(entry: Entry) -> set[str]:
    return {loss.what for loss in Brat().losses(entry) if loss.severe}


def test_losses() -> None:
    segment = Segment("1", "system", "hi")
    chat = Document("d", (segment,))
    label = Judgment("d", "1", "a", "breakdown", "1.0", {"breakdown": "X"})
    other = Judgment("d", None, "a", "unheard-of", "1.0", {"errors": ()})
    strange = Judgment(
        "d", None, "a", "semantic-errors", "1.0", {"errors": (Span("1", 0, 1, "a b"),), "x": "y"}
    )
    assert severe(Entry("d", None, (label,))) == {"judgments without their document"}
    assert severe(Entry("d", chat, (label,))) == {
        "judgments under the scheme 'breakdown' (only marks in texts)"
    }
    assert severe(Entry("d", chat, (other,))) == {
        "judgments under the scheme 'unheard-of' (only marks in texts)"
    }
    assert severe(Entry("d", chat, (strange,))) == {"labels that brat cannot spell", "answers to 'x'"}
    assert severe(Entry("d", chat)) == set()
    outside = Judgment("d", None, "a", "semantic-errors", "1.0", {"errors": (Span("1", 0, 9, "addition"),)})
    assert list(Brat().losses(Entry("d", chat, (outside,)))) == [
        Loss("a view in brat of spans outside their text")
    ]


def test_converting_what_is_lost_needs_leave(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    chat = Document("d", (Segment("1", "system", "hi"),))
    marks = Judgment("d", None, "b", "semantic-errors", VERSION, {"errors": (Span("1", 0, 2, "addition"),)})
    label = Judgment("d", "1", "a", "breakdown", "1.0", {"breakdown": "X"})
    Jsonl().write([Entry("d", chat, (label, marks))], source)
    with pytest.raises(LossError, match="'breakdown'"):
        convert(read(source), tmp_path / "out", "brat")
    convert(read(source), tmp_path / "out", "brat", lossy=True)
    assert one(tmp_path / "out") == Entry("d", chat, (marks,))


def test_a_judgment_without_answers_is_kept(tmp_path: Path) -> None:
    given = judgment(answers={})
    assert only(written(tmp_path, given)) == given
