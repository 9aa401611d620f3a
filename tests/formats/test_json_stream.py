from __future__ import annotations

import io
import json
import tracemalloc
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import InputError
from lapsus.formats import json_stream
from lapsus.formats.json_stream import items
from tests import strategies

TRICKY = [{"a": '}]"\\', "b": [[], {}, [","]]}, "x, ]", 12, None, [{"ü": "😀\\"}], "", -1.5e3, True]


def read(content: bytes, kind: type = object) -> list[Any]:
    return [item for _, item in items(io.BytesIO(content), "file.json", Any if kind is object else kind)]


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "CHUNK", 3)


def encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def test_items_are_numbered() -> None:
    assert list(items(io.BytesIO(b'["a", "b"]'), "f", str)) == [(1, "a"), (2, "b")]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.usefixtures("small_chunks")
def test_brackets_and_quotes_in_strings(indent: int | None) -> None:
    assert read(json.dumps(TRICKY, indent=indent).encode()) == TRICKY
    assert read(encoded(TRICKY)) == TRICKY


@given(st.lists(strategies.json_values, max_size=5), st.integers(1, 9))
def test_whatever_the_chunks(values: list[Any], chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", chunk)
        assert read(msgspec.json.encode(values)) == msgspec.json.decode(msgspec.json.encode(values))


@pytest.mark.usefixtures("small_chunks")
def test_byte_order_mark_space_and_nothing() -> None:
    assert read(b"\xef\xbb\xbf \n\t[ 1 ,\r\n 2 ]\n \n") == [1, 2]
    assert read(b" [ ] ") == []


@pytest.mark.usefixtures("small_chunks")
def test_every_truncation_is_told() -> None:
    whole = encoded(TRICKY)
    for size in range(len(whole)):
        with pytest.raises(InputError):
            read(whole[:size])


def test_truncation_names_the_item() -> None:
    with pytest.raises(InputError, match=r"file\.json, item 2: .*ends in the middle"):
        read(b'[{"a": 1}, {"a": 2')


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b'{"tasks": []}', r"one JSON object, not a list .*between \[ and \]"),
        (b'"text"', "is no JSON list"),
        (b"[1,]", "item 2: a comma stands there"),
        (b"[,1]", "item 1: a comma stands there"),
        (b"[1,,2]", "item 2: a comma stands there"),
        (b"[1] [2]", "something follows"),
        (b"[1}]", "item 1: not sound JSON"),
        (b"[1, {]}]", "item 2: not sound JSON"),
        (b"[1 2]", "item 1: not sound JSON"),
        (b'["\xff"]', "item 1"),
        (b'["\\ud800"]', "item 1"),
        (b"[" + b"[" * 100_000 + b"]" * 100_000 + b"]", "item 1: is nested too deeply"),
    ],
)
def test_what_is_wrong_is_said(content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(content)


@pytest.mark.parametrize("closed", [b"", b"]" * 3_000_000])
def test_what_is_nested_too_deeply_is_told_before_its_end_is_looked_for(closed: bytes) -> None:
    stream = io.BytesIO(b"[" * 3_000_000 + closed)
    with pytest.raises(InputError, match="item 1: is nested too deeply"):
        list(items(stream, "file.json", Any))
    assert stream.tell() <= json_stream.CHUNK


def test_wrong_shape_names_item_and_hint() -> None:
    with pytest.raises(InputError, match=r"f, item 2: Expected `int`.*\(whole numbers only\)"):
        list(items(io.BytesIO(b'[1, "x"]'), "f", int, "whole numbers only"))


class Endless(io.RawIOBase):
    """A list whose second bracket is never closed."""

    given = 0

    def read(self, size: int = -1) -> bytes:
        self.given += size
        return (b"[[" if self.given == size else b"1,") + b"1," * (size // 2 - 1)


def test_a_bracket_that_is_never_closed_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "CHUNK", 1 << 10)
    monkeypatch.setattr(json_stream, "LARGEST", 1 << 16)
    stream: Any = Endless()
    with pytest.raises(InputError, match="item 1: is larger than"):
        list(items(stream, "f", object))
    assert stream.given < 1 << 18


class Long(io.RawIOBase):
    """A list of many items, made while it is read."""

    def __init__(self) -> None:
        self.left = 20_000
        self.begun = False

    def read(self, size: int = -1) -> bytes:
        if not self.begun:
            self.begun = True
            return b"[0"
        if not self.left:
            return b""
        self.left -= 1
        return b"," + b'{"text": "' + b"a" * 400 + b'"}' + (b"" if self.left else b"]")


def test_memory_does_not_grow_with_the_list() -> None:
    stream: Any = Long()
    tracemalloc.start()
    try:
        assert sum(1 for _ in items(stream, "f", object)) == 20_001
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 19
