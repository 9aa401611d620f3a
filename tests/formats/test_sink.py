"""Output is all there or not there at all, and no id leads outside its folder or into another's file."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lapsus.errors import InputError, UsageError
from lapsus.formats.sink import LONGEST, inner, put_in_place, safe_name, sink

IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


class Trouble(Exception):
    pass


def write(path: Path, kind: str, content: bytes) -> None:
    if kind == "file":
        path.write_bytes(content)
    else:
        with sink(path) as files:
            files.add("in/a", content)


def fail_after_writing(path: Path, kind: str) -> None:
    with put_in_place(path, overwrite=True) as draft:
        if kind != "nothing":
            write(draft, kind, b"half")
        raise Trouble


def read(path: Path) -> bytes:
    return (path / "in" / "a").read_bytes() if path.is_dir() else path.read_bytes()


@pytest.mark.parametrize("name", ["out", "out.zip", "old", "a b.jsonl"])
@pytest.mark.parametrize("kind", ["file", "sink"])
def test_an_error_on_the_way_leaves_nothing_behind(tmp_path: Path, name: str, kind: str) -> None:
    with pytest.raises(Trouble):
        fail_after_writing(tmp_path / name, kind)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("before", ["file", "folder"])
@pytest.mark.parametrize("after", ["file", "folder", "nothing"])
@pytest.mark.parametrize("name", ["out", "old"])
def test_overwriting_keeps_the_old_one_until_the_new_one_is_whole(
    tmp_path: Path, before: str, after: str, name: str
) -> None:
    path = tmp_path / name
    write(path, before, b"old")
    with pytest.raises(Trouble):
        fail_after_writing(path, after)
    assert read(path) == b"old"
    if after == "nothing":
        with pytest.raises(FileNotFoundError), put_in_place(path, overwrite=True):
            pass
        assert read(path) == b"old"
    else:
        with put_in_place(path, overwrite=True) as draft:
            write(draft, after, b"new")
            assert read(path) == b"old"
        assert read(path) == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_there_stays_unless_one_says_so(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(UsageError, match="is there already"), put_in_place(path):
        pytest.fail("nothing may be written")
    assert path.read_bytes() == b"old"


def test_the_folder_around_it_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"), put_in_place(tmp_path / "a" / "b"):
        pytest.fail("nothing may be written")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [".", "..", "a/..", "/"])
def test_an_output_needs_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path)
    with (
        pytest.raises(UsageError, match="is no name for an output"),
        put_in_place(Path(path), overwrite=True),
    ):
        pytest.fail("nothing may be written")


@given(IDS)
@example(".")
@example("..")
@example("a/../../b")
@example("C:\\x")
@example("nul\x00")
@example(" a ")
@example("a.")
@example("\u202e")
def test_names_are_safe_on_every_system(name: str) -> None:
    safe = safe_name(name)
    assert not set('\\/:*?"<>|\x00\n') & set(safe)
    assert safe.strip() == safe
    assert safe not in ("", ".", "..")
    assert not safe.endswith(".")
    assert len(safe.encode()) <= LONGEST


@given(IDS)
def test_names_can_be_turned_back(name: str) -> None:
    safe = safe_name(name)
    if "%Z" in safe:
        return
    plain, place = bytearray(), 0
    raw = safe.encode()
    while place < len(raw):
        if raw[place : place + 1] == b"%":
            plain.append(int(raw[place + 1 : place + 3], 16))
            place += 3
        else:
            plain.append(raw[place])
            place += 1
    assert plain.decode() == name


@given(st.lists(st.one_of(IDS, st.text("a/%2F.:", min_size=1, max_size=6)), unique=True, max_size=30))
@example(["a/b", "a%2Fb", "a%252Fb"])
@example(["x" * 300, "x" * 301, "x" * 302])
@example(["日" * 100, "日" * 101])
def test_no_two_ids_share_a_name(ids: list[str]) -> None:
    assert len({safe_name(name) for name in ids}) == len(ids)


def test_a_shortened_name_is_never_another_ids_own() -> None:
    short = safe_name("x" * 300)
    assert safe_name(short) != short


def test_inner_names_stay_inside(tmp_path: Path) -> None:
    with sink(tmp_path / "out") as files:
        files.add(inner("..", "/etc", "a/b"), b"x")
    found = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(found) == ["out/%2E%2E/%2Fetc/a%2Fb", "out/.lapsus"]


@pytest.mark.parametrize("name", ["out", "out.zip"])
def test_two_files_of_one_name_are_an_error(tmp_path: Path, name: str) -> None:
    with sink(tmp_path / name) as files:
        files.add("a/b", b"1")
        with pytest.raises(InputError, match="a/b: two documents of the same name"):
            files.add("a/b", b"2")


def test_a_name_cannot_be_both_file_and_folder(tmp_path: Path) -> None:
    with sink(tmp_path / "out") as files:
        files.add("a", b"1")
        with pytest.raises(InputError, match="a/b: two documents"):
            files.add("a/b", b"2")


def test_the_same_content_gives_the_same_zip(tmp_path: Path) -> None:
    for name in ("a.zip", "b.ZIP"):
        with sink(tmp_path / name) as files:
            files.add("x/1", b"one")
            files.add("2", b"two")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.ZIP").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["x/1", "2"]


def test_a_folder_that_lapsus_did_not_write_is_never_replaced(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="folder with other files"), put_in_place(home, overwrite=True):
        pass
    assert (home / "thesis.txt").read_text() == "years of work"
