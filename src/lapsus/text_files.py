"""Small files that users name: guidelines, plans, gates, maps; a pipe that nobody writes to is not waited for."""

import os
import select
from importlib.resources.abc import Traversable
from pathlib import Path

from lapsus.errors import InputError

PATIENCE = 10.0
"""Seconds that whoever writes to a pipe may take until something comes."""
_PIECE = 1 << 16


def read_text(path: Path | Traversable, encoding: str = "utf-8") -> str:
    """The text of a file, or of a pipe such as `<(…)` for as long as something comes. OSError as `open` has it."""
    if isinstance(path, Path) and path.is_fifo():
        return _piped(path).decode(encoding)
    return path.read_text(encoding=encoding)


def refuse_pipe(path: Path) -> None:
    """For files of which parts are read in any order: opening a pipe would wait for ever."""
    if path.exists() and not path.is_file():
        raise InputError("no-plain-file", where=str(path))


def _piped(path: Path) -> bytes:
    pieces: list[bytes] = []
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        while True:
            if not select.select([pipe], [], [], PATIENCE)[0]:
                raise InputError("pipe-nobody-writes", where=str(path), seconds=PATIENCE)
            piece = os.read(pipe, _PIECE)
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)
    finally:
        os.close(pipe)
