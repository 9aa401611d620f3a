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
from lapsus.formats import convert, read

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


MANY = b"".join(LINE % number for number in range(2000))


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".zst", zstandard.compress)])
@pytest.mark.parametrize("left", [-1, 0.3, 0.9, 15, 3])
def test_a_file_that_is_cut_off_is_said_to_be(ending: str, pack: object, left: float, tmp_path: Path) -> None:
    assert callable(pack)
    packed = pack(MANY)
    cut = packed[: int(left * len(packed)) if 0 < left < 1 else int(left)]
    path = tmp_path / f"chats.jsonl{ending}"
    for content in (cut, pack(CHAT) + cut):
        path.write_bytes(content)
        with pytest.raises(InputError, match="ends in the middle"):
            ids(path)
        with pytest.raises(InputError, match="ends in the middle"):
            convert(read(path, "chat"), tmp_path / "out.jsonl")
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_frames_of_every_sort_are_whole(tmp_path: Path) -> None:
    skipped = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"
    checked = zstandard.ZstdCompressor(write_checksum=True, write_content_size=False)
    stored = zstandard.ZstdCompressor(level=1)
    path = tmp_path / "chats.jsonl.zst"
    noise = b" " * 300_000 + b"\n"
    path.write_bytes(checked.compress(LINE % 1) + skipped + stored.compress(LINE % 2 + noise) + skipped)
    assert ids(path) == ["c1", "c2"]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match="ends in the middle"):
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
