"""Files of lines that are read while they are being written."""

import codecs
import io
from collections.abc import Callable
from typing import IO, Any

import msgspec

from lapsus.formats.packed import SMALL


class WholeLines(io.RawIOBase):
    """A stream of JSON lines, without a last line that is not whole yet."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._ready = memoryview(b"")
        self._unfinished = bytearray()
        self._is_over = False

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what is known to be whole."""
        while not self._ready and not self._is_over:
            piece = self._stream.read(SMALL)
            lines, end, rest = piece.rpartition(b"\n")
            if end:
                self._ready = memoryview(bytes(self._unfinished) + lines + end)
                self._unfinished.clear()
            self._unfinished += rest
            # What is written from now on is read next time.
            self._is_over = not piece
            if self._is_over and _is_value(last := bytes(self._unfinished)):
                self._ready = memoryview(last)
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def close(self) -> None:
        """Close the stream too."""
        self._stream.close()
        super().close()


def _is_value(line: bytes) -> bool:
    try:
        msgspec.json.decode(line.removeprefix(codecs.BOM_UTF8))
    except (ValueError, RecursionError):
        return False
    return True


def open_whole_lines(open: Callable[[], IO[bytes]]) -> IO[bytes]:
    """A file of JSON lines, opened as far as it is whole."""
    return io.BufferedReader(WholeLines(open()), SMALL)
