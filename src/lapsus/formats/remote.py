"""Sources that are no local files: standard input, and addresses that fsspec knows. They are copied to disk first."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path, PurePosixPath
from typing import IO

from lapsus.errors import InputError, UsageError

STANDARD_INPUT = "-"
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/+(.+)")
_START = 1 << 16


def is_remote(path: Path) -> bool:
    """Whether a path stands for standard input or for an address such as s3://bucket/chats.jsonl."""
    return str(path) == STANDARD_INPUT or bool(_ADDRESS.fullmatch(str(path)) and not path.exists())


def fetch(path: Path, folder: Path) -> Path:
    """Copy what the path stands for into a folder, and say where it is."""
    if str(path) == STANDARD_INPUT:
        if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
            raise UsageError("nothing comes in on standard input", hint="`cat chats.jsonl | lapsus … -`")
        return _copy(sys.stdin.buffer, folder / "standard-input")
    match = _ADDRESS.fullmatch(str(path))
    assert match is not None  # noqa: S101 - asked for by is_remote
    # A path has lost one of the two slashes.
    address = f"{match[1]}://{match[2]}"
    try:
        import fsspec
    except ImportError:
        raise UsageError("is an address", where=address, hint="pip install 'lapsus[remote]'") from None
    target = folder / PurePosixPath(match[2]).name
    try:
        with fsspec.open(address, "rb") as stream, target.open("xb") as copy:
            shutil.copyfileobj(stream, copy)
    except Exception as error:  # Each store has errors of its own.
        raise InputError(f"cannot be read: {type(error).__name__}: {error}", where=address) from error
    return target


def _copy(stream: IO[bytes], target: Path) -> Path:
    """Copy a stream to a file whose ending says what its first bytes look like."""
    start = stream.read(_START)
    named = target.with_suffix(_ending(start))
    with named.open("xb") as copy:
        copy.write(start)
        shutil.copyfileobj(stream, copy)
    return named


def _ending(start: bytes) -> str:
    for magic, ending in ((b"PK\3\4", ".zip"), (b"PAR1", ".parquet"), (b"\x1f\x8b", ".jsonl.gz")):
        if start.startswith(magic):
            return ending
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"["):
        return ".json"
    if text.startswith(b"{"):
        # An object that ends on its line is the first of several; one that goes on is the whole file.
        return ".jsonl" if text.split(b"\n", 1)[0].rstrip().endswith(b"}") else ".json"
    return ".csv"
