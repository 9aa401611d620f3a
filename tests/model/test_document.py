from __future__ import annotations

import pickle

import pytest

from lapsus.errors import InvalidError
from lapsus.model import Document, Segment


def test_a_triple_knows_where_its_elements_are() -> None:
    triple = Segment.triple("t1", "折羅湖👩‍🚀", "e\u0301tat", "B | C")
    assert triple.text == "折羅湖👩‍🚀 | e\u0301tat | B | C"
    assert [triple.text[e.start : e.end] for e in triple.elements()] == ["折羅湖👩‍🚀", "e\u0301tat", "B | C"]
    assert [e.name for e in triple.elements()] == ["subject", "predicate", "object"]


def test_only_triples_have_parts() -> None:
    with pytest.raises(InvalidError, match="three parts"):
        Segment("1", "text", "a | b | c", ("a", "b", "c"))
    with pytest.raises(InvalidError, match="three parts"):
        Segment("1", "triple", "a | b | c")
    with pytest.raises(InvalidError, match="joined"):
        Segment("1", "triple", "a|b|c", ("a", "b", "c"))


def test_segment_ids_are_unique_within_a_document() -> None:
    twice = (Segment("1", "user", "a"), Segment("1", "system", "b"))
    with pytest.raises(InvalidError, match="two segments have the id '1'"):
        Document("d", twice)


def test_nothing_can_be_changed() -> None:
    document = Document("d", (Segment("1", "user", "hi"),), "en", {"tags": ["a", {"b": 1}]})
    with pytest.raises(AttributeError):
        document.id = "e"  # type: ignore[misc]
    with pytest.raises(TypeError):
        document.metadata["new"] = 1  # type: ignore[index]
    assert document.metadata["tags"] == ("a", {"b": 1})
    with pytest.raises(TypeError):
        document.metadata["tags"][1]["b"] = 2
    with pytest.raises(TypeError):
        document.metadata.update(x=1)  # type: ignore[attr-defined]


def test_records_travel_between_processes() -> None:
    document = Document("d", (Segment("1", "user", "hi", None, {"k": [1]}),), "en", {"a": {"b": []}})
    assert pickle.loads(pickle.dumps(document)) == document  # noqa: S301
    assert hash(document) == hash(pickle.loads(pickle.dumps(document)))  # noqa: S301
