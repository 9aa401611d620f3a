"""Sources that are packed, come on standard input, or lie in a store."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import fsspec
import pytest
import zstandard

from lapsus.errors import InputError, UsageError
from lapsus.formats import read

LINE = b'{"id": "c%d", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}\n'
CHAT = LINE % 1 + LINE % 2


def ids(path: Path | str) -> list[str]:
    return [entry.id for entry in read(path)]


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".zst", zstandard.compress)])
def test_packed_files_are_read_as_what_is_in_them(ending: str, pack: object, tmp_path: Path) -> None:
    assert callable(pack)
    path = tmp_path / f"chats.jsonl{ending}"
    path.write_bytes(pack(CHAT))
    assert ids(path) == ["c1", "c2"]
    assert ids(tmp_path) == ["c1", "c2"]


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".zst", zstandard.compress)])
def test_damage_is_named(ending: str, pack: object, tmp_path: Path) -> None:
    assert callable(pack)
    path = tmp_path / f"chats.jsonl{ending}"
    path.write_bytes(pack(LINE % 1 * 2000)[:-9] + b"damaged !")
    with pytest.raises(InputError, match="chats"):
        ids(path)


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl.gz"
    path.write_bytes(gzip.compress(LINE % 1 + b" " * (64 << 20)))
    with pytest.raises(InputError, match="bomb"):
        ids(path)


@pytest.mark.parametrize("content", [CHAT, b"[" + LINE % 1 + b"," + LINE % 2 + b"]", gzip.compress(CHAT)])
def test_standard_input(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with io.TextIOWrapper(io.BytesIO(content)) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert ids("-") == ["c1", "c2"]


def test_nothing_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="standard input"):
        ids("-")


def test_an_address_of_a_store() -> None:
    with fsspec.open("memory://room/chats.jsonl", "wb") as stream:
        stream.write(CHAT)
    assert ids("memory://room/chats.jsonl") == ["c1", "c2"]
    assert ids(Path("memory://room/chats.jsonl")) == ["c1", "c2"]
    with pytest.raises(InputError, match=r"memory://room/none\.jsonl"):
        ids("memory://room/none.jsonl")
