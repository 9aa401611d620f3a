"""Files from strangers: whatever a zip or folder holds, it is read in bounds or refused with a reason."""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lapsus.errors import InputError
from lapsus.formats import Source, read
from lapsus.formats.packed import MAX_EXPANSION, SMALL
from lapsus.formats.source import lines
from tests.formats.refusals import refusal

DIALOGUE = b'{"turns": [{"turn-index": 0, "speaker": "S", "utterance": "hello"}]}'


def zipped(folder: Path, *members: tuple[str | zipfile.ZipInfo, bytes], **options: Any) -> Path:
    path = folder / "in.zip"
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def names(path: Path, *suffixes: str, only: str | None = None) -> list[str]:
    return [member.name for member in Source(path, only).members(*suffixes)]


@pytest.mark.parametrize(
    "name",
    [
        "../out.log.json",
        "a/../../out.log.json",
        "/etc/out.log.json",
        "..\\out.log.json",
        "a\\..\\..\\out.log.json",
        "\\\\server\\out.log.json",
        "C:\\out.log.json",
        "C:out.log.json",
    ],
)
def test_members_that_point_outside_are_refused(tmp_path: Path, name: str) -> None:
    path = zipped(tmp_path, ("good.log.json", DIALOGUE), (name, DIALOGUE))
    with pytest.raises(InputError, match="points outside the archive"):
        list(read(path, "dbdc"))


def test_a_bad_member_is_refused_even_if_it_is_not_wanted(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("good.log.json", DIALOGUE), ("../notes.txt", b""))
    with pytest.raises(InputError, match="points outside"):
        names(path, ".log.json", only="good*")


def test_links_are_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("a.log.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(InputError, match="is a link"):
        names(zipped(tmp_path, (link, b"/etc/hostname")))


def test_backslashes_are_slashes(tmp_path: Path) -> None:
    (entry,) = read(zipped(tmp_path, ("corpus\\dev\\CIC_5\\a.log.json", DIALOGUE)))
    assert entry.document
    assert entry.document.metadata == {"system": "CIC", "split": "dev"}


def test_an_encrypted_member_says_so(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("a.log.json", DIALOGUE))
    content = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + offset] |= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"in\.zip, a\.log\.json: is encrypted \(unpack it first\)"):
        list(read(path))


def test_bombs_are_refused_before_anything_is_unpacked(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("a.log.json", b" " * (SMALL * 8)), compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(InputError, match="would grow from"):
        names(path)


def test_honest_files_may_be_large_or_shrink_well(tmp_path: Path) -> None:
    small = ("a.log.json", DIALOGUE + b" " * (SMALL // 2))
    large = ("b.log.json", DIALOGUE[:-1] + b', "noise": "' + os.urandom(SMALL).hex().encode() + b'"}')
    path = zipped(tmp_path, small, large, compression=zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(path) as archive:
        first = archive.getinfo("a.log.json")
        assert first.file_size > MAX_EXPANSION * first.compress_size
    assert len(list(read(path))) == 2


def test_a_member_cannot_be_larger_than_it_says(tmp_path: Path) -> None:
    """A zip that lies about the size is cut off there, and then its checksum is wrong."""
    path = zipped(tmp_path, ("a.log.json", DIALOGUE + b" " * SMALL * 4), compression=zipfile.ZIP_DEFLATED)
    content = path.read_bytes()
    true, lie = struct.pack("<I", len(DIALOGUE) + SMALL * 4), struct.pack("<I", len(DIALOGUE))
    assert content.count(true) == 2
    path.write_bytes(content.replace(true, lie))
    with pytest.raises(InputError, match="cannot be read as a zip file: Bad CRC-32"):
        list(read(path))


def test_damage_inside_a_member_names_the_member(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("a.log.json", DIALOGUE), ("b.log.json", DIALOGUE))
    content = path.read_bytes()
    path.write_bytes(content[: content.rindex(b"hello")] + b"jello" + content[content.rindex(b"hello") + 5 :])
    with pytest.raises(InputError, match=r"in\.zip, b\.log\.json: cannot be read as a zip file: Bad CRC-32"):
        list(read(path))


def test_damage_is_told_when_a_format_only_looks(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("a.jsonl", b'{"lapsus":1}\n' * 3))
    path.write_bytes(path.read_bytes().replace(b"lapsus", b"lupsus", 1))
    with pytest.raises(InputError, match="cannot be read as a zip file"):
        read(path)


def test_a_text_file_called_zip_is_no_zip(tmp_path: Path) -> None:
    (tmp_path / "in.zip").write_text("hello")
    with pytest.raises(InputError, match=r"in\.zip: cannot be read as a zip file: File is not a zip file"):
        read(tmp_path / "in.zip")


def _sound_zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("dev/a.log.json", DIALOGUE)
        archive.writestr("dev/é.log.json", DIALOGUE)
    return stream.getvalue()


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_damaged_zip_never_ends_in_a_traceback(tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(_sound_zip())
    for _ in range(data.draw(st.integers(0, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "in.zip"
    path.write_bytes(content[: data.draw(st.integers(len(content) // 2, len(content)))])
    error = refusal(lambda: read(path, "dbdc"))
    assert error is None or str(error).startswith(str(path))


def test_zips_in_zips_and_what_macs_add_are_passed_over(tmp_path: Path) -> None:
    path = zipped(
        tmp_path,
        ("corpus/", b""),
        ("corpus/a.log.json", DIALOGUE),
        ("corpus/more.zip", _sound_zip()),
        ("__MACOSX/corpus/._a.log.json", b"\x00\x05\x16\x07"),
    )
    assert names(path, ".log.json") == ["corpus/a.log.json"]
    assert len(list(read(path))) == 1


def test_a_member_can_be_opened_after_the_search_for_it(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("a.jsonl", b'\xef\xbb\xbf{"lapsus":1}\nsecond\n'))
    member = Source(path).first(".jsonl")
    assert member
    assert member.head(5) == b'{"'
    assert member.read() == b'{"lapsus":1}\nsecond\n'
    assert list(lines(member)) == [(1, b'{"lapsus":1}'), (2, b"second")]
    with member.text() as text:
        assert text.read() == '{"lapsus":1}\nsecond\n'


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for name in ("revised/dev/a.json", "revised/eval/b.json", "original/dev/a.json", "c.json", "c.txt"):
        path = tmp_path / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(DIALOGUE)
    return tmp_path / "corpus"


@pytest.mark.parametrize(
    ("only", "found"),
    [
        ("*/revised/*", ["revised/dev/a.json", "revised/eval/b.json"]),
        ("corpus/revised/*", ["revised/dev/a.json", "revised/eval/b.json"]),
        ("*/dev/*", ["original/dev/a.json", "revised/dev/a.json"]),
        ("a.json", ["original/dev/a.json", "revised/dev/a.json"]),
        ("[bc].json", ["c.json", "revised/eval/b.json"]),
        ("A.json", []),
        ("revised", []),
        (None, ["c.json", "original/dev/a.json", "revised/dev/a.json", "revised/eval/b.json"]),
    ],
)
def test_only_chooses_by_name(corpus: Path, tmp_path: Path, only: str | None, found: list[str]) -> None:
    assert sorted(names(corpus, ".json", only=only)) == [f"corpus/{name}" for name in found]
    inside = [(f"corpus/{path.relative_to(corpus).as_posix()}", DIALOGUE) for path in corpus.rglob("*.*")]
    assert sorted(names(zipped(tmp_path, *inside), ".json", only=only)) == [
        f"corpus/{name}" for name in found
    ]


def test_only_may_leave_out_the_leading_folder_of_a_zip(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("revised/a.log.json", DIALOGUE), ("original/a.log.json", DIALOGUE))
    assert names(path, only="*/revised/*") == ["revised/a.log.json"]


def test_a_pattern_that_fits_nothing_is_said(corpus: Path) -> None:
    with pytest.raises(InputError, match="nothing in it matches --only 'nope'"):
        read(corpus, only="nope")


def test_a_name_that_is_no_text_can_still_be_shown(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/corpus/dev/CIC\xff_5"
    os.makedirs(folder)  # noqa: PTH103 - the name is bytes
    with open(folder + b"/a\xfe.log.json", "wb") as stream:  # noqa: PTH123
        stream.write(DIALOGUE)
    (entry,) = read(tmp_path / "corpus")
    assert entry.document
    assert (entry.id, entry.document.system) == ("a\\xfe", "CIC\\xff")


@pytest.mark.parametrize(
    "name", ["a b.log.json", "日本.log.json", "-rf.log.json", "a\nb.log.json", "%41.log.json"]
)
def test_odd_names_are_read_like_others(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(DIALOGUE)
    assert [entry.id for entry in read(tmp_path)] == [name.removesuffix(".log.json")]


def test_a_folder_called_like_a_file_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "corpus" / "a.log.json").mkdir(parents=True)
    (tmp_path / "corpus" / "a.log.json" / "b.log.json").write_bytes(DIALOGUE)
    assert [entry.id for entry in read(tmp_path / "corpus")] == ["b"]


def test_links_that_lead_nowhere_and_pipes_are_named(tmp_path: Path) -> None:
    (tmp_path / "gone.log.json").symlink_to(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"gone\.log\.json: cannot be read: No such file"):
        list(read(tmp_path))
    (tmp_path / "gone.log.json").unlink()
    os.mkfifo(tmp_path / "pipe.log.json")
    with pytest.raises(InputError, match=r"pipe\.log\.json: is no plain file"):
        list(read(tmp_path))


def test_a_folder_that_may_not_be_read_is_named(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = os.scandir

    def refuse(path: Any) -> Any:
        if Path(path).name == "revised":
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InputError, match=r"revised: cannot be read: Permission denied"):
        names(corpus)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        read(tmp_path / "nothing")
    with pytest.raises(InputError, match="cannot be read: File name too long"):
        read(tmp_path / ("x" * 300))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "chats.jsonl")
    with pytest.raises(InputError, match="is no plain file"):
        read(tmp_path / "chats.jsonl")
