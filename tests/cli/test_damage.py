"""Damaged and hostile files and odd surroundings, as a user meets them: a plain message, and nothing left behind."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from arro3.core import Array, DataType
from arro3.core import Table as Columns
from arro3.io import write_parquet

from lapsus.annotators import load_model, make_annotator, model_files
from lapsus.cli.output import shown
from lapsus.errors import InputError
from lapsus.formats import read
from lapsus.formats.columnar import check_columnar
from lapsus.formats.source import check_unpacked
from lapsus.reports import Table
from lapsus.store import open_store, restore
from tests.annotators import invented
from tests.store.helpers import campaign, judge_all, people


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backup")
    with open_store(folder / "a.sqlite") as store:
        campaign(store)
        (me,) = people(store, "avery")
        judge_all(store, me)
        store.backups.backup(folder / "a.zip")
    return folder / "a.zip"


def repacked(path: Path, target: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target


def _row(table: str, **values: object) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        first, *rest = members[f"{table}.jsonl"].splitlines(keepends=True)
        row = {**json.loads(first), **values}
        members[f"{table}.jsonl"] = json.dumps(row).encode() + b"\n" + b"".join(rest)

    return change


def _header(content: bytes) -> Callable[[dict[str, bytes]], None]:
    return lambda members: members.update({"backup.json": content})


@pytest.mark.parametrize(
    "change",
    [
        _row("person", odd=1),
        _row("person", name=None),
        _row("person", name=["x"]),
        _row("person", id="one"),
        _row("person", created=10**30),
        _row("judgment", unit=999),
        lambda members: members.update({"person.jsonl": b"[" * 100_000}),
        lambda members: members.update({"person.jsonl": b"\xff\xfe{}"}),
        lambda members: members.pop("person.jsonl"),
        _header(b"[]"),
        _header(b"\xff"),
        _header(b'{"lapsus": "1", "version": "5", "made": "2026-01-01T00:00:00Z", "rows": {}}'),
    ],
    ids=lambda change: "",
)
def test_a_damaged_backup_is_told_and_leaves_nothing(
    backup: Path, tmp_path: Path, change: Callable[[dict[str, bytes]], None]
) -> None:
    damaged = repacked(backup, tmp_path / "damaged.zip", change)
    with pytest.raises(InputError, match=r"damaged|no whole backup"):
        restore(damaged, tmp_path / "new.sqlite")
    assert [path.name for path in tmp_path.iterdir()] == ["damaged.zip"]


@pytest.mark.parametrize("how", ["cut", "changed", "encrypted"])
def test_a_broken_zip_is_no_backup(backup: Path, tmp_path: Path, how: str) -> None:
    content = bytearray(backup.read_bytes())
    if how == "cut":
        content = content[: len(content) // 2]
    elif how == "changed":
        middle = len(content) // 3
        content[middle : middle + 40] = bytes(40)
    else:
        for place in range(len(content) - 4):
            if content[place : place + 4] == b"PK\x01\x02":
                content[place + 8] |= 1
    (tmp_path / "x.zip").write_bytes(content)
    with pytest.raises(InputError):
        restore(tmp_path / "x.zip", tmp_path / "new.sqlite")
    assert not (tmp_path / "new.sqlite").exists()


def test_a_member_without_a_name(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo(""), b"{}")
    with pytest.raises(InputError, match="has no name"):
        list(read(path))


def test_uploads_are_unpacked_only_so_far(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(40):
            archive.writestr(f"{number}.json", b" " * 900_000)
    with pytest.raises(InputError, match="unpacks to more than 20,000,000 bytes"):
        check_unpacked(path, 20_000_000)
    check_unpacked(path, 40_000_000)


def test_models_unpack_only_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.lapsus"
    make_annotator("rules").fit(*invented.data("en", 4)).save(path)
    bomb = repacked(
        path, tmp_path / "bomb.lapsus", lambda found: found.update({"files/x": bytes(40_000_000)})
    )
    with pytest.raises(InputError, match="would unpack to"):
        load_model(bomb)
    monkeypatch.setattr(model_files, "LARGEST_JSON", 10)
    with pytest.raises(InputError, match=r"json would unpack to"):
        load_model(path)


@pytest.mark.parametrize(
    "content", [b"{}", b'{"weights": null}', b"[]", b'{"weights": [[1e308]]}', b"nonsense"]
)
def test_a_tampered_model_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.lapsus"
    make_annotator("svm").fit(*invented.data("en", 6)).save(path)
    odd = repacked(path, tmp_path / "odd.lapsus", lambda found: found.update({"learned.json": content}))
    with pytest.raises(InputError, match=r"odd\.lapsus"):
        load_model(odd)


def columns(**cells: list[str]) -> Columns:
    return Columns({name: Array(values, DataType.string()) for name, values in cells.items()})


def test_damaged_parquet_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    packed = io.BytesIO()
    write_parquet(columns(document=["d"] * 50, answer=["x"] * 50), packed)
    sound = packed.getvalue()
    for place in range(4, len(sound) - 8, len(sound) // 3):
        path = tmp_path / f"{place}.parquet"
        path.write_bytes(sound[:place] + bytes(30) + sound[place + 30 :])
        with pytest.raises(InputError):
            list(read(path, "parquet"))
    assert capfd.readouterr().err == ""


def test_a_small_table_that_stands_for_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.parquet"
    write_parquet(columns(document=["x" * 1_000_000] * 400), path)
    assert path.stat().st_size < 5_000_000
    with path.open("rb") as stream, pytest.raises(InputError, match="rows unpack to"):
        check_columnar(stream, "x.parquet")


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "COLUMNS": "200"}
    return subprocess.run(
        ["sh", "-c", command.replace("lapsus", f"{sys.executable} -c 'from lapsus.cli import main; main()'")],
        cwd=folder, capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("lapsus formats >&-", "Bad file descriptor"),
        ("lapsus formats > /dev/full", "No space left"),
        ("lapsus user add ada --db a.sqlite <&-", "no password came on standard input"),
        ("lapsus user add ada --db a.sqlite < /dev/null", "no password came on standard input"),
    ],
)
def test_streams_that_are_closed_or_full(tmp_path: Path, command: str, words: str) -> None:
    done = run(command, tmp_path)
    assert done.returncode in (1, 2)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_closed_stream_gets_no_file(tmp_path: Path) -> None:
    """The database would be opened in its place, and what is printed written into it."""
    done = run(
        "lapsus user add ada --no-password --db a.sqlite >&- 2>&-; lapsus user list --db a.sqlite", tmp_path
    )
    assert "ada" in done.stdout
    with open_store(tmp_path / "a.sqlite") as store:
        assert [person.name for person in store.people.all()] == ["ada"]


def test_control_signs_are_spelt_out(tmp_path: Path) -> None:
    assert shown("a\x1b[2J\u202eb\n\tc") == "a\\x1b[2J\\u202eb\n\tc"
    (tmp_path / "\x1b[2Jx.jsonl").write_text("nonsense")
    done = run("lapsus convert *.jsonl out.jsonl", tmp_path)
    assert done.returncode
    assert "\x1b[2J" not in done.stderr
    assert "x1b[2Jx.jsonl" in done.stderr


def test_titles_stand_in_one_line_of_latex() -> None:
    table = Table(("a\nb", "c"), (("x\r\n\\input{y}", 1),), "One\n\\input{x}", ("note\n\\input{z}",))
    assert not [line for line in table.to_latex().splitlines() if line.startswith("\\input")]
    assert "% note \\input{z}" in table.to_latex()
