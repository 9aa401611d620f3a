"""Where files come from: a file, a folder or a zip, read as a stream of members, never unpacked to disk."""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple, NoReturn

from lapsus.errors import InputError, LapsusError, reason_of
from lapsus.formats.in_utf8 import open_in_utf8, open_whole_lines
from lapsus.formats.packed import COMPRESSED, MAX_EXPANSION, SMALL, Unpacked, open_packed, sound
from lapsus.formats.remote import STANDARD_INPUT_FILE, STANDARD_INPUT_SHOWN, Address, location
from lapsus.notices import Notice

_BOM = b"\xef\xbb\xbf"
LINED = (".jsonl", ".ndjson")
"""Files with a value on each line."""
_COPY = re.compile(rf"{STANDARD_INPUT_FILE}(\.\w+)*")
_LITTER = "__MACOSX/"
"""A folder that Macs add to zips: files with the names of real ones but without their content."""
_TEXT = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".md")
"""Endings of what is read in whatever encoding it is."""
_DATA = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".arrow")


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
        parts = []
        with self.open() as stream:
            # By parts: whoever asks for much sets no memory aside for what is not there.
            while size > 0 and (part := stream.read(min(size, SMALL))):
                parts.append(part)
                size -= len(part)
        return b"".join(parts).removeprefix(_BOM)

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
    growing: bool = False
    """Whether files may be in the middle of being written: a last line that is not whole yet is left out."""
    place: str = field(default="", init=False)
    """The member read last, for messages."""
    asked: set[tuple[str, ...]] = field(default_factory=set, init=False)
    """The endings that were asked for; an empty one stands for any."""
    shown: str = field(default="", init=False)
    """What it is called in messages: the path, or the address that it was copied from."""
    found: dict[str, Any] = field(default_factory=dict, init=False)
    """What was found out about the source while its format was being told, so that it is looked up once."""

    passed_over: set[str] = field(default_factory=set, init=False)
    """Members that were asked for and turned out to be something else."""
    others: list[Source] = field(default_factory=list, init=False)
    """Sources that are read after this one as if they were one."""

    @classmethod
    def of(cls, paths: list[Path], only: str | None = None, growing: bool = False) -> Source:
        """Several files, folders or zips as one source."""
        first, *others = (cls(path, only, growing) for path in paths)
        first.others = others
        first.shown = ", ".join(source.shown for source in (first, *others))
        return first

    def __post_init__(self) -> None:
        given = location(self.path)
        self.shown = str(given)
        if isinstance(given, Address):
            # Kept, for its copy is there for as long as it is.
            self._address, self.path = given, given.local()
        try:
            is_there = self.path.exists()
        except OSError as error:
            raise InputError("cannot-read", where=self.shown, error=reason_of(error)) from error
        if not is_there:
            raise InputError("no-file-folder", where=self.shown)
        if not self.path.is_dir() and not self.path.is_file():
            # Opening a pipe that nobody writes to would wait for ever, and what comes through one comes once.
            raise InputError("no-plain-file", where=self.shown, hint="pipe-read-lapsus")

    @contextmanager
    def named(self) -> Iterator[None]:
        """Errors speak of standard input, not of the file that it was copied to."""
        try:
            yield
        except LapsusError as error:
            if error.where and self.shown == STANDARD_INPUT_SHOWN:
                error.where = _COPY.sub(STANDARD_INPUT_SHOWN, error.where)
            raise

    @property
    def name(self) -> str:
        """The name of the file or folder, also where the path is `.` or ends in `..`."""
        return _printable(self.path.name if self.path.name not in ("", "..") else self.path.resolve().name)

    def members(self, *suffixes: str) -> Iterator[Member]:
        """The members with one of these endings (any, if none is given), by name."""
        self.asked.add(suffixes)
        for member in self._all():
            if (suffixes and not member.name.lower().endswith(suffixes)) or not self._counts(member.name):
                continue
            self.place = member.name
            yield member

    def left_out(self) -> list[str]:
        """Members that look like data and that nobody asked for, or that were something else."""
        if () in self.asked:
            return []
        wanted = tuple(ending for endings in self.asked for ending in endings)
        return [
            member.name
            for member in self._all()
            if (name := member.name.lower()).endswith(_DATA)
            and (not name.endswith(wanted) or member.name in self.passed_over)
            and self._counts(member.name)
        ]

    def unread(self) -> list[str]:
        """Files that were named beside others, and of which nothing was read."""
        left = set(self.left_out()) if self.others else set()
        named = [one for one in (self, *self.others) if left and one.path.is_file() and not one.is_zip]
        return [member.name for one in named for member in one._own() if member.name in left]

    def _counts(self, name: str) -> bool:
        return _LITTER not in name and (not self.only or self._wanted(name))

    def first(self, *suffixes: str) -> Member | None:
        """The first such member."""
        return next(self.members(*suffixes), None)

    @property
    def is_zip(self) -> bool:
        """Whether the source is a zip file."""
        return self.path.is_file() and self.path.suffix.lower() in (".zip", ".eval")

    def _wanted(self, name: str) -> bool:
        """`*` also crosses slashes, and a pattern may leave out the leading folder or name only the file."""
        pattern = self.only or "*"
        return any(
            fnmatchcase(candidate, pattern) for candidate in (name, f"/{name}", PurePosixPath(name).name)
        )

    def _all(self) -> Iterator[Member]:
        for source in (self, *self.others):
            for member in source._own():
                name = member.name.lower()
                if name.endswith(_TEXT):
                    member = member._replace(open=partial(open_in_utf8, member.open, member.name))
                if self.growing and name.endswith(LINED):
                    member = member._replace(open=partial(open_whole_lines, member.open))
                yield member

    def _own(self) -> Iterator[Member]:
        if self.path.is_dir():
            yield from self._of_folder()
        elif self.is_zip:
            yield from self._of_zip()
        else:
            yield _member(self.name, partial(_open_file, self.path))

    def _of_folder(self) -> Iterator[Member]:
        for folder, folders, files in os.walk(self.path, onerror=_refuse):
            folders.sort()
            shown = PurePosixPath(self.name, Path(folder).relative_to(self.path).as_posix())
            for name in sorted(files):
                yield _member(_printable(f"{shown}/{name}"), partial(_open_member, folder, name))

    def _of_zip(self) -> Iterator[Member]:
        infos = sorted(self._archive.infolist(), key=lambda info: info.filename)
        for info in infos:
            check_zip_member(self.shown, info)
        for info in infos:
            if not info.is_dir():
                # Some programs write backslashes for slashes.
                name = info.filename.replace("\\", "/")
                yield Member(name, partial(self._open_zipped, info))

    @cached_property
    def _archive(self) -> zipfile.ZipFile:
        """Open for as long as the source is in use: members outlive the loop that found them."""
        with sound(self.shown):
            return zipfile.ZipFile(self.path)

    def _open_zipped(self, info: zipfile.ZipInfo) -> IO[bytes]:
        place = f"{self.shown}, {info.filename}"
        if info.flag_bits & 0x1:
            raise InputError("encrypted", where=place, hint="unpack-first")
        with sound(place):
            return io.BufferedReader(Unpacked(self._archive.open(info), place))


def _member(name: str, open: Callable[[], IO[bytes]]) -> Member:
    """A file, unpacked where it is compressed; its name then has the ending of what is in it."""
    for ending in COMPRESSED:
        if name.lower().endswith(ending):
            return Member(name[: -len(ending)], partial(open_packed, open, ending, name))
    return Member(name, open)


def _refuse(error: OSError) -> NoReturn:
    raise InputError("cannot-read", where=_printable(str(error.filename)), error=reason_of(error)) from error


def _open_file(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        _refuse(error)


def _open_member(folder: str, name: str) -> IO[bytes]:
    path = Path(folder, name)
    if not path.is_file() and path.exists():
        # Opening a pipe would wait for ever.
        raise InputError("no-plain-file", where=_printable(str(path)))
    return _open_file(path)


def _printable(name: str) -> str:
    """A name that can be shown and written: bytes that are no UTF-8 are spelt out."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def check_zip_member(place: str, info: zipfile.ZipInfo) -> None:
    """Complain of a member that leads out of its archive, is a link, or would grow beyond measure."""
    name = info.filename
    if not name:
        raise InputError("member-no-name", where=place, hint="pack-again")
    if (
        name.startswith(("/", "\\"))
        or ".." in PurePosixPath(name.replace("\\", "/")).parts
        or name[1:2] == ":"
    ):
        raise InputError("member-points-outside-archive", where=place, hint="do-not-trust", name=name)
    if stat.S_ISLNK(info.external_attr >> 16):
        raise InputError("member-link", where=place, hint="archives-may-hold-plain", name=name)
    if info.file_size > SMALL and info.file_size > MAX_EXPANSION * max(info.compress_size, 1):
        raise InputError(
            "member-would-grow-bytes",
            where=place,
            hint="looks-like-zip-bomb",
            name=name,
            compress_size=info.compress_size,
            file_size=info.file_size,
        )


def check_unpacked(path: Path, largest: int) -> None:
    """Complain of a file that is larger when unpacked, all its members together."""
    left = largest
    for member in Source(path).members():
        with member.open() as stream:
            while part := stream.read(SMALL):
                if (left := left - len(part)) < 0:
                    what = Notice("unpacks-more-bytes", largest=largest)
                    raise InputError(what, where=str(path), hint="larger-ones-command-line")


def lines(member: Member) -> Iterator[tuple[int, bytes]]:
    """The numbered lines of a member that are not blank; only one is in memory at a time."""
    with member.open() as stream:
        for number, line in enumerate(stream, 1):
            bare = line.removeprefix(_BOM).strip() if number == 1 else line.strip()
            if bare:
                yield number, bare
