"""Brat projects that Lapsus did not write."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from lapsus.errors import InputError
from lapsus.formats import EntryStream, read
from lapsus.formats.brat import Brat
from lapsus.model import Document, Entry, Judgment, Segment, Span
from lapsus.schemes import load_scheme

PAIR = "5) Triple(s): Osk_Bridge | crosses | River_Lum\nVerbalisation: osk bridge crosses the old river .\n"
VERSION = load_scheme("semantic-errors").version


def project(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = folder / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    return folder / "project"


def entries(path: Path) -> list[Entry]:
    return list(EntryStream(read(path, "brat").source, Brat(), recognised=False))


def one(path: Path) -> Entry:
    (entry,) = entries(path)
    return entry


def only(path: Path) -> Judgment:
    (judgment,) = one(path).judgments
    return judgment


def mark(text: str, quote: str, label: str, number: int = 1) -> str:
    start = text.index(quote)
    return f"T{number}\t{label} {start} {start + len(quote)}\t{quote}\n"


def problem(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        entries(path)
    return str(caught.value)


def test_a_pair_as_the_guideline_has_it(tmp_path: Path) -> None:
    marks = mark(PAIR, "River_Lum", "Omission") + mark(PAIR, "old river", "ADDITION", 2)
    entry = one(project(tmp_path, {"anna/5.txt": PAIR, "anna/5.ann": marks}))
    assert entry.document == Document(
        "5",
        (
            Segment.triple("t1", "Osk_Bridge", "crosses", "River_Lum"),
            Segment("text", "text", "osk bridge crosses the old river ."),
        ),
        "en",
    )
    spans = (Span("t1", 23, 32, "omission"), Span("text", 23, 32, "addition"))
    assert entry.judgments == (Judgment("5", None, "anna", "semantic-errors", VERSION, {"errors": spans}),)


def test_several_triples_in_quotes(tmp_path: Path) -> None:
    text = (
        "MR: 'Ada_O'Hara | born | 1900', 'Ada_O'Hara | job | Potter'\r\nVerbalisation: ada is a potter .\r\n"
    )
    entry = one(project(tmp_path, {"a/x.txt": text, "a/x.ann": mark(text, "1900", "omission")}))
    assert entry.document is not None
    assert [s.text for s in entry.document.segments] == [
        "Ada_O'Hara | born | 1900",
        "Ada_O'Hara | job | Potter",
        "ada is a potter .",
    ]
    assert entry.judgments[0].answers["errors"] == (Span("t1", 20, 24, "omission"),)


@pytest.mark.parametrize("start", ["Triple: ", "triples:\n", "12. MR: '", "Triple(s) :   "])
def test_titles_of_triples(tmp_path: Path, start: str) -> None:
    quote = "'" if start.endswith("'") else ""
    text = f"{start}A | p | B{quote}\nverbalization:\n  a p b\nand more\n"
    document = one(project(tmp_path, {"a/x.txt": text, "a/x.ann": ""})).document
    assert document is not None
    assert [s.text for s in document.segments] == ["A | p | B", "a p b\nand more"]


def test_any_other_text_is_one_segment(tmp_path: Path) -> None:
    text = "\ufeffNotes first.\nTriple: A | p | B\n"
    entry = one(project(tmp_path, {"a/x.txt": text, "a/x.ann": mark(text, "first", "addition")}))
    assert entry.document is not None
    assert entry.document.segments == (Segment("text", "text", text[1:]),)
    assert entry.judgments[0].answers["errors"] == (Span("text", 6, 11, "addition"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Triple: A | p\nText: a\n", "x.txt, line 1: 'A | p' is no triple"),
        ("Triple: A|p|B\nText: a\n", "x.txt, line 1: 'A|p|B' is no triple"),
        ("Triples: 'A | p | B', 'C'\nText: a\n", "x.txt, line 1: 'C' is no triple"),
        ("Triple:\nText: a\n", "is no triple"),
        ("Triple: A | p | B\n", "has triples but no line 'Verbalisation: …'"),
        ("Triple: A | p | B\nText: a\n2) Triple: C | p | D\nText: c\n", "x.txt, line 3: holds several pairs"),
    ],
)
def test_triples_that_cannot_be_read(tmp_path: Path, text: str, message: str) -> None:
    assert message in problem(project(tmp_path, {"a/x.txt": text, "a/x.ann": ""}))


def test_a_document_of_two_annotators_comes_once(tmp_path: Path) -> None:
    files = {
        "anna/5.txt": PAIR,
        "anna/5.ann": mark(PAIR, "old", "addition"),
        "ben/5.txt": PAIR,
        "ben/5.ann": "",
        "ben/6.txt": PAIR,
        "ben/6.ann": "",
    }
    first, second = entries(project(tmp_path, files))
    assert (first.id, [j.annotator for j in first.judgments]) == ("5", ["anna", "ben"])
    assert first.judgments[1].answers == {"errors": ()}, "no marks at all say that there is no error"
    assert (second.id, [j.annotator for j in second.judgments]) == ("6", ["ben"])


def test_a_zip_is_as_good(tmp_path: Path) -> None:
    path = tmp_path / "anna.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("5.txt", PAIR)
        archive.writestr("5.ann", mark(PAIR, "old", "addition"))
        archive.writestr("ben/5.txt", PAIR)
        archive.writestr("ben/5.ann", "")
    reading = read(path)
    assert reading.format.name == "brat"
    (entry,) = reading
    assert [j.annotator for j in entry.judgments] == ["anna", "ben"]


def test_different_texts_under_one_name(tmp_path: Path) -> None:
    files = {"anna/5.txt": PAIR, "anna/5.ann": "", "ben/5.txt": PAIR + "\n", "ben/5.ann": ""}
    said = problem(project(tmp_path, files))
    assert "project/ben/5.txt: has another text than project/anna/5.txt" in said


def test_unknown_label(tmp_path: Path) -> None:
    marks = "\n" + mark(PAIR, "old", "Invention")
    said = problem(project(tmp_path, {"a/5.txt": PAIR, "a/5.ann": marks}))
    assert (
        "project/a/5.ann, line 2: unknown label 'Invention' (known: omission, addition, repetition)" in said
    )


def test_offsets_count_code_points_and_line_ends(tmp_path: Path) -> None:
    text = "Triple: A | p | B\r\nVerbalisation: 👩‍👩‍👧 and a cat\r\n"
    judgment = only(project(tmp_path, {"a/x.txt": text, "a/x.ann": mark(text, "cat", "addition")}))
    assert judgment.answers["errors"] == (Span("text", 12, 15, "addition"),)


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ("T1\taddition 51 54\tord\n", "'ord' is said to be marked, but"),
        ("T1\taddition 51 9999\told\n", "does not lie in the text"),
        ("T1\taddition 54 51\told\n", "does not lie in the text"),
        ("T1\taddition 51\told\n", "does not say what is marked and where"),
        ("T1\taddition\n", "does not say what is marked and where"),
        (f"T1\taddition {'9' * 5000} 3\tx\n", "does not say what is marked and where"),
        ("Triple\n", "line 1: '' does not say"),
        ("E1\taddition:T1\n", "events are not supported (take the line out"),
        ("A1\tNegated T1\n", "attributes are not supported"),
        ("M1\tNegated T1\n", "attributes are not supported"),
        ("N1\tReference T1 Wikipedia:1\tx\n", "normalisations are not supported"),
        ("*\tEquiv T1 T2\n", "groups of equals ('Equiv') are not supported"),
        ("?\tx\n", "is no line of brat's"),
        ("#1\tAnnotationError T1\twrong\n", "notes of the kind 'AnnotationError' are not supported"),
        ("#1\tAnnotatorNotes T7\twhy\n", "line 1: a note on 'T7', which is not in this file"),
        ("R1\tTied Arg1:T1 Arg2:T2\n", "R1 ties 'T1', which is no mark"),
        ("R1\tTied T1 T2\n", "does not say which two marks belong together"),
        (mark(PAIR, "old", "addition") * 2, "line 2: T1 stands there twice"),
        (mark(PAIR, "Triple(s): Osk_Bridge", "omission"), "is not within one triple or one text"),
        (mark(PAIR, "River_Lum\nVer", "omission"), "is said to be marked"),
    ],
)
def test_what_cannot_be_kept_is_an_error(tmp_path: Path, marks: str, message: str) -> None:
    said = problem(project(tmp_path, {"a/5.txt": PAIR, "a/5.ann": marks}))
    assert message in said
    assert "project/a/5.ann" in said


def test_stretches_apart_are_tied(tmp_path: Path) -> None:
    at, then = PAIR.index("osk bridge"), PAIR.index("river")
    marks = f"T1\trepetition {at} {at + 3};{then} {then + 5}\tosk river\n"
    judgment = only(project(tmp_path, {"a/5.txt": PAIR, "a/5.ann": marks}))
    assert judgment.answers["errors"] == (
        Span("text", 0, 3, "repetition", "1"),
        Span("text", 27, 32, "repetition", "1"),
    )


def test_stretches_parted_by_a_line_break_are_one(tmp_path: Path) -> None:
    judgment = only(
        project(tmp_path, {"a/x.txt": "one\r\ntwo three", "a/x.ann": "T1\taddition 0 3;5 8\tone two\n"})
    )
    assert judgment.answers["errors"] == (Span("text", 0, 8, "addition"),)


def test_lines_between_marks_are_ties(tmp_path: Path) -> None:
    marks = (
        mark(PAIR, "old", "addition", 1)
        + mark(PAIR, "River_Lum", "omission", 2)
        + mark(PAIR, "river", "addition", 3)
        + mark(PAIR, "crosses the", "repetition", 4)
        + "R1\tReplaces Arg1:T1 Arg2:T2\nR2\tReplaces Arg1:T3 Arg2:T2\n"
    )
    judgment = only(project(tmp_path, {"a/5.txt": PAIR, "a/5.ann": marks}))
    spans: Any = judgment.answers["errors"]
    assert [(span.label, span.tie) for span in spans] == [
        ("omission", "1"),
        ("repetition", None),
        ("addition", "1"),
        ("addition", "1"),
    ]


def test_notes_are_the_remark(tmp_path: Path) -> None:
    marks = mark(PAIR, "old", "addition") + "#1\tAnnotatorNotes T1\tnot sure\r\n#2\tAnnotatorNotes T1\tor?\n"
    judgment = only(project(tmp_path, {"a/5.txt": PAIR, "a/5.ann": marks}))
    assert judgment.answers["remark"] == "not sure\nor?"


def test_a_text_without_marks_file_has_no_judgment(tmp_path: Path) -> None:
    entry = one(project(tmp_path, {"a/5.txt": PAIR}))
    assert entry.document is not None
    assert entry.judgments == ()


def test_marks_without_a_text(tmp_path: Path) -> None:
    said = problem(project(tmp_path, {"a/5.ann": "", "b/5.txt": PAIR, "b/5.ann": ""}))
    assert "project/a/5.ann: no 5.txt is beside it" in said


def test_a_text_that_is_no_utf8(tmp_path: Path) -> None:
    path = project(tmp_path, {"a/5.ann": ""})
    (path / "a/5.txt").write_bytes(b"caf\xe9")
    assert "project/a/5.txt: not UTF-8 text" in problem(path)


def test_the_examples_in_the_docs(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/formats/brat.md").read_text(encoding="utf-8")
    _, _, text, marks, foreign, *_ = (block.split("\n", 1)[1] for block in page.split("```")[1::2])
    files = {"a/x.txt": text, "a/x.ann": marks, "a/y.txt": foreign, "a/y.ann": ""}
    first, second = entries(project(tmp_path, files))
    assert first.judgments[0].answers["remark"] == "day and month are swapped"
    assert second.document is not None
    assert [segment.id for segment in second.document.segments] == ["t1", "t2", "text"]
