"""Where files come from: a file, a folder or a zip, read as a stream of members and never unpacked to disk."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from lapsus.errors import InputError

MAX_EXPANSION = 250
"""How many times larger than its zipped size a member may be. Honest JSON stays below 60."""
SMALL = 1 << 20
"""Members up to this size may expand as they like."""
_BOM = b"\xef\xbb\xbf"


class Member(NamedTuple):
    """One file of a source: its name with forward slashes, and how to open it."""

    name: str
    open: Callable[[], IO[bytes]]

    @property
    def path(self) -> PurePosixPath:
        """The name as a path."""
        return PurePosixPath(self.name)

    def read(self) -> bytes:
        """All of it, without a byte-order mark."""
        with self.open() as stream:
            return stream.read().removeprefix(_BOM)

    def head(self, size: int = 1 << 16) -> bytes:
        """Its beginning, without a byte-order mark."""
        with self.open() as stream:
            return stream.read(size).removeprefix(_BOM)

    @contextmanager
    def text(self, newline: str | None = None) -> Iterator[io.TextIOWrapper]:
        """Open as UTF-8 text, without a byte-order mark."""
        with self.open() as stream, io.TextIOWrapper(stream, "utf-8-sig", newline=newline) as text:
            yield text


@dataclass
class Source:
    """A file, a folder or a zip, narrowed down to the members whose name matches `only`."""

    path: Path
    only: str | None = None
    place: str = field(default="", init=False)
    """The member read last, for messages."""

    def __post_init__(self) -> None:
        if not self.path.exists():
            raise InputError("no such file or folder", where=str(self.path))

    def members(self, *suffixes: str) -> Iterator[Member]:
        """The members with one of these endings (any, if none is given), by name."""
        for member in self._all():
            if suffixes and not member.name.endswith(suffixes):
                continue
            if self.only and not self._wanted(member.name):
                continue
            self.place = member.name
            yield member

    def first(self, *suffixes: str) -> Member | None:
        """The first such member."""
        return next(self.members(*suffixes), None)

    @property
    def is_zip(self) -> bool:
        """Whether the source is a zip file."""
        return self.path.is_file() and self.path.suffix.lower() == ".zip"

    def _wanted(self, name: str) -> bool:
        """`*` also crosses slashes, and a pattern may leave out the leading folder or name only the file."""
        pattern = self.only or "*"
        return any(fnmatchcase(candidate, pattern) for candidate in (name, f"/{name}", PurePosixPath(name).name))

    def _all(self) -> Iterator[Member]:
        if self.path.is_dir():
            yield from self._of_folder()
        elif self.is_zip:
            yield from self._of_zip()
        else:
            yield Member(self.path.name, lambda: self.path.open("rb"))

    def _of_folder(self) -> Iterator[Member]:
        for folder, folders, files in os.walk(self.path):
            folders.sort()
            for name in sorted(files):
                path = Path(folder) / name
                shown = path.relative_to(self.path).as_posix()
                yield Member(f"{self.path.name}/{shown}", lambda path=path: path.open("rb"))  # type: ignore[misc]

    def _of_zip(self) -> Iterator[Member]:
        try:
            with zipfile.ZipFile(self.path) as archive:
                infos = sorted(archive.infolist(), key=lambda info: info.filename)
                for info in infos:
                    _check_zip_member(self.path, info)
                for info in infos:
                    if not info.is_dir():
                        yield Member(info.filename, lambda info=info: _open(archive, info))  # type: ignore[misc]
        except zipfile.BadZipFile as error:
            raise InputError(f"not a sound zip file: {error}", where=str(self.path)) from error


def _open(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    if info.flag_bits & 0x1:
        raise InputError("is encrypted", where=f"{archive.filename}, {info.filename}", hint="unpack it first")
    return archive.open(info)


def _check_zip_member(path: Path, info: zipfile.ZipInfo) -> None:
    name = info.filename
    if name.startswith(("/", "\\")) or ".." in PurePosixPath(name.replace("\\", "/")).parts or name[1:2] == ":":
        raise InputError(f"member {name!r} points outside the archive", where=str(path), hint="do not trust it")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise InputError(f"member {name!r} is a link", where=str(path), hint="archives may hold plain files only")
    if info.file_size > SMALL and info.file_size > MAX_EXPANSION * max(info.compress_size, 1):
        raise InputError(
            f"member {name!r} would grow from {info.compress_size:,} to {info.file_size:,} bytes",
            where=str(path),
            hint="this looks like a zip bomb; unpack it yourself if you trust it",
        )


def lines(member: Member) -> Iterator[tuple[int, bytes]]:
    """The numbered lines of a member that are not blank; only one is in memory at a time."""
    with member.open() as stream:
        for number, line in enumerate(stream, 1):
            bare = line.removeprefix(_BOM).strip() if number == 1 else line.strip()
            if bare:
                yield number, bare


