"""Sources that are no local files: standard input, and addresses that fsspec knows. They are copied to disk first."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import weakref
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from lapsus.errors import InputError, UsageError
from lapsus.formats.packed import open_packed
from lapsus.notices import Notice

STANDARD_INPUT = "-"
STANDARD_INPUT_SHOWN = Notice("standard-input")
STANDARD_INPUT_FILE = "standard-input"
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/+(.+)", re.DOTALL)
_WEB = ("http", "https")
_QUERY = re.compile(r"\?[^\s'\")>]+")
_LOGIN = re.compile(r"://[^/@\s'\"]*@")
_START = 1 << 16
_PACKED = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}
_KINDS = {b"PK\3\4": ".zip", b"PAR1": ".parquet", b"ARROW1": ".arrow"}
_COPIES: weakref.WeakKeyDictionary[IO[bytes], Path] = weakref.WeakKeyDictionary()
"""Where standard input was copied to: it comes once, and some commands read their data twice."""

if TYPE_CHECKING:
    _PlainPath = Path
else:
    _PlainPath = type(Path())


class Address(_PlainPath):
    """Standard input or an address, where a path is expected. Shown without what it may hold in secret."""

    address: str = ""
    """As it was given: a path would lose slashes that follow each other. Nothing for what Python 3.11 made from one."""
    _copy: Path | None = None

    def __new__(cls, address: str) -> Address:
        """Keep the address beside what looks like a path."""
        made: Address = super().__new__(cls, address)
        made.address = address
        return made

    def __str__(self) -> str:
        if not self.address:
            return super().__str__()
        return STANDARD_INPUT_SHOWN if self.address == STANDARD_INPUT else shown(self.address)

    def __fspath__(self) -> str:
        return self.address or super().__str__()

    def with_segments(self, *parts: str | os.PathLike[str]) -> Path:
        """What is made from it, such as its folder, is a path like any other (Python 3.12 and later)."""
        return Path(*parts)

    def __reduce__(self) -> tuple[type[Address], tuple[str]]:
        return Address, (self.address,)

    def local(self) -> Path:
        """A copy on this machine's disk, made once, which goes when the address does (standard input's at the end)."""
        if self.address == STANDARD_INPUT:
            return _standard_input()
        if self._copy is None:
            self._copy = _fetched(self.address, _folder_for(self))
        return self._copy


def location(path: str | os.PathLike[str]) -> Path:
    """What a user gave as a path: a path, or what stands for standard input or an address."""
    if isinstance(path, Address) and path.address:
        return path
    text = os.fspath(path)
    match = _ADDRESS.fullmatch(text)
    if text != STANDARD_INPUT and (match is None or Path(text).exists()):
        return Path(text)
    if match is not None and isinstance(path, Path):
        # A path has lost slashes: of an address the one before its host, of a file's both of those.
        text = f"{match[1]}://{'/' if match[1] == 'file' else ''}{match[2]}"
    return Address(text)


def shown(text: str) -> str:
    """An address, or words with addresses in them, without logins and signatures."""
    return _QUERY.sub("?…", _LOGIN.sub("://", text)) if "://" in text else text


def _folder_for(owner: Any) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="lapsus-"))
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return folder


def _standard_input() -> Path:
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        raise UsageError("nothing-comes-standard-input", hint="`cat chats.jsonl | lapsus … -`")
    stream = sys.stdin.buffer
    if stream not in _COPIES:
        _COPIES[stream] = _copied(stream, _folder_for(stream) / STANDARD_INPUT_FILE)
    return _COPIES[stream]


def _fetched(address: str, folder: Path) -> Path:
    scheme, _, rest = address.partition("://")
    try:
        import fsspec
    except ImportError:
        where, hint = shown(address), "pip install 'lapsus-eval[remote]'"
        raise UsageError("address", where=where, hint=hint) from None
    bare = re.split(r"[?#]", rest, maxsplit=1)[0] if scheme in _WEB else rest
    # Signatures hold for an address as it was written.
    options = {"encoded": True} if scheme in _WEB and address.isascii() and "%" in address else {}
    try:
        with fsspec.open(address, "rb", **options) as stream:
            return _copied(stream, folder / (PurePosixPath(bare.partition("/")[2]).name or "download"))
    except FileNotFoundError:
        raise InputError("no-file", where=shown(address)) from None
    except Exception as error:  # Each store has errors of its own.
        what = Notice("cannot-be-read", name=type(error).__name__, error=shown(str(error)))
        # Without the error behind it, whose words may hold a signature.
        raise InputError(what, where=shown(address)) from None


def _copied(stream: IO[bytes], target: Path) -> Path:
    """Copy a stream to a file. A name without an ending gets that of what its first bytes look like."""
    with target.open("xb") as copy:
        shutil.copyfileobj(stream, copy)
    return target if target.suffix else target.rename(target.with_suffix(_ending(target)))


def _ending(path: Path) -> str:
    start = _start(path.open("rb"))
    for magic, ending in _PACKED.items():
        if start.startswith(magic):
            try:
                return _kind(_start(open_packed(lambda: path.open("rb"), ending, path.name))) + ending
            except InputError:
                # Whoever reads it says what is wrong with it.
                return f".jsonl{ending}"
    return _kind(start)


def _start(stream: IO[bytes]) -> bytes:
    with stream:
        return stream.read(_START)


def _kind(start: bytes) -> str:
    for magic, ending in _KINDS.items():
        if start.startswith(magic):
            return ending
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"["):
        return ".json"
    if text.startswith(b"{"):
        # An object that ends on its line is the first of several; one that goes on is the whole file.
        return ".jsonl" if text.split(b"\n", 1)[0].rstrip().endswith(b"}") else ".json"
    return ".csv"
