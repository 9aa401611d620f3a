"""Real corpora, read whole, written and read again. LAPSUS_DATA names the folder that holds them."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from lapsus.errors import InputError
from lapsus.formats import EntryStream, convert, read
from lapsus.model import Document

pytestmark = pytest.mark.acceptance


class Corpus(NamedTuple):
    file: str
    only: str | None
    format: str
    documents: int
    units: int
    judgments: int
    language: str

    def open(self) -> EntryStream:
        return read(data() / self.file, only=self.only)


CORPORA = [
    Corpus("dbdc3-en.zip", "*/revised/*", "dbdc", 615, 6_150, 184_500, "en"),
    Corpus("dbdc3-en.zip", "*/original/*", "dbdc", 315, 3_150, 94_500, "en"),
    Corpus("dbdc2-ja.zip", None, "dbdc", 300, 3_300, 99_000, "ja"),
    Corpus("dbdc5-en.zip", None, "dbdc", 211, 2_110, 31_650, "en"),
    Corpus("dbrc-ja.zip", None, "dbrc", 140, 140, 3_990, "ja"),
    Corpus("webnlg-2017.zip", None, "webnlg", 29_593, 0, 0, "en"),
]
REVISED = CORPORA[0]
each = pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: corpus.file + (corpus.only or ""))


def data() -> Path:
    folder = os.environ.get("LAPSUS_DATA")
    assert folder, "set LAPSUS_DATA to the folder with the real corpora"
    return Path(folder)


def as_set(reading: EntryStream) -> set[bytes]:
    encode = msgspec.json.Encoder(order="deterministic").encode
    records = set()
    for entry in reading:
        records.add(encode(entry.document))
        records.update(encode(judgment) for judgment in entry.judgments)
    return records


@each
def test_a_corpus_is_recognised_and_read_whole(corpus: Corpus) -> None:
    reading = corpus.open()
    assert (reading.format.name, reading.recognised) == (corpus.format, True)
    for _ in reading:
        pass
    assert (reading.documents, reading.units, reading.judgments) == corpus[3:6]
    assert set(reading.languages) == {corpus.language}


@each
def test_a_corpus_goes_through_the_native_format_unchanged(corpus: Corpus, tmp_path: Path) -> None:
    done = convert(corpus.open(), tmp_path / "out.jsonl")
    assert not done.losses
    count = 0
    for before, after in zip(corpus.open(), read(tmp_path / "out.jsonl"), strict=True):
        assert before == after
        count += 1
    assert count == corpus.documents


@pytest.mark.parametrize("output", ["out", "out.zip"])
def test_the_challenges_own_format_gives_back_what_it_was_given(output: str, tmp_path: Path) -> None:
    done = convert(REVISED.open(), tmp_path / output, "dbdc")
    assert not done.losses
    before = as_set(REVISED.open())
    assert len(before) == REVISED.documents + REVISED.judgments
    assert as_set(read(tmp_path / output)) == before


@pytest.mark.parametrize("output", ["out", "out.zip", "out.jsonl"])
def test_doubled_ids_are_all_reported_and_nothing_is_written(output: str, tmp_path: Path) -> None:
    to = None if output.endswith("jsonl") else "dbdc"
    with pytest.raises(InputError, match=r"315 ids come twice \(315 with the same text\)") as caught:
        convert(read(data() / REVISED.file), tmp_path / output, to)
    assert "original/dev/CIC_115/CIC0003.log.json; dbdc3-en/revised/dev/CIC_115/CIC0003" in str(caught.value)
    assert "and 310 more" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_systems_and_parts_of_the_challenge_are_told() -> None:
    parts: dict[tuple[object, object], int] = defaultdict(int)
    for corpus in CORPORA[2:4]:
        for entry in corpus.open():
            assert entry.document
            parts[entry.document.metadata["split"], entry.document.system] += 1
    japanese = {(split, system): 50 for split in ("dev", "ref") for system in ("DCM", "DIT", "IRS")}
    assert {key: parts[key] for key in japanese} == japanese
    bots = {f"Bot 00{number}" for number in range(1, 7)} | {"IRIS"}
    assert {system for split, system in parts if (split, system) not in japanese} == bots


def entry_of(document: Document) -> str:
    """The entry of the corpus that a document was made from: several texts share one."""
    lid = document.metadata.get("lid")
    return document.id.removesuffix(f"/{lid}") if lid else document.id


def test_webnlg_has_as_many_entries_as_its_makers_say() -> None:
    """Its three test files overlap: one leaves out the texts, one holds the unseen categories once more."""
    entries: dict[str, set[str]] = defaultdict(set)
    content: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    triples: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for entry in CORPORA[-1].open():
        assert entry.document
        split, name = str(entry.document.metadata["split"]), entry_of(entry.document)
        part = name.split("/")[1] if split == "test" else split
        entries[part].add(name)
        if split == "test":
            content[part].add(tuple(segment.text for segment in entry.document.segments))
            triples[part].add(tuple(s.text for s in entry.document.segments if s.role == "triple"))
    assert {part: len(names) for part, names in entries.items()} == {
        "train": 6_940,
        "dev": 872,
        "testdata_with_lex": 1_862,
        "testdata_no_lex": 1_862,
        "testdata_unseen_with_lex": 891,
    }
    assert triples["testdata_no_lex"] == triples["testdata_with_lex"]
    assert content["testdata_unseen_with_lex"] < content["testdata_with_lex"]


def test_the_types_of_the_repair_corpus_are_ten_of_the_seventeen() -> None:
    counts: dict[object, int] = defaultdict(int)
    for entry in CORPORA[4].open():
        for judgment in entry.judgments:
            counts[judgment.answers["types"]] += 1
            severity = judgment.metadata["severity"]
            assert isinstance(severity, int)
            assert 1 <= severity <= 10
    assert len(counts) == 10
    assert set(counts.values()) == {399}
