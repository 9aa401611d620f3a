"""Sources that are packed, come on standard input, or lie in a store."""

from __future__ import annotations

import gc
import gzip
import io
import os
import pickle
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
import zstandard

from lapsus.errors import InputError, UsageError
from lapsus.formats import convert, read
from lapsus.formats.remote import location
from tests.http_server import Handler, listening

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


TABLE = b"conversation,role,text\nc1,user,Hi\nc1,assistant,Hello\nc2,user,Hi\nc2,assistant,Hello\n"


@pytest.fixture
def standard_input(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], None]]:
    with ExitStack() as stack:

        def give(content: bytes) -> None:
            stream = stack.enter_context(io.TextIOWrapper(io.BytesIO(content)))
            monkeypatch.setattr(sys, "stdin", stream)

        yield give


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
@pytest.mark.parametrize("content", [CHAT, b"[" + LINE % 1 + b"," + LINE % 2 + b"]", TABLE])
def test_standard_input(content: bytes, pack: Callable[[bytes], bytes], standard_input: Any) -> None:
    standard_input(pack(content))
    assert ids("-") == ["c1", "c2"]
    # Some commands read what they are given twice.
    assert ids(Path("-")) == ["c1", "c2"]
    standard_input(pack(LINE % 3))
    assert ids("-") == ["c3"]


def test_a_copy_of_standard_input_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with io.TextIOWrapper(io.BytesIO(CHAT)) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert ids("-")
    assert list(tmp_path.iterdir())
    monkeypatch.undo()
    del stream
    gc.collect()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content",
    [b"", b'{"a": 1}\n', CHAT + b"{bad", gzip.compress(CHAT)[:-3]],
    ids=["empty", "unknown", "broken", "cut"],
)
def test_messages_speak_of_standard_input(content: bytes, standard_input: Any) -> None:
    standard_input(content)
    with pytest.raises(InputError) as caught:
        ids("-")
    assert str(caught.value.where).startswith("standard input")
    assert "standard-input" not in str(caught.value)


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


def test_a_file_by_its_address(tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl.gz"
    path.write_bytes(gzip.compress(CHAT))
    assert ids(path.as_uri()) == ["c1", "c2"]
    assert ids(Path(path.as_uri())) == ["c1", "c2"]


class Asked(Handler):
    """Answers every question with chats, and notes what was asked for."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        # Not the path, from which the server takes slashes.
        self.asked.append(self.requestline.split()[1])
        is_there = "none" not in self.path and "gone" not in self.path
        self.send_response(200 if is_there else 403 if "none" in self.path else 404)
        self.send_header("Content-Length", str(len(CHAT) if is_there else 0))
        self.end_headers()
        if is_there:
            self.wfile.write(CHAT)

    do_HEAD = do_GET


@pytest.fixture
def web() -> Iterator[str]:
    Asked.asked.clear()
    with listening(Asked) as address:
        yield address


@pytest.mark.parametrize("rest", ["//a//b.jsonl", "/chats.jsonl?X-Sig=a%2Fb&n=1", "/export?as=lines"])
def test_an_address_is_asked_for_as_it_was_written(rest: str, web: str) -> None:
    assert ids(web + rest) == ["c1", "c2"]
    assert set(Asked.asked) == {rest}


def test_a_file_that_is_not_there_is_said_to_be_missing(web: str) -> None:
    with pytest.raises(InputError) as caught:
        ids(f"{web}/gone.jsonl?X-Sig=secret")
    assert (caught.value.what, caught.value.where) == ("no such file", f"{web}/gone.jsonl?…")


def test_signatures_and_logins_are_not_shown(web: str, tmp_path: Path) -> None:
    for address in (f"{web}/none.jsonl?X-Sig=sec%2Fret", f"{web}/none.jsonl?X-Sig=sec/ret#secret"):
        with pytest.raises(InputError) as caught:
            ids(address)
        assert "sec" not in "".join(traceback.format_exception(caught.value)).replace("secs", "")
        assert caught.value.where == f"{web}/none.jsonl?…"
    assert str(location("https://me:secret@host/a//b.jsonl?x=1")) == "https://host/a//b.jsonl?…"
    reading = read(f"{web}/chats.jsonl?X-Sig=secret", "dbdc")
    with pytest.raises(InputError) as caught:
        list(reading)
    assert "secret" not in str(caught.value)
    assert "http:/1" not in str(caught.value)


def test_an_address_can_be_sent_to_another_process() -> None:
    assert os.fspath(pickle.loads(pickle.dumps(location("s3://a//b?c")))) == "s3://a//b?c"  # noqa: S301
