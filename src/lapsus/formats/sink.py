"""Where files go: into a folder or a zip, moved into place only when all of it is written."""

import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Protocol

import regex

from lapsus.errors import InputError, UsageError
from lapsus.notices import Notice

_UNSAFE = regex.compile(r'[\\/:*?"<>|\p{C}]|^\.+$|\.$|\s$|^\s')
MARK = ".lapsus"
"""An empty file in every folder that Lapsus writes: only such folders are ever replaced."""
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)
LONGEST = 200
"""How many bytes of a name are kept: file systems stop at 255, and endings and numbers come on top."""


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
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as stream:
                stream.write(content)
        except (FileExistsError, NotADirectoryError) as error:
            raise _taken(name) from error


class ZipSink:
    """Files in a zip. Times are fixed, so the same content gives the same bytes."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive

    def add(self, name: str, content: bytes) -> None:
        """Write one file."""
        if name in self.archive.NameToInfo:
            raise _taken(name)
        info = zipfile.ZipInfo(name, _FIXED_TIME)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = 0o644 << 16
        self.archive.writestr(info, content)


def _taken(name: str) -> InputError:
    return InputError("two-documents-same-name", where=name, hint="give-each-an-id-of-its-own")


@contextmanager
def sink(path: Path) -> Iterator[Sink]:
    """A zip if the path ends in `.zip`, else a folder."""
    if path.suffix.lower() == ".zip":
        with zipfile.ZipFile(path, "x") as archive:
            yield ZipSink(archive)
    else:
        path.mkdir()
        (path / MARK).touch()
        yield FolderSink(path)


@contextmanager
def put_in_place(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A path to write to, beside the real one: takes its place at the end, or vanishes on any error.

    A link stays, and what it points to is replaced.
    """
    check_place(path, overwrite=overwrite)
    path = path.resolve() if path.is_symlink() else path
    room = Path(tempfile.mkdtemp(prefix=".lapsus-", dir=path.parent))
    try:
        draft = room / path.name
        yield draft
        _move(draft, path, room / f"{path.name}.old")
    finally:
        shutil.rmtree(room, ignore_errors=True)


def check_place(path: Path, *, overwrite: bool = False, sources: Sequence[Path] = ()) -> None:
    """Complain where nothing can be put in place. Long work asks beforehand. `sources` are what the work reads."""
    if path.name in ("", ".."):
        raise UsageError("no-name-output", where=str(path), hint="give-name-own")
    if path.exists() and any(source.exists() and path.samefile(source) for source in sources):
        raise UsageError("is-what-is-to-be-read", where=str(path), hint="give-output-another-name")
    if path.exists() and not path.is_dir() and not path.is_file():
        raise UsageError("no-plain-file", where=str(path), hint="give-another-name")
    if path.is_dir() and overwrite and any(path.iterdir()) and not (path / MARK).exists():
        hint = Notice("only-folders-lapsus-wrote")
        raise UsageError("folder-other-files", where=str(path), hint=hint)
    if path.exists() and not overwrite:
        raise UsageError("already", where=str(path), hint="give-another-name-overwrite")
    if not path.parent.is_dir():
        raise UsageError("no-folder", where=str(path.parent), hint="make-first")


def _move(draft: Path, path: Path, aside: Path) -> None:
    """Put a draft in place. A folder is not replaced in one step, so the old one comes back if that fails."""
    if path.is_dir() or (path.exists() and draft.is_dir()):
        path.replace(aside)
        try:
            draft.replace(path)
        except OSError:
            aside.replace(path)
            raise
    else:
        draft.replace(path)


def safe_name(name: str) -> str:
    """A file name for an id: signs that some system forbids become `%` and their number. No two ids collide.

    The end of a very long one gives way to a digest of the whole.
    """
    escaped = name.replace("%", "%25")
    safe = _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), escaped)
    encoded = safe.encode()
    if len(encoded) <= LONGEST:
        return safe
    # `%` and a letter beyond F stands nowhere else, so a shortened name is never another id's own.
    digest = hashlib.blake2b(name.encode(), digest_size=16).hexdigest()
    return f"{encoded[: LONGEST - 34].decode(errors='ignore')}%Z{digest}"


def inner(*parts: str) -> str:
    """A name inside a folder or zip."""
    return str(PurePosixPath(*(safe_name(part) for part in parts)))
