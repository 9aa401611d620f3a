"""WebNLG: every text a document, nothing of an entry dropped, strangers' XML kept at bay."""

from __future__ import annotations

import tracemalloc
import zipfile
from pathlib import Path

import pytest

from lapsus.errors import InputError, UsageError
from lapsus.formats import EntryStream, convert, read
from lapsus.model import Document

TRIPLES = "<modifiedtripleset><mtriple>Bo | likes | Tea</mtriple></modifiedtripleset>"


def file_of(*entries: str) -> str:
    inside = f"<entries>{''.join(entries)}</entries>"
    return f"<?xml version='1.0' encoding='UTF-8'?>\n<benchmark>\n {inside}\n</benchmark>"


def entry(inside: str, attributes: str = 'category="Food" eid="Id1" size="1"') -> str:
    return f"<entry {attributes}>{inside}</entry>\n"


def documents(path: Path, **options: str) -> list[Document]:
    return [entry.document for entry in read(path, **options) if entry.document]


def written(folder: Path, content: str, name: str = "x.xml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def test_each_text_is_a_document_with_the_triples_of_its_entry(tmp_path: Path) -> None:
    inside = """
      <originaltripleset>
        <otriple>Bo | likes | "Tea"@en</otriple>
        <otriple>Tea | isA | Drink</otriple>
      </originaltripleset>
      <originaltripleset><otriple>Bo | loves | Tea</otriple></originaltripleset>
      <modifiedtripleset>
        <mtriple>  Bo |  likes | Tea </mtriple>
        <mtriple>Tea | isA | Drink</mtriple>
      </modifiedtripleset>
      <lex comment="good" lid="Id1"> Bo likes tea &amp; cake. </lex>
      <lex comment="bad" lid="Id2">Tea, says Bo.</lex>"""
    first, second = documents(written(tmp_path, file_of(entry(inside)), "Food.xml"))
    assert [(s.id, s.role, s.text) for s in first.segments] == [
        ("t1", "triple", "Bo | likes | Tea"),
        ("t2", "triple", "Tea | isA | Drink"),
        ("text", "text", "Bo likes tea & cake."),
    ]
    assert first.segments[0].parts == ("Bo", "likes", "Tea")
    assert second.segments == (*first.segments[:2], second.segments[2])
    assert first.language == "en"
    assert first.metadata == {
        "category": "Food",
        "eid": "Id1",
        "size": 1,
        "comment": "good",
        "lid": "Id1",
        "original": (('Bo | likes | "Tea"@en', "Tea | isA | Drink"), ("Bo | loves | Tea",)),
    }
    assert second.metadata["comment"] == "bad"


def test_an_entry_without_a_text_is_a_document_of_triples(tmp_path: Path) -> None:
    (document,) = documents(written(tmp_path, file_of(entry(TRIPLES))))
    assert document.id == "x/Id1"
    assert [segment.role for segment in document.segments] == ["triple"]
    assert document.language is None
    (told,) = documents(tmp_path / "x.xml", language="fr")
    assert told.language == "fr"


def test_what_2020_adds_is_kept(tmp_path: Path) -> None:
    inside = f"""{TRIPLES}
      <lex comment="" lid="Id1" lang="en">Bo likes tea.</lex>
      <lex comment="good" lid="Id1" lang="ru">Бо любит чай.</lex>
      <lex comment="good" lid="Id1" lang="">Чай нравится Бо.</lex>
      <dbpedialinks><dbpedialink direction="en2ru">Tea | sameAs | Чай</dbpedialink></dbpedialinks>
      <links/>"""
    attributes = 'category="Food" eid="7" shape="(X (X))" shape_type="NA" size="1"'
    english, russian, unsaid = documents(written(tmp_path, file_of(entry(inside, attributes))))
    assert [d.id for d in (english, russian, unsaid)] == ["x/7/Id1/en", "x/7/Id1/ru", "x/7/Id1"]
    assert [d.language for d in (english, russian, unsaid)] == ["en", "ru", "ru"]
    assert english.metadata["shape"] == "(X (X))"
    assert english.metadata["shape_type"] == "NA"
    assert english.metadata["dbpedialinks"] == ({"direction": "en2ru", "text": "Tea | sameAs | Чай"},)
    assert "links" not in english.metadata
    assert "comment" not in english.metadata


def test_attributes_of_text_and_entry_do_not_hide_each_other(tmp_path: Path) -> None:
    inside = f'{TRIPLES}<lex lid="Id1" category="short">Tea.</lex>'
    (document,) = documents(written(tmp_path, file_of(entry(inside))))
    assert document.metadata["category"] == "Food"
    assert document.metadata["lex-category"] == "short"


def test_ids_stay_apart_over_the_layout_of_2020(tmp_path: Path) -> None:
    content = file_of(entry(f'{TRIPLES}<lex lid="Id1">Tea.</lex>'))
    names = [
        f"web/{language}/{part}/{size}triples/Food.xml"
        for language in ("en", "ru")
        for part in ("train", "dev")
        for size in (1, 2)
    ]
    for name in names:
        written(tmp_path, content, name)
    ids = [document.id for document in documents(tmp_path / "web")]
    assert sorted(ids) == sorted(name.removeprefix("web/").replace(".xml", "/Id1/Id1") for name in names)
    # The same ids, whichever part of the corpus is read.
    part = [document.id for document in documents(tmp_path / "web" / "ru")]
    assert sorted(part) == sorted(name for name in ids if name.startswith("ru/"))


def test_a_zip_gives_the_same_documents_as_its_folder(tmp_path: Path) -> None:
    content = file_of(entry(f'{TRIPLES}<lex lid="Id1">Tea.</lex>'))
    written(tmp_path, content, "web/dev/1triples/Food.xml")
    with zipfile.ZipFile(tmp_path / "web.zip", "w") as archive:
        archive.writestr("web/dev/1triples/Food.xml", content)
    assert documents(tmp_path / "web.zip") == documents(tmp_path / "web")


def test_the_same_eid_and_lid_twice_get_numbers(tmp_path: Path) -> None:
    one = entry(f'{TRIPLES}<lex lid="Id1">One.</lex><lex lid="Id1">Two.</lex>')
    bare = entry(f"{TRIPLES}<lex>Three.</lex>", 'category="Food"')
    found = documents(written(tmp_path, file_of(one, one, bare)))
    assert [(d.id, d.segments[-1].text) for d in found] == [
        ("x/Id1/Id1", "One."),
        ("x/Id1/Id1#2", "Two."),
        ("x/Id1/Id1#3", "One."),
        ("x/Id1/Id1#4", "Two."),
        ("x/3/1", "Three."),
    ]


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train/2triples/a.xml", "train"),
        ("Dev/a.xml", "dev"),
        ("test/train/a.xml", "train"),
        ("2triples_Food_dev_challenge.xml", "dev"),
        ("testdata_with_lex.xml", "test"),
        ("rdf-to-text-generation-test-data-with-refs-en.xml", "test"),
        ("contest.xml", None),
        ("device.xml", None),
    ],
)
def test_the_split_is_told_by_folder_or_name(tmp_path: Path, name: str, split: str | None) -> None:
    written(tmp_path, file_of(entry(TRIPLES)), f"corpus/{name}")
    (document,) = documents(tmp_path / "corpus")
    assert document.metadata.get("split") == split


@pytest.mark.parametrize(
    "triple", ["Bo | likes", "Bo | likes | Tea | Milk", "Bo |  | Tea", "", "Bo|likes|Tea"]
)
def test_a_triple_has_three_parts(tmp_path: Path, triple: str) -> None:
    bad = f"<modifiedtripleset><mtriple>a | b | c</mtriple><mtriple>{triple}</mtriple></modifiedtripleset>"
    with pytest.raises(InputError, match="triple 2 does not have three parts") as caught:
        documents(written(tmp_path, file_of(entry(bad))))
    assert caught.value.where == "x.xml, entry Id1"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (file_of(entry("")), "x.xml, entry Id1: holds neither triples nor a text"),
        (file_of(entry(TRIPLES + TRIPLES)), "x.xml, entry Id1: has more than one <modifiedtripleset>"),
        (file_of(entry(f"{TRIPLES}<lex><text>a</text></lex>")), "<text> has no place in a <lex>"),
        (file_of("<lex>a</lex>"), "<lex> has no place there"),
        ("<benchmark><header/></benchmark>", "<header> has no place there"),
        (file_of(entry(TRIPLES))[:-20], "x.xml: not sound XML"),
        ("<?xml version='1.0' encoding='nowhere'?><benchmark/>", "x.xml: not sound XML"),
        ("<benchmark/>", "nothing of format 'webnlg' is in it"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        documents(written(tmp_path, content))
    assert words in str(caught.value)


BOMB = '<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
FILE = '<!DOCTYPE b [<!ENTITY a SYSTEM "file:///etc/hostname">]>'


@pytest.mark.parametrize(
    "declared", ["<!DOCTYPE benchmark>", BOMB, FILE, '<!DOCTYPE b SYSTEM "http://x.test/b.dtd">']
)
def test_document_types_and_entities_are_refused(tmp_path: Path, declared: str) -> None:
    content = file_of(entry(f"{TRIPLES}<lex>&b;</lex>")).replace(
        "\n<benchmark>", f"\n{declared}<benchmark>", 1
    )
    with pytest.raises(InputError, match="declares a document type or entities"):
        documents(written(tmp_path, content))


def test_a_byte_order_mark_and_other_encodings_are_no_hindrance(tmp_path: Path) -> None:
    content = file_of(entry(f'{TRIPLES}<lex lid="Id1">Thé.</lex>'))
    (tmp_path / "x.xml").write_bytes(b"\xef\xbb\xbf" + content.encode())
    (tmp_path / "y.xml").write_bytes(content.replace("UTF-8", "latin-1").encode("latin-1"))
    assert [d.segments[-1].text for d in documents(tmp_path / "x.xml") + documents(tmp_path / "y.xml")] == [
        "Thé."
    ] * 2


def test_memory_stays_flat_however_long_the_file(tmp_path: Path) -> None:
    def peak(entries: int) -> int:
        attributes = 'category="Food" eid="Id{}" size="1"'
        inside = f'{TRIPLES}<lex lid="Id1">{"tea " * 100}</lex>'
        path = written(tmp_path, file_of(*(entry(inside, attributes.format(n)) for n in range(entries))))
        reading = read(path)
        tracemalloc.start()
        try:
            for _ in reading:
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)
    # 2,000 entries of half a kilobyte: what grows is the ids, a few hundred bytes each.
    assert peak(2200) - peak(200) < 2000 * 500


def test_it_is_only_read(tmp_path: Path) -> None:
    reading: EntryStream = read(written(tmp_path, file_of(entry(TRIPLES))))
    assert reading.format.name == "webnlg"
    with pytest.raises(UsageError, match="can be read but not written"):
        convert(reading, tmp_path / "out", "webnlg")
    assert [path.name for path in tmp_path.iterdir()] == ["x.xml"]
