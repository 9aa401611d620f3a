"""Records of data and text: how data of any shape becomes triples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from lapsus.errors import InputError
from lapsus.formats import read
from lapsus.formats.pairs import LONGEST, MOST, facts
from lapsus.model import Document
from tests import strategies

RECORD = {
    "name": "Osk Bridge",
    "id": 17,
    "url": "https://example.org/osk",
    "length": {"value": 310, "unit": "m"},
    "isOpen": True,
    "crosses": None,
    "river": {"name": "Lum", "country": "Torland"},
    "traffic": {"cars": {"2019": 12.5}, "boats": ""},
    "owners": ["Torland", "Penmarsh"],
    "properties": [["architect", "Ines Tarro"], ["floor count", 2]],
    "details": [{"name": "Lanes", "value": 4}, {"name": "Toll", "value": "2", "unit": "crowns"}],
    "events": [{"date": "2011-11-05", "what": "opened"}, {"what": "closed"}],
}


@pytest.mark.parametrize(
    ("data", "triples"),
    [
        (
            RECORD,
            [
                ("Osk Bridge", "length", "310 m"),
                ("Osk Bridge", "isOpen", "yes"),
                ("Osk Bridge", "river", "Lum"),
                ("Lum", "country", "Torland"),
                ("Osk Bridge", "traffic cars 2019", "12.5"),
                ("Osk Bridge", "owners", "Torland"),
                ("Osk Bridge", "owners", "Penmarsh"),
                ("Osk Bridge", "architect", "Ines Tarro"),
                ("Osk Bridge", "floor count", "2"),
                ("Osk Bridge", "Lanes", "4"),
                ("Osk Bridge", "Toll", "2 crowns"),
                ("2011-11-05", "date", "2011-11-05"),
                ("2011-11-05", "what", "opened"),
                ("events 2", "what", "closed"),
            ],
        ),
        ([["a", "b", 3], "c | d | e", {"subject": "f", "predicate": "g", "object": "h"}],
         [("a", "b", "3"), ("c", "d", "e"), ("f", "g", "h")]),
        ("# country: Torland\nday,height\n1 May,3.5\n2 May,",
         [("record", "country", "Torland"), ("1 May", "height", "3.5")]),
        ({"box": {"first_name": {"0": "Ida", "1": "Ida"}, "player_name": {"0": "Ida Vale", "1": "Ida Dray"},
                  "points": {"0": 7, "1": "N/A"}, "team": {"0": "Orsk", "1": "Lum"}}},
         [("record", "box", "Ida Vale"), ("Ida Vale", "first_name", "Ida"), ("Ida Vale", "points", "7"),
          ("Ida Vale", "team", "Orsk"), ("record", "box", "Ida Dray"), ("Ida Dray", "first_name", "Ida"),
          ("Ida Dray", "team", "Lum")]),
        ({"a": {"0": 1, "1": 2}, "b": {"0": 3, "1": 4}},
         [("record 1", "a", "1"), ("record 1", "b", "3"), ("record 2", "a", "2"), ("record 2", "b", "4")]),
        # Names of things, not numbers of rows.
        ({"home": {"goals": 1, "shots": 3}, "away": {"goals": 2, "shots": 5}},
         [("record", "home goals", "1"), ("record", "home shots", "3"), ("record", "away goals", "2"),
          ("record", "away shots", "5")]),
        ({"city": {"name": "Penmarsh"}, "wind": 3},
         [("Penmarsh", "city", "Penmarsh"), ("Penmarsh", "wind", "3")]),
        ("  two\twords ", [("record", "is", "two words")]),
        ({"a": {"b": {}}, "c": [], "d": " "}, []),
        (7, [("record", "is", "7")]),
    ],
)  # fmt: skip
def test_data_becomes_triples_by_the_rule(data: Any, triples: list[tuple[str, str, str]]) -> None:
    assert facts(data) == (triples, False)


def test_a_record_has_so_many_facts_and_no_longer_ones() -> None:
    found, has_more = facts({"name": "x", "v": [f"{n}" for n in range(MOST + 1)]})
    assert (len(found), has_more) == (MOST, True)
    assert facts({"name": "x", "v": ["same"] * 5_000}) == ([("x", "v", "same")], False)
    ((_, _, value),), _ = facts({"note": "word " * 500})
    assert len(value) <= LONGEST
    assert value.endswith("word")


@given(strategies.json_values)
def test_whatever_data_is_every_fact_has_three_parts_on_one_line(data: Any) -> None:
    found, _ = facts(data)
    assert len(found) <= MOST
    for fact in found:
        assert all(part and part == " ".join(part.split()) and " | " not in part for part in fact)


def written(folder: Path, *records: Any, name: str = "pairs.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def documents(path: Path) -> list[Document]:
    return [entry.document for entry in read(path) if entry.document]


def test_records_are_read_as_pairs(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {
            "id": "a",
            "triples": [["Osk_Bridge", "length", "310"]],
            "text": "It is 310 long.",
            "generator": "s1",
            "n": 3,
        },
        {"id": "a", "data": RECORD, "text": "", "lang": "en", "system": "s2"},
        {"data": {"x": 1}, "text": "これは一つです。"},
    )
    assert read(path).format.name == "pairs"
    first, second, third = documents(path)
    assert [one.id for one in (first, second, third)] == ["a", "a#2", "pairs-3"]
    assert first.segments[0].parts == ("Osk_Bridge", "length", "310")
    assert (first.segments[1].id, first.segments[1].role, first.segments[1].text) == (
        "text",
        "text",
        "It is 310 long.",
    )
    assert (first.system, first.language, first.metadata["n"]) == ("s1", "en", 3)
    assert (second.system, second.language, len(second.segments)) == ("s2", "en", 15)
    assert third.language == "ja"


def test_a_table_is_read_the_same(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(
        'id,data,text\n1,"{""name"": ""Osk"", ""length"": 3}",Osk is long.\n2,a | b | c,\n', encoding="utf-8"
    )
    with pytest.raises(InputError, match=r"line 3.*no record of data and text"):
        documents(path)
    path.write_text('id,data,text\n1,"{""name"": ""Osk"", ""length"": 3}",Osk is long.\n', encoding="utf-8")
    (document,) = documents(path)
    assert document.segments[0].parts == ("Osk", "length", "3")


@pytest.mark.parametrize(
    "record", [{"data": 1}, {"data": 1, "text": 2}, {"text": "a"}, {"data": None, "text": "a"}]
)
def test_a_record_without_both_is_named(tmp_path: Path, record: Any) -> None:
    path = written(tmp_path, {"data": 1, "text": "a"}, record)
    with pytest.raises(InputError, match=r"line 2.*no record of data and text"):
        documents(path)


@pytest.mark.parametrize("data", [[], {}, [[]], {"name": ""}, {"id": 3}, "[]"])
def test_a_record_without_a_fact_is_named(tmp_path: Path, data: Any) -> None:
    path = written(tmp_path, {"data": 1, "text": ""}, {"data": data, "text": ""})
    with pytest.raises(InputError, match=r"line 2.*no data"):
        documents(path)


def test_data_that_is_a_list_of_objects_is_data(tmp_path: Path) -> None:
    """Answers of tools' interfaces keep records in such a list."""
    (found,) = documents(written(tmp_path, {"data": [{"age": 3}, {"age": 4}], "text": "3 and 4."}))
    assert [segment.role for segment in found.segments] == ["triple", "triple", "text"]


def test_much_data_is_told(tmp_path: Path) -> None:
    reading = read(written(tmp_path, {"data": list(range(3 * MOST)), "text": "a"}))
    for _ in range(2):
        assert [len(entry.document.segments) for entry in reading if entry.document] == [MOST + 1]
    assert sum(reading.options.dropped.values()) == 1


@pytest.mark.parametrize("name", ["output", "generated", "generated_text", "prediction", "response"])
def test_the_text_may_have_another_usual_name(tmp_path: Path, name: str) -> None:
    record = {"data": [{"name": "Osk Bridge", "length": "310 m"}], name: "Osk Bridge is long."}
    (tmp_path / "p.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    (entry,) = read(tmp_path / "p.jsonl")
    assert entry.document is not None
    assert entry.document.segments[-1].text == "Osk Bridge is long."
    assert name not in entry.document.metadata


@pytest.mark.parametrize("more", [{"words": "Long."}, {"output": "Long.", "response": "Short."}])
def test_data_without_a_text_is_told_what_pairs_need(tmp_path: Path, more: dict[str, str]) -> None:
    record = {"data": {"name": "Osk Bridge", "length": "310 m"}, **more}
    (tmp_path / "p.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    with pytest.raises(InputError) as found:
        list(read(tmp_path / "p.jsonl"))
    assert (found.value.hint or "").startswith(
        "as pairs of data and text, each needs `data` or `triples`, and `text`"
    )
    assert "chat log" not in (found.value.hint or "")
    assert (found.value.in_language("ja").hint or "").startswith("データと文章の組として読むには、それぞれに")
