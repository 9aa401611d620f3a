"""Where files go: into a folder or a zip, moved into place only when all of it is written."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Protocol

import regex

from lapsus.errors import UsageError

_UNSAFE = regex.compile(r'[\\/:*?"<>|\p{C}]|^\.+$|\.$|\s$|^\s')
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)


class Sink(Protocol):
    """Takes the files of an output, one after the other."""

    def add(self, name: str, content: bytes) -> None:
        """Write one file; folders in its name are made."""


class FolderSink:
    """Files in a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, name: str, content: bytes) -> None:
        """Write one file."""
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as stream:
            stream.write(content)


class ZipSink:
    """Files in a zip. Times are fixed, so the same content gives the same bytes."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive

    def add(self, name: str, content: bytes) -> None:
        """Write one file."""
        info = zipfile.ZipInfo(name, _FIXED_TIME)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = 0o644 << 16
        self.archive.writestr(info, content)


@contextmanager
def sink(path: Path) -> Iterator[Sink]:
    """A zip if the path ends in `.zip`, else a folder."""
    if path.suffix.lower() == ".zip":
        with zipfile.ZipFile(path, "x") as archive:
            yield ZipSink(archive)
    else:
        path.mkdir()
        yield FolderSink(path)


@contextmanager
def put_in_place(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A path to write to beside the real one; it takes the real one's place at the end, or vanishes on any error."""
    if path.exists() and not overwrite:
        raise UsageError("is there already", where=str(path), hint="give another name, or --overwrite")
    if not path.parent.is_dir():
        raise UsageError("no such folder", where=str(path.parent), hint="make it first")
    room = Path(tempfile.mkdtemp(prefix=".lapsus-", dir=path.parent))
    try:
        draft = room / path.name
        yield draft
        if path.is_dir():
            path.replace(room / "old")
        os.replace(draft, path)
    finally:
        shutil.rmtree(room, ignore_errors=True)


def safe_name(name: str) -> str:
    """A file name for an id: signs that some system forbids become `%` and their number, so no two ids collide."""
    escaped = name.replace("%", "%25")
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), escaped)


def inner(*parts: str) -> str:
    """A name inside a folder or zip."""
    return str(PurePosixPath(*(safe_name(part) for part in parts)))
